import Foundation
import SatchelCommands
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import Testing

/// A temporary folder with a hub and devices in it. Tests use the tools' commands, as a person would. Tests call such a
/// folder a camp.
final class CommandLineFixture {
  let root: String
  /// The platform on which the tools run. If a test replaces its clock, the triggers still use SQLite's clock.
  var platform = Platform.real { didSet { hasUsualPlatform = false } }
  /// Whether the platform was never replaced.
  private(set) var hasUsualPlatform = true
  /// The copy of this camp that was made when the camp was opened; nil: there is no copy.
  var prepared: PreparedCamps.Copy?
  /// Whether the commands that open this camp are running.
  var isOpening = false

  struct Outcome {
    let code: Int32
    let out: String
    let error: String
    /// The standard output and the error output together, as a terminal shows them.
    var transcript = ""

    /// The JSON document that a command with `--json` printed.
    var json: JSONValue {
      get throws { try JSONValue.parse(Array(out.utf8)) }
    }
  }

  static let definition = """
    { "dataset": "camp", "version": 1, "attributes": { "tier": "integer" },
      "tables": {
        "sites": { "visible": "tier <= :tier", "write": "none" },
        "reviews": { "write": "author = :user", "conflict": "manual", "columns": { "stars": "newest" } } } }
    """

  init() throws {
    let shared = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    root = Paths.join(shared, "satchel-commands-\(UUID().uuidString)")
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
  }

  /// Makes a camp in its own folder that is a copy of another camp.
  convenience init(copyOf other: CommandLineFixture) throws {
    try self.init()
    try fill(from: other.root)
  }

  /// Replaces this camp's folder with a copy of another camp's folder.
  func fill(from other: String) throws {
    try FileManager.default.removeItem(atPath: root)
    try Self.copy(other, to: root)
  }

  /// Copies the folder of a camp. Files and folders keep their modes.
  static func copy(_ camp: String, to root: String) throws {
    try FileManager.default.copyItem(atPath: camp, toPath: root)
    // The workspace of a hub contains the path of its database. In the copy, this path must lead to the copied
    // database.
    for folder in try FileManager.default.contentsOfDirectory(atPath: root) {
      let configuration = Paths.join(root, "\(folder)/satchel.json")
      guard let text = FileManager.default.contents(atPath: configuration) else { continue }
      let moved = String(decoding: text, as: UTF8.self).replacingOccurrences(of: camp, with: root)
      try Data(moved.utf8).write(to: URL(fileURLWithPath: configuration))
    }
  }

  deinit {
    try? FileManager.default.removeItem(atPath: root)
    if let prepared { PreparedCamps.shared.giveBack(prepared) }
  }

  func path(_ name: String) -> String { Paths.join(root, name) }

  func write(_ name: String, _ text: String) throws { try writeExactly(name, Self.sayingOrphans(text)) }

  /// Writes a text unchanged. `write` would change the definition of a dataset.
  func writeExactly(_ name: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
  }

  /// If the text is the definition of a dataset without `orphans`, adds `"orphans": "visible"`. Then everybody sees
  /// rows that name no parent. Many tests write such rows, because only their other values matter. Other texts stay
  /// unchanged.
  private static func sayingOrphans(_ text: String) -> String {
    guard !text.contains("\"orphans\""), let document = try? JSONValue.parse(Array(text.utf8)),
      document["dataset"]?.stringValue != nil, document["tables"]?.objectValue != nil,
      let start = text.firstIndex(of: "{")
    else { return text }
    return text[...start] + " \"orphans\": \"visible\"," + text[text.index(after: start)...]
  }

