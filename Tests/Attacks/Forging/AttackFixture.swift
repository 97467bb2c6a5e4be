import SatchelBundle
import SatchelCommands
import SatchelCrypto
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace
import Synchronization
import TestSupport

/// A hub with the devices of three users. One enrolled device is the attacker, and signs with its own key.
final class AttackFixture: Story {
  let ground: WorkspaceFixture
  let hub: HubWorkspace
  /// The attacker: the device of the user ann.
  let evil: DeviceWorkspace
  /// The device of the user ben.
  let victim: DeviceWorkspace
  /// An open connection to the hub's database. It is kept, because each new connection must read the whole schema.
  private var reading: Reading?

  private final class Reading {
    let database: Database
    init(_ path: String) throws { database = try Database(path: path, mode: .readOnly) }
  }

  /// A dataset with different rights. Ann sees prices up to tier 1 and may not change them. Notes belong to their
  /// authors, and all users see public notes. All other rows belong to their owners. Trips are merged as units and as
  /// whole rows, and late work on them is accepted. Kinds of trees fold. Trees have local keys, and a reference that
  /// only the dataset declares.
  static let definition = """
    { "dataset": "shop", "version": 1, "attributes": { "tier": "integer" }, "snapshot": "never",
      "tables": {
        "prices": { "visible": "tier <= :tier", "write": ":user = 'boss'" },
        "notes": { "visible": "author = :user OR pub = 1", "write": "author = :user", "attachments": ["photo"],
                   "conflict": "manual", "columns": { "likes": "sum" } },
        "replies": { "parents": ["notes"] },
        "tasks": { "visible": "owner = :user", "write": "owner = :user", "keys": "rekey" },
        "visits": { "visible": "owner = :user", "write": "owner = :user", "keys": "blocks", "block": 100 },
        "trips": { "visible": "owner = :user", "write": "owner = :user", "unit": "transaction", "late": "accept",
                   "merge": "row" },
        "kinds": { "visible": "owner = :user", "write": "owner = :user", "unique": "fold" },
        "trees": { "visible": "owner = :user", "write": "owner = :user", "unit": "transaction", "key": ["uuid"],
                   "references": { "kind": "kinds" } } } }
    """

  static let schema = """
    CREATE TABLE prices (id INTEGER PRIMARY KEY, name TEXT, tier INTEGER NOT NULL, cents INTEGER);
    CREATE TABLE notes (
      id TEXT PRIMARY KEY, author TEXT NOT NULL, pub INTEGER, body TEXT, likes INTEGER, photo TEXT);
    CREATE TABLE replies (id TEXT PRIMARY KEY, note TEXT NOT NULL REFERENCES notes (id), body TEXT);
    CREATE TABLE tasks (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, words TEXT);
    CREATE TABLE visits (id INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL);
    CREATE TABLE trips (id TEXT PRIMARY KEY, owner TEXT NOT NULL, words TEXT, km INTEGER);
    CREATE TABLE kinds (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, code TEXT UNIQUE);
    CREATE TABLE trees (fid INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, owner TEXT NOT NULL, kind INTEGER);
    INSERT INTO prices VALUES (1, 'bread', 1, 300), (2, 'salt', 1, 50), (3, 'SECRET-GOLD', 9, 99999);
    INSERT INTO notes VALUES
      ('n1', 'ann', 0, 'mine', 0, NULL), ('n2', 'ann', 1, 'public', 1, NULL), ('n3', 'boss', 0, 'SECRET-BOSS', 5, NULL),
      ('n4', 'ben', 0, 'SECRET-BEN', 7, 'SECRET.jpg'), ('n5', 'ben', 1, 'open', 2, 'site/p5.jpg');
    INSERT INTO replies VALUES ('r1', 'n2', 'yes'), ('r2', 'n4', 'SECRET-REPLY'), ('r3', 'n5', 'no');
    INSERT INTO tasks VALUES (1, 'ann', 'sweep'), (2, 'ben', 'SECRET-TASK');
    INSERT INTO visits VALUES (1, 'ann'), (2, 'ben');
    INSERT INTO trips VALUES ('t1', 'ann', 'there', 1), ('t2', 'ben', 'SECRET-TRIP', 2);
    INSERT INTO kinds VALUES (1, 'ann', 'oak'), (2, 'ben', 'yew'), (3, 'ben', 'SECRET-KIND');
    INSERT INTO trees VALUES (1, 'u1', 'ann', 1), (2, 'u2', 'ben', 2);
    """

  /// The files of each fixture that was made, by its definition and schema.
  private static let made = Mutex<[[String]: MadeFiles]>([:])

