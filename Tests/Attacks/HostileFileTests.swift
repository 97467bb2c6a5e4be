import Foundation
import SatchelCrypto
import SatchelJSON
import SatchelPlatform
import TestSupport
import Testing

/// Files that a device may sign to make the hub work for very long. Each file is full of one kind of content.
enum HostileFile: String, CaseIterable, CustomTestStringConvertible {
  case stepsOfOneRow, tooManySteps, conflictsOfOneRow, conflicts, inserts
  case heldRows, unknownMembers, tooLongLine, longValue, escapedValue, longName, deepLine, files, set

  var testDescription: String { rawValue }

  /// Without optimisation, each byte takes many times as long. So the files are smaller.
  #if DEBUG
    private static let lines = 1_000
    static let manyLines = 2_000
    private static let members = 50_000
    static let elements = 20_000
    fileprivate static let megabyte = 1 << 16
  #else
    private static let lines = 10_000
    static let manyLines = 50_000
    private static let members = 900_000
    static let elements = 400_000
    fileprivate static let megabyte = 1 << 20
  #endif

  /// The memory that the tool may use, in MiB. A row of 62 MiB must be in memory twice: as its line and as its values.
  var mebibytes: Int {
    switch self {
    case .longValue, .escapedValue, .longName: 256
    default: 128
    }
  }

  /// Whether the hub must refuse the file.
  var isRefused: Bool {
    [.tooLongLine, .unknownMembers, .tooManySteps, .longName, .deepLine].contains(self)
  }

  /// Fills a bundle.
  func fill(_ content: inout Forger.Content, _ forger: Forger) {
    content.changes = changes(forger)
    if self == .files {
      content.attachments = (0..<Self.manyLines).map { number in
        let path = JSONValue.string("\(String(repeating: "d/", count: 60))\(1_000_000 + number).jpg")
        return ["op": "has", "path": path, "digest": .string(Digest.of(Array("\(number)".utf8)).hexadecimal)]
      }
    }
  }

  /// The lines about changes.
  private func changes(_ forger: Forger) -> [JSONValue] {
    switch self {
    case .stepsOfOneRow: return steps(Self.lines, forger) { "\($0)" }
    case .tooManySteps: return steps(Self.tooManyLines, forger) { "\($0)" }
    // Each line claims a former value that the row never had.
    case .conflictsOfOneRow: return steps(Self.lines, forger) { "other \($0)" }
    case .conflicts:
      return (0..<Self.manyLines).map { number in
        forger.update("rows", .string("r\(number)"), set: ["words": "1"], was: ["words": "0"])
      }
    case .inserts:
      return (0..<Self.manyLines).map { number in
        let key = JSONValue.string("r\(number)")
        return forger.insert("rows", key, ["id": key, "owner": "ann", "words": nil, "photo": nil])
      }
    case .heldRows:
      return (0..<Self.lines).map { number in
        forger.insert(
          "links", .string("o\(number)"), ["id": .string("o\(number)"), "next": "gone", "words": nil])
      }
    case .unknownMembers:
      var members = row(words: "x").objectValue ?? []
      members += (0..<Self.members).map { JSONValue.Member(name: "m\($0)", value: 0) }
      return [forger.insert("rows", "r", .object(members))]
    case .tooLongLine: return [forger.insert("rows", "r", row(words: long(65 << 20)))]
    case .longValue: return [forger.insert("rows", "r", row(words: long(62 * Self.megabyte)))]
    // In the line, each character is escaped and so needs six bytes.
    case .longName: return [forger.insert(Self.text(60 * Self.megabyte, of: "n"), "r", row(words: "x"))]
    case .deepLine:
      // This is as deep as the test's own writer can nest. A line may have only 16 levels.
      return [forger.insert("rows", "r", row(words: (0..<1_000).reduce("x") { value, _ in .array([value]) }))]
    case .files: return []
    case .set:
      let tags = (0..<Self.elements).map { JSONValue.real(Double($0) + 0.5) }
      let text = String(decoding: JSONValue.array(tags).compactBytes, as: UTF8.self)
      return [forger.update("bags", "b", set: ["tags": .string(text)], was: ["tags": "[]"])]
    case .escapedValue: return [forger.insert("rows", "r", row(words: long(10 * Self.megabyte, of: "\u{1}")))]
    }
  }

