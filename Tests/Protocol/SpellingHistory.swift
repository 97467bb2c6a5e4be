import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace
import TestSupport

/// A random history of replicas whose apps write few rows. The keys have several spellings: 1, 1.0, '1' and x'31', or
/// 'k' and 'K' in a column that treats them as equal.
///
/// At the end, all replicas must have the same rows, byte for byte. Each value that was not overwritten must be in a
/// row or in a conflict. Every reference must lead to an existing row.
final class SpellingHistory {
  /// The declaration of a table's key, and keys for it as SQL literals.
  struct Shape: Sendable {
    let name: String
    let columns: String
    /// A table constraint after the columns, as SQL.
    var constraint = ""
    /// Table options after the columns, such as STRICT.
    var options = ""
    let keys: [[String]]
    /// Whether other rows refer to the first column.
    var hasChildren = true
    /// Whether the referring column may be declared without a type. In this case SQLite finds the parent '1.0' for 1.0.
    /// But when the parent is deleted, SQLite does not find the child.
    var hasUntypedChildren = true
  }

  private static let numbers = [
    "1", "1.0", "'1'", "x'31'", "0", "0.0", "-0.0", "9007199254740993", "9007199254740992.0",
  ]
  private static let cases = ["'k'", "'K'", "'j'", "'J'", "x'6b'"]
  private static let spaces = ["'k'", "'k '", "'k  '", "'j'"]

  static let shapes: [Shape] = [
    Shape(name: "no type", columns: "id PRIMARY KEY NOT NULL", keys: [numbers]),
    Shape(name: "BLOB", columns: "id BLOB PRIMARY KEY NOT NULL", keys: [numbers]),
    Shape(name: "ANY", columns: "id ANY PRIMARY KEY NOT NULL", options: "STRICT", keys: [numbers]),
    Shape(name: "no type, no rowid", columns: "id PRIMARY KEY NOT NULL", options: "WITHOUT ROWID", keys: [numbers]),
    Shape(
      name: "ANY, no rowid", columns: "id ANY PRIMARY KEY NOT NULL", options: "STRICT, WITHOUT ROWID", keys: [numbers]),
    Shape(name: "NOCASE", columns: "id TEXT COLLATE NOCASE PRIMARY KEY NOT NULL", keys: [cases]),
    Shape(
      name: "NOCASE, no rowid", columns: "id TEXT COLLATE NOCASE PRIMARY KEY NOT NULL", options: "WITHOUT ROWID",
      keys: [cases]),
    Shape(name: "RTRIM", columns: "id TEXT COLLATE RTRIM PRIMARY KEY NOT NULL", keys: [spaces]),
    Shape(
      name: "TEXT", columns: "id TEXT PRIMARY KEY NOT NULL", keys: [["1", "1.0", "'1'", "'1.0'", "x'31'"]],
      hasUntypedChildren: false),
    Shape(
      name: "NUMERIC", columns: "id NUMERIC PRIMARY KEY NOT NULL",
      keys: [["1", "1.0", "'1'", "'1a'", "x'31'", "2.5", "-9223372036854775808", "-9223372036854775808.0"]]),
    Shape(name: "REAL", columns: "id REAL PRIMARY KEY NOT NULL", keys: [["1", "1.0", "'1'", "2.5", "-0.0", "0"]]),
    Shape(name: "INTEGER", columns: "id INTEGER PRIMARY KEY", keys: [["1", "1.0", "'1'", "2"]]),
    Shape(
      name: "composite", columns: "id NOT NULL, part TEXT COLLATE NOCASE NOT NULL",
      constraint: ", PRIMARY KEY (id, part)",
      keys: [["1", "1.0", "'1'"], ["'k'", "'K'"]], hasChildren: false),
    Shape(
      name: "composite, no rowid", columns: "part BLOB NOT NULL, id BLOB NOT NULL",
      constraint: ", PRIMARY KEY (id, part)", options: "WITHOUT ROWID", keys: [["1", "1.0"], ["2", "2.0", "'2'"]],
      hasChildren: false),
  ]

  private static let length = 24

  private let shape: Shape
  private let refers: Bool
  private let folder: String
  private let files = HostFileSystem()
  private var random: SplitMix64
  private let hub: HubWorkspace
  private let devices: [DeviceWorkspace]
  private let hubApp: SpellingApp
  private var apps: [Int: SpellingApp] = [:]
  private var mail: [(device: Int?, path: String)] = []
  private var made = 0
  private var written: Set<String> = []
  /// Values that a user had seen, and then overwrote or deleted.
  private var excused: Set<String> = []
  private let trace: ((String) -> Void)?