  /// Copies the files of a hub and two devices. All copies for one definition and schema have the same ids and keys.
  /// - Parameter schema: SQL that creates the office's tables and rows.
  convenience init(definition: String = AttackFixture.definition, schema: String = AttackFixture.schema) throws {
    let kind = [definition, schema]
    let known = AttackFixture.made.withLock { $0[kind] }
    let made = try known ?? MadeFiles(of: AttackFixture(random: SystemRandom(), definition: definition, schema: schema))
    AttackFixture.made.withLock { $0[kind] = made }
    try self.init(copyOf: made)
  }

  /// The files of a fixture whose ids and keys are the same in every run.
  private static let madeAlike: Result<MadeFiles, any Error> = Result {
    try MadeFiles(of: AttackFixture(random: SeededRandom(.max)))
  }

  /// Copies a hub and two devices whose ids and keys are the same in every run. So a seed can repeat a test.
  convenience init(alikeWith random: any RandomSource) throws {
    try self.init(copyOf: AttackFixture.madeAlike.get(), random: random)
  }

  private init(copyOf made: MadeFiles, random: any RandomSource = SystemRandom()) throws {
    let ground = try WorkspaceFixture(random: random, clock: SetClock(made.now))
    self.ground = ground
    try made.copy(into: ground.folder)
    hub = try HubWorkspace.open(ground.folder("hub"), platform: ground.platform)
    evil = try DeviceWorkspace.open(ground.folder("evil"), platform: ground.platform)
    victim = try DeviceWorkspace.open(ground.folder("victim"), platform: ground.platform)
  }

  /// Makes a hub and two devices. Their ids and keys come from these random numbers.
  init(
    random: any RandomSource, definition: String = AttackFixture.definition, schema: String = AttackFixture.schema
  ) throws {
    let ground = try WorkspaceFixture(random: random, clock: .laterThanToday)
    self.ground = ground
    let hub = try ground.hub("hub", definition: Array(definition.utf8), schema: schema)
    self.hub = hub
    for (user, tier) in [("ann", "1"), ("ben", "1"), ("boss", "9")] {
      _ = try hub.addUser(user, attributes: [("tier", tier)])
    }
    func device(_ name: String, _ user: String) throws -> DeviceWorkspace {
      let device = try DeviceWorkspace.create(
        ground.folder(name), dataset: "shop", name: name, platform: ground.platform)
      try hub.admit(device, user: user)
      _ = try device.importBundle(hub.emit(to: name).file)
      return device
    }
    evil = try device("evil", "ann")
    victim = try device("victim", "ben")
    try ground.platform.files.makeDirectory(hub.folder.attached, mode: 0o755)
    try ground.platform.files.replace(
      Paths.join(hub.folder.attached, "SECRET.jpg"), mode: 0o644, contents: Array("SECRET-PHOTO".utf8))
    // The hub imports one export of each device, so that it knows which emissions they have.
    for device in [evil, victim] { _ = try hub.importBundle(device.export().file) }
  }

  /// A forger that makes the attacker's next bundle.
  var forger: Forger { get throws { try Forger(evil, platform, sequence: merged) } }

  /// The number of the attacker's last export that the hub has merged.
  var merged: Int64? {
    get throws {
      try atHub("SELECT merged FROM satchel_devices WHERE name = 'evil'").first.flatMap { Int64($0) }
    }
  }

  // MARK: helpers

  /// Imports a forged file at the hub. Returns the reason of the refusal; nil: the hub accepted it.
  func refusal(of bytes: [UInt8]) throws -> String? { try error(of: bytes)?.reason }

  func error(of bytes: [UInt8]) throws -> (any ExplainedError)? {
    tick()
    try folder.write(bytes, to: "forged.satchel")
    do {
      _ = try hub.importBundle(folder("forged.satchel"))
      return nil
    } catch let error as any ExplainedError { return error }
  }

  /// The rows of a query on the hub's database, one text for each row.
  func atHub(_ sql: String) throws -> [String] { try atHub(["": sql])[""] ?? [] }

  func atHub(_ queries: [String: String]) throws -> [String: [String]] {
    let reading = try opened()
    return try queries.mapValues { sql in try reading.database.all(sql) { Self.text(of: $0) } }
  }

  /// All rows of the hub's database as text, except the ledger.
  func hubTables() throws -> [String: [String]] {
    var tables = try opened().database.dump(without: ["satchel_ledger"])
    // The dump leaves out some columns of devices.
    tables["all columns of devices"] = try atHub("SELECT * FROM satchel_devices ORDER BY id")
    return tables
  }

