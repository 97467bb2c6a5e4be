import Foundation
import SatchelCommands
import SatchelPlatform
import TestSupport
import Testing

/// A hub, a device and a stick in one folder. The real programs use them, and one program is killed at a chosen system
/// call.
final class CrashFixture {
  let folder: TemporaryFolder

  /// The system calls that change files. If a process is killed before one of these calls, all its earlier calls have
  /// been completed.
  static let calls = [
    "write", "pwrite64", "fsync", "fdatasync", "rename", "renameat", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat",
    "fchmodat", "ftruncate",
  ]

  private static let definition = """
    { "dataset": "camp", "version": 1, "tables": { "sites": {}, "reviews": { "conflict": "device", "attachments": ["photo"] } } }
    """

  private static let secondDefinition = """
    { "dataset": "camp", "version": 2,
      "tables": { "sites": {}, "reviews": { "conflict": "device", "attachments": ["photo"] }, "tools": {} } }
    """
  private static let migration = """
    ALTER TABLE reviews ADD COLUMN season TEXT DEFAULT 'dry';
    UPDATE reviews SET season = 'wet' WHERE site = 'lake';
    CREATE TABLE tools (id TEXT PRIMARY KEY);
    INSERT INTO tools VALUES ('axe');
    """

  private static let made: Result<MadeFiles, any Error> = Result {
    try MadeFiles(in: CrashFixture(making: ()).folder, at: SystemClock().milliseconds())
  }

  /// Makes a hub and a device. Each has changed rows that the other has not received, and both have changed one row.
  init() throws {
    let made = try CrashFixture.made.get()
    folder = try TemporaryFolder()
    try made.copy(into: folder)
    try moveHub(from: made.origin)
  }

  /// Makes the files of `init()` by commands.
  private init(making: Void) throws {
    folder = try TemporaryFolder()
    try folder.write(Array(Self.definition.utf8), to: "camp.json")
    try folder.write(Array(Self.secondDefinition.utf8), to: "camp-2.json")
    try folder.write(Array(Self.migration.utf8), to: "camp-2.sql")
    try sql(
      "office.sqlite",
      """
      CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT);
      CREATE TABLE reviews (id TEXT PRIMARY KEY, site TEXT REFERENCES sites (id), words TEXT, photo TEXT);
      INSERT INTO sites VALUES ('lake', 'Lake'), ('hill', 'Hill');
      INSERT INTO reviews VALUES ('r1', 'lake', 'quiet', NULL), ('r2', 'hill', 'steep', NULL);
      """)
    try run("satchel-hub", "init", "hub", "--dataset", "camp.json", "--database", "office.sqlite")
    try run("satchel-hub", "-C", "hub", "user", "add", "ann")
    try run("satchel-hub", "-C", "hub", "device", "provision", "tablet", "--user", "ann", "--into", folder("tablet"))
    _ = try folder.folder("stick")
    try sql(
      "tablet/data.sqlite",
      """
      INSERT INTO reviews VALUES ('r3', 'lake', 'frogs', 'frogs/one.jpg'); UPDATE reviews SET words = 'mine' WHERE id \
      = 'r1'; DELETE FROM reviews WHERE id = 'r2'
      """
    )
    try sql(
      "office.sqlite",
      """
      UPDATE reviews SET words = 'theirs', photo = 'lake.jpg' WHERE id = 'r1'; INSERT INTO sites VALUES ('cave', \
      'Cave')
      """
    )
    _ = try folder.folder("tablet/files/frogs")
    try folder.write(Array("a frog".utf8), to: "tablet/files/frogs/one.jpg")
    _ = try folder.folder("hub/files")
    try folder.write(Array("a lake".utf8), to: "hub/files/lake.jpg")
  }

  /// A copy of another fixture in its own folder.
  init(copyOf other: CrashFixture) throws {
    folder = try TemporaryFolder()
    let copied = try runProgram(at: "/bin/cp", ["-a", "\(other.folder.path)/.", folder.path], in: folder.path)
    guard copied.status == 0 else { throw ToolFailure(copied.complaint) }
    try moveHub(from: other.folder.path)
  }

  /// The hub's workspace contains the path of its database. In the copy, this path must lead to the copied database.
  private func moveHub(from origin: String) throws {
    let text = try folder.text("hub/satchel.json").replacingOccurrences(of: origin, with: folder.path)
    try Data(text.utf8).write(to: URL(filePath: folder("hub/satchel.json")))
  }

  func sql(_ database: String, _ text: String) throws { try StockTool.sqlite3(database, text, in: folder.path) }

  @discardableResult
  func run(_ tool: String, _ words: String...) throws -> ToolResult { try run(tool, words) }

  @discardableResult
  func run(_ tool: String, _ words: [String]) throws -> ToolResult {
    let result = try runProgram(at: builtProgram(tool), words, in: folder.path)
    guard result.status == 0 else {
      throw ToolFailure("\(tool) \(words): \(result.status) \(result.text)\(result.complaint)")
    }
    return result
  }