  func read(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path(name)))) }

  func copy(_ name: String, to target: String) throws {
    try FileManager.default.copyItem(atPath: path(name), toPath: path(target))
  }

  /// The outcome of a command that runs while another command has locked the workspace.
  func whileHeld(_ workspace: String, _ command: () -> Outcome) throws -> Outcome {
    let lock = try FileLock(path: path("\(workspace)/.satchel.lock"), files: HostFileSystem())
    defer { _ = lock.path }
    return command()
  }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }

  func removeIfThere(_ name: String) throws {
    if FileManager.default.fileExists(atPath: path(name)) { try remove(name) }
  }

  /// Removes all bundles in a device's folder whose names begin with `prefix`.
  func removeBundles(_ prefix: String, of device: String) throws {
    for name in try FileManager.default.subpathsOfDirectory(atPath: path("\(device)/bundles"))
    where (name as NSString).lastPathComponent.hasPrefix(prefix) {
      try remove("\(device)/bundles/\(name)")
    }
  }

  /// Removes the database of a device, with the files that SQLite keeps beside it.
  /// - Parameter contents: the bytes that replace the database; nil: no file replaces it.
  func loseDatabase(of device: String, leaving contents: String? = nil) throws {
    for file in ["data.sqlite", "data.sqlite-wal", "data.sqlite-shm"] { try removeIfThere("\(device)/\(file)") }
    if let contents { try writeExactly("\(device)/data.sqlite", contents) }
  }

  /// Runs `body` while the tools use another clock.
  func by<Result>(_ clock: any WallClock, _ body: () throws -> Result) rethrows -> Result {
    let usual = platform
    defer { platform = usual }
    platform = Platform(files: usual.files, clock: clock, random: usual.random)
    return try body()
  }

  func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
  }

  /// The path of the bundle with this prefix that has the highest number.
  func newestBundle(in folder: String, _ prefix: String) throws -> String {
    let names = try FileManager.default.contentsOfDirectory(atPath: path(folder)).filter { $0.hasPrefix(prefix) }
    let name = try #require(names.max { ($0.utf8.count, $0) < ($1.utf8.count, $1) })
    return Paths.join(path(folder), name)
  }

  /// Runs the hub's tool in the folder `hub`. A `-C` in `words` replaces this folder.
  @discardableResult func hub(_ words: String..., answers: [String] = [], interactive: Bool = false) -> Outcome {
    run(["-C", path("hub")] + words, answers, interactive) { runHubTool($0, platform: platform, console: $1) }
  }

  @discardableResult func hubAnywhere(_ words: String...) -> Outcome { hubAnywhere(words) }

  @discardableResult func hubAnywhere(_ words: [String]) -> Outcome {
    run(words, [], false) { runHubTool($0, platform: platform, console: $1) }
  }

  @discardableResult func device(_ name: String, _ words: String...) -> Outcome {
    run(["-C", path(name)] + words, [], false) { runDeviceTool($0, platform: platform, console: $1) }
  }

  @discardableResult func deviceAnywhere(_ words: String...) -> Outcome { deviceAnywhere(words) }

  @discardableResult func deviceAnywhere(_ words: [String]) -> Outcome {
    run(words, [], false) { runDeviceTool($0, console: $1) }
  }

  @discardableResult func deviceAnywhere(_ words: [String], on platform: Platform) -> Outcome {
    run(words, [], false) { runDeviceTool($0, platform: platform, console: $1) }
  }

  /// Runs the device's tool. A person types `secrets` as passwords, and `environment` sets variables.
  func device(_ name: String, typing secrets: [String], environment: [String: String] = [:], _ words: String...)
    -> Outcome
  {
    let console = CollectingConsole(secrets: secrets, environment: environment)
    let code = runDeviceTool(["-C", path(name)] + words, console: console)
    return Outcome(code: code, out: console.outText, error: console.errorText, transcript: console.transcript)
  }

  private func run(
    _ words: [String], _ answers: [String], _ interactive: Bool, _ tool: ([String], CollectingConsole) -> Int32
  ) -> Outcome {
    let console = CollectingConsole(
      answers: answers, traits: ConsoleTraits(width: 80, colour: false, interactive: interactive))
    let code = tool(words, console)
    return Outcome(code: code, out: console.outText, error: console.errorText, transcript: console.transcript)
  }

  /// The device exports, and the hub imports the device's export with this number.
  func deliver(_ name: String, _ number: Int) {
    device(name, "export")
    hub("import", path("\(name)/bundles/outbox/camp-\(name)-hub-\(number).satchel"))
  }

  /// The hub emits for the device, and the device imports the emission with this number.
  func answer(_ name: String, _ number: Int) {
    hub("emit", "--device", name)
    device(name, "import", path("hub/bundles/outbox/camp-hub-\(name)-\(number).satchel"))
  }

  /// Carries a stick from the device to the hub and back, `rounds` times.
  func carry(_ device: String, rounds: Int = 1) throws {
    try makeFolder("stick")
    for _ in 0..<rounds {
      self.device(device, "sync", path("stick"))
      hub("sync", path("stick"))
    }
    self.device(device, "sync", path("stick"))
  }

  /// Makes a backup of the hub, and copies the hub's keys, as an operator would.
  func backUp(_ name: String = "monday.satchel") throws {
    #expect(hub("backup", path(name)).code == 0)
    try copy("hub/keys", to: "safe")
  }

  /// Removes the hub, as a broken disk would, and restores it from the backup. Afterwards the hub's database is in its
  /// folder, and the old path is a link to it.
  func restore(_ name: String = "monday.satchel") throws {
    try remove("hub")
    try remove("office.sqlite")
    let outcome = hubAnywhere("restore", path(name), path("hub"), "--keys", path("safe"))
    #expect(outcome.code == 0, "\(outcome.error)")
    try FileManager.default.createSymbolicLink(
      atPath: path("office.sqlite"), withDestinationPath: path("hub/office.sqlite"))
  }

  /// Waits until the next write has a later time. Two writes in one millisecond have no order.
  func awaitLaterTime() {
    let now = SystemClock().milliseconds()
    while SystemClock().milliseconds() < now + 2 {}
  }

  /// Changes the hub's records, so that the device seems to be silent for this many days.
  func letBeSilent(_ device: String, days: Int) throws {
    let before = "- \(days) * 86400000"
    try sql(
      "office.sqlite",
      "UPDATE satchel_devices SET enrolled = enrolled \(before), heard = heard \(before) WHERE name = '\(device)'")
  }

  /// Writes to a database as an app would, with the triggers on.
  func sql(_ database: String, _ text: String) throws {
    try Database(path: path(database), mode: .create).execute(text)
  }

  /// Writes to a database while its triggers are dropped. Then creates the triggers again.
  func writeUnseen(_ database: String, _ text: String) throws {
    let database = try Database(path: path(database), mode: .readWrite)
    let triggers = try database.all(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'satchel%'"
    ) { ($0.text(0), $0.text(1)) }
    for trigger in triggers { try database.execute("DROP TRIGGER \(quoted(trigger.0))") }
    try database.execute(text)
    for trigger in triggers { try database.execute(trigger.1) }
  }

  /// The rows of a query as text, with one row in each line.
  func rows(_ database: String, _ query: String) throws -> String {
    let connection = try Database(path: path(database), mode: .readOnly)
    return try connection.all(query) { row in
      (0..<row.columnCount).map { column in
        switch row.value(column) {
        case .null: "NULL"
        case .integer(let number): String(number)
        case .real(let number): "\(number)"
        case .text(let bytes), .blob(let bytes): String(decoding: bytes, as: UTF8.self)
        }
      }.joined(separator: "|")
    }.joined(separator: "\n")
  }

  /// Makes the office's database and a hub over it, with two users. Each user has a device.
  func open() throws {
    try open(as: ["usual"]) {
      try makeOffice()
      try write("camp.json", Self.definition)
      #expect(
        hubAnywhere("init", path("hub"), "--dataset", path("camp.json"), "--database", path("office.sqlite")).code == 0)
      hub("user", "add", "ann", "tier=1")
      hub("user", "add", "ben", "tier=2")
      hub("device", "provision", "tablet", "--user", "ann", "--into", path("tablet"))
      hub("device", "provision", "phone", "--user", "ben", "--into", path("phone"))
    }
  }

  /// Makes a hub over another database of the office, with the user ann of tier 1 and her tablet.
  func open(_ schema: String, _ definition: String) throws {
    try open(schema, definition, attributes: "tier=1", devices: ["tablet"])
  }

  func makeOffice(_ name: String = "office.sqlite") throws {
    try sql(
      name,
      """
      CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT, tier INTEGER);
      CREATE TABLE reviews (id TEXT PRIMARY KEY, site TEXT REFERENCES sites (id), author TEXT, stars INTEGER, words TEXT);
      INSERT INTO sites VALUES ('lake', 'Lake', 1), ('hill', 'Hill', 1), ('cave', 'Cave', 2);
      INSERT INTO reviews VALUES ('r1', 'lake', 'ann', 4, 'quiet'), ('r2', 'cave', 'ben', 5, 'dark');
      """)
  }

  /// All files below the folder with their contents. Lock files are left out, because commands that only read also make
  /// them.
  func everything() throws -> [String: Data] {
    var files: [String: Data] = [:]
    let list = FileManager.default.enumerator(atPath: root)
    while let name = list?.nextObject() as? String {
      if name.hasSuffix(".satchel.lock") { continue }
      files[name] = FileManager.default.contents(atPath: path(name)) ?? Data()
    }
    return files
  }
}