  init(seed: UInt64, shape: Shape, in folder: String, trace: ((String) -> Void)? = nil) throws {
    self.shape = shape
    self.folder = folder
    self.trace = trace
    random = SplitMix64(seed: seed)
    let mayRefer = random.once(in: 2)
    refers = mayRefer && shape.hasChildren
    let unique = random.one(of: ["", "", "UNIQUE", "UNIQUE COLLATE NOCASE"])
    let policy = random.one(of: ["newest", "hub", "device", "manual"])
    let platform = Platform(files: files, clock: PassingClock(PassingTime()), random: SeededRandom(~seed))
    let root = Paths.join(folder, "hub")
    try files.makeDirectory(root, mode: 0o755)
    try files.makeDirectory(Paths.join(folder, "stick"), mode: 0o755)
    let database = Paths.join(root, "rows.sqlite")
    hubApp = try SpellingApp(path: database, mode: .create)
    let isTyped = random.once(in: 2)
    try hubApp.makeTables(shape, unique: unique, refers: refers, typed: isTyped || !shape.hasUntypedChildren)
    let rules = #"{ "conflict": "\#(policy)" }"#
    let tables = refers ? #""t": \#(rules), "c": \#(rules)"# : #""t": \#(rules)"#
    hub = try HubWorkspace.create(
      root,
      definition: Array(#"{ "dataset": "rows", "version": 1, "prove": "always", "tables": { \#(tables) } }"#.utf8),
      database: database, platform: platform)
    var devices: [DeviceWorkspace] = []
    for index in 0..<2 {
      _ = try hub.addUser("user-\(index)", attributes: [])
      let device = try DeviceWorkspace.create(
        Paths.join(folder, "device-\(index)"), dataset: "rows", name: "device-\(index)", platform: platform)
      try hub.admit(device, user: "user-\(index)")
      devices.append(device)
    }
    self.devices = devices
    trace?("\(shape.name), \(policy), name \(unique), \(refers ? "with children" : "alone")")
  }

  // MARK: events

  func play() throws {
    try write(in: hubApp, "hub")
    for index in devices.indices { try deliver(emit(index, full: false)) }
    for _ in 0..<Self.length { try event() }
    trace?("-- clean rounds")
    for _ in 0..<3 {
      for index in devices.indices { try deliver(export(index)) }
      for index in devices.indices { try deliver(emit(index, full: random.once(in: 6))) }
    }
  }

  private func event() throws {
    let index = random.below(devices.count)
    switch random.below(20) {
    case 0..<7: try write(in: app(index), "\(index)")
    case 7..<10: try write(in: hubApp, "hub")
    case 10..<13: mail.append(try export(index))
    case 13..<15: mail.append(try emit(index, full: random.once(in: 4)))
    default:
      if mail.isEmpty { return }
      let place = random.below(mail.count)
      let parcel = mail[place]
      if !random.once(in: 3) { mail.remove(at: place) }
      try deliver(parcel)
    }
  }

  private func key() -> [String] { shape.keys.map { random.one(of: $0) } }

  private func write(in app: SpellingApp, _ who: String) throws {
    let value = "v\(written.count)"
    let name = random.one(of: ["'n1'", "'N1'", "'n2'", "NULL", "NULL"])
    let columns = shape.keys.count == 1 ? ["id"] : ["id", "part"]
    let key = key()
    let isRow = zip(columns, key).map { "\($0) = \($1)" }.joined(separator: " AND ")
    let moved = zip(columns, self.key()).map { "\($0) = \($1)" }.joined(separator: ", ")
    let names = (columns + ["name", "a"]).joined(separator: ", ")
    let row = "(\(names)) VALUES (\((key + [name, "'\(value)'"]).joined(separator: ", ")))"
    let statements = [
      "INSERT OR IGNORE INTO t \(row)", "REPLACE INTO t \(row)", "UPDATE t SET a = '\(value)' WHERE \(isRow)",
      "UPDATE OR REPLACE t SET name = \(name) WHERE \(isRow)", "DELETE FROM t WHERE \(isRow)",
      "UPDATE OR REPLACE t SET \(moved) WHERE \(isRow)", "UPDATE OR IGNORE t SET \(moved) WHERE \(isRow)",
      "DELETE FROM t WHERE \(isRow); INSERT OR IGNORE INTO t \(row)",
    ]
    let child = "INSERT OR REPLACE INTO c VALUES ('c\(random.below(3))', \(key[0]), '\(value)')"
    let sql = refers && random.once(in: 5) ? child : random.one(of: statements)
    let before = try app.values()
    guard try app.tryToExecute(sql) else { return }
    let after = try app.values()
    excused.formUnion(before.subtracting(after))
    written.formUnion(after.subtracting(before))
    trace?("\(who): \(sql)")
  }

  // MARK: the courier

  private func app(_ index: Int) throws -> SpellingApp {
    if let app = apps[index] { return app }
    let app = try SpellingApp(
      path: devices[index].configuration.databasePath(devices[index].folder), mode: .readWrite)
    apps[index] = app
    return app
  }

  private func export(_ index: Int) throws -> (device: Int?, path: String) {
    let report = try devices[index].export()
    trace?("\(index) exports \(report.sequence)")
    return (nil, try copy(report.file))
  }

  private func emit(_ index: Int, full: Bool) throws -> (device: Int?, path: String) {
    let report = try hub.emit(to: "device-\(index)", full: full)
    trace?("hub emits \(report.number) to \(index), \(report.extent)")
    return (index, try copy(report.file))
  }

  private func copy(_ file: String) throws -> String {
    made += 1
    let path = Paths.join(folder, "stick/\(made)-\(Paths.name(of: file))")
    try files.copy(file, to: path, mode: 0o644)
    return path
  }

  private func deliver(_ parcel: (device: Int?, path: String)) throws {
    guard let index = parcel.device else {
      let report = try hub.importBundle(parcel.path)
      trace?("hub imports \(Paths.name(of: parcel.path)): \(report.verdict), \(report.conflicts) conflicts")
      if let proof = report.proof, proof.result == .differs {
        throw Wrong("\(Paths.name(of: parcel.path)) has other rows than it must have: \(proof)")
      }
      return
    }
    do {
      let report = try devices[index].importBundle(parcel.path)
      trace?("\(index) imports \(Paths.name(of: parcel.path)): \(report.verdict), \(report.conflicts) conflicts")
    } catch let refusal as Refusal where refusal.reason == "gap" { trace?("\(index) refuses a gap") }
  }

  // MARK: checks

  func check() throws {
    let rows = try hubApp.rows()
    for index in devices.indices {
      let here = try app(index).rows()
      if here != rows { throw Wrong("device \(index) has \(here), and the hub \(rows)") }
      let pending = try devices[index].status().current?.pending ?? []
      if !pending.isEmpty { throw Wrong("device \(index) still has pending steps: \(pending)") }
      let report = try devices[index].examine()
      if !report.unseen.isEmpty { throw Wrong("device \(index) is well, and the doctor finds \(report.unseen)") }
    }
    let report = try hub.examine()
    if !report.unseen.isEmpty { throw Wrong("the hub is well, and the doctor finds \(report.unseen)") }
    for app in try [hubApp] + devices.indices.map(app) { try app.checkFile() }
    let records = try
      (hub.conflicts(ConflictState.allCases)
      + devices.flatMap { try $0.conflicts(ConflictState.allCases) }).map(\.record)
    let kept = Set(
      records.flatMap { ($0.deviceValues ?? []) + ($0.baseValues ?? []) + ($0.hubValues ?? []) }.compactMap { field in
        if case .text(let bytes) = field.value { String(decoding: bytes, as: UTF8.self) } else { nil }
      })
    let lost = try written.subtracting(hubApp.values()).subtracting(excused).subtracting(kept)
    if !lost.isEmpty { throw Wrong("lost: \(lost.sorted()); the rows are \(rows)") }
  }
}

/// The app of a history: a connection to the database without Satchel.
final class SpellingApp {
  private let database: Database
  private var refers = false

