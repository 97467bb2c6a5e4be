import Foundation
import SatchelJSON
import TestSupport
import Testing

/// Files that a device may sign to keep the hub busy: each is full of one thing.
enum HostileFile: String, CaseIterable, CustomTestStringConvertible {
  case stepsOfOneRow, tooManySteps, conflictsOfOneRow, conflicts, inserts
  case heldRows, unknownMembers, tooLongLine, longValue, escapedValue

  var testDescription: String { rawValue }

  /// Without optimisation a byte takes many times as long, so the files are smaller.
  #if DEBUG
    private static let lines = 1_000
    private static let manyLines = 2_000
    private static let members = 50_000
    private static let megabyte = 1 << 16
  #else
    private static let lines = 10_000
    private static let manyLines = 50_000
    private static let members = 900_000
    private static let megabyte = 1 << 20
  #endif

  /// How much memory the tool may need, in MiB. A row of 62 MiB must lie in memory, as its line and as its values.
  var mebibytes: Int {
    switch self {
    case .longValue, .escapedValue: 256
    default: 128
    }
  }

  /// Whether the file is refused.
  var isRefused: Bool { [.tooLongLine, .unknownMembers, .tooManySteps].contains(self) }

  /// The file's changes, each a line.
  func changes(_ forger: Forger) -> [JSONValue] {
    switch self {
    case .stepsOfOneRow: return steps(Self.lines, forger) { "\($0)" }
    case .tooManySteps: return steps(Self.tooManyLines, forger) { "\($0)" }
    // Each of them was made from a value that the row never had.
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
    case .tooLongLine: return [forger.insert("rows", "r", row(words: long(65 << 20, "x")))]
    case .longValue: return [forger.insert("rows", "r", row(words: long(62 * Self.megabyte, "x")))]
    // Six bytes each in the line.
    case .escapedValue: return [forger.insert("rows", "r", row(words: long(10 * Self.megabyte, "\u{1}")))]
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

  /// More than twice the limit of the changes of one row.
  private static let tooManyLines = 20_001

  /// Changes of one row, each in a generation of its own.
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

  private func long(_ count: Int, _ character: Character) -> JSONValue {
    .string(String(repeating: character, count: count))
  }
}

@Suite("Hostile files", .serialized)
struct HostileFileTests {
  /// Runs a program, and prints its exit status, its seconds of work and its greatest memory in KiB.
  private static let measure = """
    import resource, subprocess, sys
    code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(code, used.ru_utime + used.ru_stime, used.ru_maxrss)
    """

  @Test("an insider's fullest files take the hub a few seconds and bounded memory", arguments: HostileFile.allCases)
  func bounds(_ file: HostileFile) throws {
    let yard = try CostFixture(clock: SetClock(Int64(Date().timeIntervalSince1970 * 1_000)))
    let path = try yard.file(later: file.generations) { content, forger in content.changes = file.changes(forger) }
    let hub = builtProgram("satchel-hub")
    let result = try StockTool.python3("-c", Self.measure, hub, "-C", yard.hub.folder.root, "import", path, in: "/")
    let words = result.text.split(separator: " ").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
    let (code, seconds) = (try #require(Int(words[0])), try #require(Double(words[1])))
    let kibibytes = try #require(Int(words[2]))
    #expect((code == 0) != file.isRefused, "\(code)")
    #expect(seconds < 5, "\(seconds) s")
    #expect(kibibytes < mebibytesAllowed(usually: file.mebibytes) << 10, "\(kibibytes >> 10) MiB")
    if ProcessInfo.processInfo.environment["SATCHEL_TIMES"] != nil {
      print("\(file): \(seconds) s, \(kibibytes >> 10) MiB")
    }
  }
}