  /// Runs a command of `tablet` or `hub` inside the test's process. This is faster than starting a program.
  /// - Parameter words: the arguments. Paths in them must be absolute.
  private func runHere(_ side: String, _ words: String...) -> (code: Int32, console: CollectingConsole) {
    let console = CollectingConsole()
    let all = ["-C", folder(side)] + words
    let code = side == "hub" ? runHubTool(all, console: console) : runDeviceTool(all, console: console)
    return (code, console)
  }

  private func sync(_ side: String) throws {
    let (code, console) = runHere(side, "sync", folder("stick"))
    if code != 0 { throw ToolFailure("sync of \(side): \(code) \(console.transcript)") }
  }

  /// How often a command makes each of the system calls.
  /// - Parameter code: the exit code with which the command must end.
  func counts(_ tool: String, _ words: [String], code: Int32) throws -> [String: Int] {
    let result = try strace(
      [
        "-f", "--seccomp-bpf", "-qq", "-o", "calls", "-e", "trace=\(Self.calls.joined(separator: ","))",
        builtProgram(tool),
      ] + words)
    guard result.status == code else { throw ToolFailure("\(words): \(result.status) \(result.complaint)") }
    let lines = try folder.text("calls").split(separator: "\n")
    try FileManager.default.removeItem(atPath: folder("calls"))
    return Dictionary(uniqueKeysWithValues: Self.calls.map { call in (call, lines.count { $0.contains(" \(call)(") }) })
  }

  /// Runs a command, and kills it before it makes this system call for the n-th time.
  func kill(_ tool: String, _ words: [String], at call: String, _ number: Int) throws {
    let result = try strace(
      [
        "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(call):signal=SIGKILL:when=\(number)",
        builtProgram(tool),
      ]
        + words)
    if result.status != 9 && result.status != 137 {
      throw ToolFailure("\(words) was not killed at \(call) \(number): \(result.status)")
    }
  }

  /// Runs a command in which this system call fails for the n-th time, with an error such as ENOSPC.
  func fail(_ tool: String, _ words: [String], at call: String, _ number: Int, with error: String) throws -> ToolResult
  {
    // With a filter in the kernel, strace stops the command only at these system calls. With this filter strace could
    // not send a signal.
    try strace(
      [
        "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
        "inject=\(call):error=\(error):when=\(number)",
        builtProgram(tool),
      ]
        + words)
  }

  private func strace(_ words: [String]) throws -> ToolResult { try StockTool.strace.run(words, in: folder.path) }

  /// Both sides continue normally. Expects that no row was lost, doubled or left behind.
  /// - Parameter conflicts: the expected number of conflicts at the hub.
  func finish(conflicts: Int) throws {
    for side in ["tablet", "hub", "tablet", "hub", "tablet"] { try sync(side) }
    let rows = """
      SELECT id, name FROM sites ORDER BY id; SELECT id, site, words FROM reviews ORDER BY id;
      SELECT max(version) FROM satchel_versions; SELECT * FROM reviews ORDER BY id; SELECT count(*) FROM \
      satchel_before_reviews;
      """
    // Each of the device's three changes must be in the log once. No conflict may be doubled.
    let counted = "SELECT count(*) FROM satchel_log WHERE device IS NOT NULL; SELECT count(*) FROM satchel_conflicts"
    let office = try StockTool.sqlite3("office.sqlite", rows + counted, in: folder.path).lines
    let tablet = try StockTool.sqlite3(
      "tablet/data.sqlite", rows + "SELECT count(*) FROM satchel_exports", in: folder.path
    ).lines
    #expect(office.prefix(5) == ["cave|Cave", "hill|Hill", "lake|Lake", "r1|lake|mine", "r3|lake|frogs"])
    #expect(office.suffix(2) == ["3", "\(conflicts)"])
    #expect(tablet.dropLast() == office.dropLast(2))
    for place in ["tablet", "hub"] {
      let files = try content(below: "\(place)/files")
      #expect(files == "a froga lake", "\(place): \(files)")
    }
    for side in ["tablet", "hub"] {
      let doctor = runHere(side, "doctor").console
      #expect(doctor.outText == "All is well.\n", "\(side): \(doctor.transcript)")
    }
    let audit = runHere("hub", "audit")
    #expect(audit.code == 0, "\(audit.console.transcript)")
    let left = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { path in
      let name = Paths.name(of: path)
      return name.hasPrefix(".satchel-") || name == "satchel.unfinished"
    }
    #expect(left.isEmpty, "left behind: \(left)")
    // Every bundle must be in the ledger of its workspace.
    let files = try ["sent", "outbox"].flatMap {
      try FileManager.default.contentsOfDirectory(atPath: folder("tablet/bundles/\($0)"))
    }
    let known = try #require(tablet.last.flatMap { Int($0) })
    #expect(files.count { $0.hasSuffix("satchel") } <= known)
  }

  /// The contents of all files in a folder, in the order of their paths.
  private func content(below path: String) throws -> String {
    let root = folder(path)
    return try FileManager.default.subpathsOfDirectory(atPath: root).sorted().map { name in
      let content = FileManager.default.contents(atPath: Paths.join(root, name)) ?? Data()
      return String(decoding: content, as: UTF8.self)
    }.joined()
  }
}