  init(path: String, mode: Database.Mode) throws {
    database = try Database(path: path, mode: mode)
    try database.execute("PRAGMA foreign_keys = ON")
    refers = try database.tableNames().contains("c")
  }

  /// - Parameter typed: whether the referring column is declared with the type of the key.
  func makeTables(_ shape: SpellingHistory.Shape, unique: String, refers: Bool, typed: Bool) throws {
    let isStrict = shape.options.contains("STRICT")
    let text = isStrict ? "TEXT" : ""
    try database.execute(
      "CREATE TABLE t (\(shape.columns), name TEXT \(unique), a \(text)\(shape.constraint)) \(shape.options)")
    guard refers else { return }
    let words = shape.columns.split(separator: " ").dropFirst().map(String.init)
    let end = words.firstIndex { ["PRIMARY", "NOT"].contains($0) } ?? words.endIndex
    let type = typed ? words[..<end].joined(separator: " ") : isStrict ? "ANY" : ""
    try database.execute(
      """
      CREATE TABLE c (
        id TEXT PRIMARY KEY NOT NULL, t \(type) REFERENCES t (id) ON UPDATE CASCADE ON DELETE CASCADE, x TEXT)
        \(isStrict ? "STRICT" : "")
      """)
    self.refers = true
  }

  /// Executes the statement; false: SQLite refuses it.
  func tryToExecute(_ sql: String) throws -> Bool {
    do {
      try database.writeTransaction { try database.execute(sql) }
      return true
    } catch let error as SQLiteError where [.unique, .foreignKey, .constraint].contains(error.kind) { return false }
  }

  /// The values that apps wrote into rows. Each value is unique.
  func values() throws -> Set<String> {
    let children = refers ? " UNION ALL SELECT x FROM c" : ""
    return Set(try database.all("SELECT a FROM t\(children)") { $0.text(0) })
  }

  /// All rows with the bytes of their values.
  func rows() throws -> [String] {
    try (refers ? ["t", "c"] : ["t"]).flatMap { table in
      try database.all("SELECT * FROM \(table)") { row in
        "\(table): " + (0..<row.columnCount).map { "\(row.value($0))" }.joined(separator: " ")
      }.sorted()
    }
  }

  func checkFile() throws {
    let words = try database.first("PRAGMA integrity_check") { $0.text(0) } ?? ""
    if words != "ok" { throw Wrong("a database is damaged: \(words)") }
    let strays = try database.all("PRAGMA foreign_key_check") { "\($0.text(0)) \($0.integer(1))" }
    if !strays.isEmpty { throw Wrong("rows refer to none: \(strays), of \(try rows())") }
  }
}