  /// The number of the generations in the file.
  var generations: Int {
    switch self {
    case .stepsOfOneRow, .conflictsOfOneRow: Self.lines
    case .tooManySteps: Self.tooManyLines
    default: 1
    }
  }

  /// More than twice the allowed number of changes of one row.
  private static let tooManyLines = 20_001

  /// Changes of one row. Each has a generation of its own.
  private func steps(_ count: Int, _ forger: Forger, was: (Int) -> String) -> [JSONValue] {
    (0..<count).map { number in
      let line = forger.update(
        "rows", "own", set: ["words": .string("\(number + 1)")], was: ["words": .string(was(number))])
      var members = line.objectValue ?? []
      members.set("generation", .integer(forger.sequence + Int64(number)))
      return .object(members)
    }
  }

  private func row(words: JSONValue) -> JSONValue { ["id": "r", "owner": "ann", "words": words, "photo": nil] }

  private func long(_ count: Int, of character: Unicode.Scalar = "x") -> JSONValue {
    .string(Self.text(count, of: character))
  }

  /// A text that repeats one ASCII character. It is built from bytes, because building it from characters is much
  /// slower.
  fileprivate static func text(_ count: Int, of character: Unicode.Scalar) -> String {
    String(decoding: [UInt8](repeating: UInt8(ascii: character), count: count), as: UTF8.self)
  }
}

@Suite("Hostile files", .serialized)
struct HostileFileTests {
  /// A Python program that runs another program. It prints that program's exit status, its processor seconds, its
  /// greatest memory in KiB, and the number of conflicts or lines in its output. A loop whose time is known shows how
  /// busy the machine is. If the loop takes longer than it should, the seconds are lowered in proportion.
  private static let measure = """
    import json, resource, subprocess, sys, time
    start = time.process_time()
    for number in range(1000000): number * number % 7
    slower = max(1, (time.process_time() - start) / 0.2)
    done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    if "--json" in sys.argv: count = len({found["id"] for found in json.loads(done.stdout)["conflicts"]})
    else: count = done.stdout.count(b"\\n")
    print(done.returncode, (used.ru_utime + used.ru_stime) / slower, used.ru_maxrss, count)
    """

  private struct Measured {
    let code: Int
    let seconds: Double
    let mebibytes: Int
    let count: Int
  }

  private let yard: CostFixture

  init() throws { yard = try CostFixture.today() }