  private func opened() throws -> Reading {
    let reading = try reading ?? Reading(hub.folder.path("data.sqlite"))
    self.reading = reading
    return reading
  }

  private static func text(of row: borrowing Statement) -> String {
    (0..<row.columnCount).map { column in
      switch row.value(column) {
      case .null: "NULL"
      case .integer(let number): String(number)
      case .real(let number): "\(number)"
      case .text(let bytes), .blob(let bytes): String(decoding: bytes, as: UTF8.self)
      }
    }.joined(separator: "|")
  }

  /// Runs the hub's tool.
  @discardableResult func tool(_ words: String...) -> (code: Int32, out: String, error: String) {
    let console = CollectingConsole()
    let code = tool(["-C", hub.folder.root] + words, console)
    return (code, console.outText, console.errorText)
  }

  func tool(_ words: [String], _ console: CollectingConsole) -> Int32 {
    runHubTool(words, platform: platform, console: console)
  }

  /// Makes a device that is not enrolled yet.
  func newDevice(_ name: String) throws -> DeviceWorkspace {
    try DeviceWorkspace.create(ground.folder(name), dataset: "shop", name: name, platform: platform)
  }

  /// Empties the quarantine. If it were full, each refusal would be slow.
  func emptyQuarantine() throws {
    for name in try platform.files.list(hub.folder.quarantine) {
      try platform.files.removeTree(Paths.join(hub.folder.quarantine, name))
    }
  }

  /// Empties the quarantine. If the hub flagged the attacker's device as a copy, makes it active again.
  func letGoOn() throws {
    try emptyQuarantine()
    if try atHub("SELECT state FROM satchel_devices WHERE name = 'evil'") == ["active"] { return }
    _ = try hub.unflag("evil")
  }

  /// Decides all open conflicts at once, like a person who has looked at none of them.
  func decideAll() {
    for policy in ["newest", "device"] { tool("conflicts", "resolve", "--all", "--policy", policy) }
  }

  /// Whether the device's next bundle or a full bundle contains anything that its user may not see.
  func tellsSecrets(to name: String) throws -> Bool {
    tick()
    for full in [false, true] {
      let file = try hub.emit(to: name, full: full).file
      let text = try StockTool.bash.run(["-c", "zstd -dc '\(file)' | grep -a -c SECRET-"], in: folder.path).text
      if text.split(separator: "\n").first != "0" { return true }
    }
    return false
  }

  /// Whether a file that the victim delivers gets its own name at the hub, although the attacker may have sent files
  /// under this name.
  func namesTheVictimsFile() throws -> Bool {
    let path = Paths.join(victim.folder.attached, Self.guess)
    try platform.files.makeDirectory(victim.folder.attached, mode: 0o755)
    try platform.files.replace(path, mode: 0o644, contents: Array("the victim's".utf8))
    try write("INSERT INTO notes VALUES ('guess', 'ben', 1, 'x', 0, '\(Self.guess)')", in: victim.folder)
    tick()
    _ = try hub.importBundle(victim.export().file)
    return try hubFile(Self.guess) == "the victim's"
  }

  /// The name of a file of the victim's user. An attacker may guess this name.
  static let guess = "guess.jpg"
  /// The name of a file in a row of the victim's user. The hub has no such file.
  static let missing = "site/p5.jpg"

  /// The digests of all files below a folder, by their paths relative to the folder.
  /// - Parameter skipped: names in the folder itself that are left out.
  func digests(below folder: String, but skipped: Set<String> = []) throws -> [String: String] {
    var digests: [String: String] = [:]
    for name in try platform.files.list(folder) where !skipped.contains(name) {
      let path = Paths.join(folder, name)
      if try platform.files.kind(path) == .directory {
        for (file, digest) in try self.digests(below: path) { digests[Paths.join(name, file)] = digest }
      } else {
        digests[name] = Digest.of(try platform.files.read(path, limit: 1 << 20)).hexadecimal
      }
    }
    return digests
  }

  /// The text of an attachment at the hub; nil: there is no such file.
  func hubFile(_ path: String) throws -> String? {
    let place = Paths.join(hub.folder.attached, path)
    guard try platform.files.kind(place) == .file else { return nil }
    return String(decoding: try platform.files.read(place, limit: 100), as: UTF8.self)
  }

  /// Whether the hub still merges the victim's writes.
  func takesTheVictim() throws -> Bool {
    try write("UPDATE notes SET likes = likes + 1 WHERE id = 'n5'", in: victim.folder)
    tick()
    return try hub.importBundle(victim.export().file).verdict == .imported
  }
}