  /// Runs a command of the hub's tool in a process of its own, and measures it.
  private func run(_ words: [String]) throws -> Measured {
    let call = ["-c", Self.measure, builtProgram("satchel-hub"), "-C", yard.hub.folder.root] + words
    let result = try StockTool.python3(call, in: "/")
    let numbers = result.text.split(separator: " ").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
    let measured = Measured(
      code: try #require(Int(numbers[0])), seconds: try #require(Double(numbers[1])),
      mebibytes: try #require(Int(numbers[2])) >> 10, count: try #require(Int(numbers[3])))
    if ProcessInfo.processInfo.environment["SATCHEL_TIMES"] != nil { print("\(words): \(measured)") }
    return measured
  }

  @Test("an insider's fullest files take the hub a few seconds and bounded memory", arguments: HostileFile.allCases)
  func bounds(_ file: HostileFile) throws {
    if file == .set {
      let tags = "WITH n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < \(HostileFile.elements))"
      try yard.write("\(tags) UPDATE bags SET tags = (SELECT json_group_array(i + 0.25) FROM n)", in: yard.hub.folder)
      yard.tick()
    }
    let path = try yard.file(later: file.generations) { content, forger in file.fill(&content, forger) }
    let measured = try run(["import", path])
    #expect((measured.code == 0) != file.isRefused, "\(measured)")
    #expect(measured.seconds < 5, "\(measured)")
    #expect(measured.mebibytes < mebibytesAllowed(usually: file.mebibytes), "\(measured)")
  }

  @Test("the message about an unknown name is short, however long the name is")
  func longNames() throws {
    let name = String(repeating: "n", count: 60_000)
    for kind in ["table", "inserted column", "updated column"] {
      let path = try yard.file(later: 1) { content, forger in
        func members(_ value: JSONValue) -> JSONValue { .object([.init(name: name, value: value)]) }
        let line =
          switch kind {
          case "table": forger.insert(name, "r", ["id": "r"])
          case "inserted column": forger.insert("rows", "r", members(0))
          default: forger.update("rows", "own", set: members(1), was: members(0))
          }
        content.changes = [line]
      }
      let error = #expect(throws: (any Error).self) { try yard.hub.importBundle(path) }
      let message = error.map { "\($0)" } ?? ""
      #expect(message.contains("nnn") && message.utf8.count < 2_000, "\(kind): \(message.prefix(500))")
    }
  }

  @Test("a snapshot of 1 GiB that compresses to very little takes a few seconds and bounded memory, and leaves nothing")
  func zeros() throws {
    #if DEBUG
      let path = try yard.file(ofZeros: 64 << 20)
    #else
      let path = try yard.file(ofZeros: 1 << 30)
    #endif
    #expect(try yard.platform.files.size(path) < 100_000)
    let measured = try run(["import", path])
    #expect(measured.code == 3 && measured.seconds < 5, "\(measured)")
    #expect(measured.mebibytes < mebibytesAllowed(usually: 64), "\(measured)")
    #expect(try yard.platform.files.list(yard.hub.folder.inbox).isEmpty)
  }

  @Test("a list of very many conflicts takes bounded memory, and names each of them once")
  func conflicts() throws {
    let path = try yard.file(later: 1) { content, forger in HostileFile.conflicts.fill(&content, forger) }
    #expect(try yard.hub.importBundle(path).verdict == .imported)
    for words in [["--json"], [], ["export"], ["export", "--json"]] {
      let measured = try run(["conflicts"] + words)
      // A list for people begins with one line of titles.
      let titles = words.contains("--json") ? 0 : 1
      #expect(measured.code == 0 && measured.count == HostileFile.manyLines + titles, "\(words): \(measured)")
      #expect(measured.mebibytes < mebibytesAllowed(usually: 100), "\(words): \(measured)")
    }
  }

  @Test("an emission, a list and a report of conflicts with large values take bounded memory")
  func largeConflicts() throws {
    let value = JSONValue.string(HostileFile.text(8 * HostileFile.megabyte, of: "x"))
    try yard.write("UPDATE rows SET words = 'hub' WHERE id = 'own'", in: yard.hub.folder)
    for _ in 0..<12 { try yard.deliver { [$0.update("rows", "own", set: ["words": value], was: ["words": "0"])] } }
    #expect(try yard.hub.status().openConflicts == 12)
    // A waiting row needs another key. Then any conflict of its device may name this row, so all must be read.
    try yard.deliver { [$0.insert("parts", 5, ["id": 5, "row": "gone"])] }
    try yard.write("INSERT INTO parts VALUES (5, NULL)", in: yard.hub.folder)
    let report = "\(yard.hub.folder.root)/report.html"
    for words in [["conflicts"], ["report", report], ["emit", "--device", "evil"]] {
      let measured = try run(words)
      #expect(measured.code == 0, "\(words): \(measured)")
      #expect(measured.mebibytes < mebibytesAllowed(usually: 100), "\(words): \(measured)")
    }
  }
}
