import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace
import TestSupport

/// One row of the app's table.
struct Item: Hashable {
  static let columns = ["a", "b", "c"]

  let id: String
  var values: [Int64]
}

/// The columns that identify rows in the table of items.
enum RowNames {
  case primaryKey
  /// `id` identifies a row. The table also has an INTEGER PRIMARY KEY, which is local to each replica.
  case column
  /// As `column`, but SQLite never gives a local key twice.
  case columnBesideCount

  var columns: String {
    switch self {
    case .primaryKey: "id TEXT PRIMARY KEY"
    case .column: "fid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE"
    case .columnBesideCount: "fid INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE"
    }
  }
  /// The names of these columns, without their types.
  var list: String { self == .primaryKey ? "id" : "fid, id" }
  var rule: String { self == .primaryKey ? "" : #""key": ["id"], "# }
}

/// A connection without Satchel to a replica's database, like an app's or an administrator's.
final class App {
  private let database: Database

  init(path: String, mode: Database.Mode = .readWrite) throws { database = try Database(path: path, mode: mode) }

  func makeTables(_ names: RowNames) throws {
    try database.execute("CREATE TABLE items (\(names.columns), a INTEGER, b INTEGER, c INTEGER)")
  }

  func execute(_ sql: String) throws { try database.execute(sql) }

  /// The local keys of the rows, by their ids; empty if the table has no local keys.
  func localKeys() throws -> [String: Int64] {
    guard try allColumns().contains("fid") else { return [:] }
    return Dictionary(
      uniqueKeysWithValues: try database.all("SELECT id, fid FROM items") { ($0.text(0), $0.integer(1)) })
  }

  /// Gives all rows other local keys, or inserts all rows again. Their content does not change.
  func moveLocalKeys(by distance: Int, reloading: Bool) throws {
    let columns = quotedList(try allColumns().filter { $0 != "fid" })
    try database.execute(
      reloading
        ? """
        BEGIN; CREATE TEMP TABLE kept AS SELECT \(columns) FROM items ORDER BY a; DELETE FROM items;
        INSERT INTO items (\(columns)) SELECT \(columns) FROM kept; DROP TABLE kept; COMMIT
        """ : "UPDATE items SET fid = -fid; UPDATE items SET fid = \(distance) - fid")
  }

  private func allColumns() throws -> [Name] {
    try database.all("SELECT name FROM pragma_table_info('items') ORDER BY name") { Name($0.text(0)) }
  }

  /// Records the values that the device has now.
  func see(of device: String, by overwritten: inout OverwrittenValues) throws {
    try overwritten.see(database, of: device, tables: ["items"])
  }

  /// A description of values that were overwritten without being seen; nil: there are none.
  func lost(by overwritten: OverwrittenValues) throws -> String? { try overwritten.lost(in: database) }

  /// Runs SQL while Satchel's triggers are dropped. Then creates the triggers again.
  func executeUnseen(_ sql: String) throws {
    let triggers = try database.all(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'satchel%'"
    ) { (name: $0.text(0), sql: $0.text(1)) }
    try database.writeTransaction {
      for trigger in triggers { try database.execute("DROP TRIGGER \(quoted(trigger.name))") }
      try database.execute(sql)
      for trigger in triggers { try database.execute(trigger.sql) }
    }
  }

  /// Whether a row has changes that no export carries.
  func isUnexported(_ id: String) throws -> Bool {
    for rows in [
      "satchel_before_items WHERE satchel_generation >= (SELECT generation FROM satchel_capture) AND",
      "satchel_writes_items WHERE",
    ] {
      let found = try database.first("SELECT 1 FROM \(rows) id = :id", ["id": .string(id)]) { _ in true }
      if found ?? false { return true }
    }
    return false
  }

  /// Drops all of Satchel's triggers, or one of them.
  func dropTriggers(all: Bool) throws -> [String] {
    let names = try database.all(
      "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'satchel%' ORDER BY name"
    ) { $0.text(0) }
    let dropped = all ? names : Array(names.suffix(1))
    for name in dropped { try database.execute("DROP TRIGGER \(quoted(name))") }
    return dropped
  }

  /// All rows, by their ids.
  func items() throws -> [Item] {
    try database.all("SELECT id, a, b, c FROM items ORDER BY id") { row in
      Item(id: row.text(0), values: (1...3).map { row.integer($0) })
    }
  }

  /// The rows with these ids, with all their columns, as text.
  func rows(_ ids: [String]) throws -> [String] {
    let columns = try allColumns().filter { $0 != "fid" }.map { "quote(\(quoted($0)))" }
    return try ids.flatMap { id in
      try database.all(
        "SELECT \(columns.joined(separator: " || ' ' || ")) FROM items WHERE id = :id", ["id": .string(id)]
      ) {
        $0.text(0)
      }
    }
  }

  func insert(_ item: Item) throws {
    try database.run(
      "INSERT INTO items (id, a, b, c) VALUES (:id, :a, :b, :c)",
      [
        "id": .string(item.id), "a": .integer(item.values[0]), "b": .integer(item.values[1]),
        "c": .integer(item.values[2]),
      ])
  }

  func set(_ column: Int, of id: String, to value: Int64) throws {
    try database.run(
      "UPDATE items SET \(Item.columns[column]) = :value WHERE id = :id", ["value": .integer(value), "id": .string(id)])
  }

  func delete(_ id: String) throws { try database.run("DELETE FROM items WHERE id = :id", ["id": .string(id)]) }

  func dump() throws -> [String: [String]] { try database.dump(without: ["satchel_ledger"]) }

  func integrity() throws -> String { try database.first("PRAGMA integrity_check") { $0.text(0) } ?? "" }

  /// All values that entries of `satchel_log` set or replaced, as JSON.
  func logged() throws -> [(id: String, fields: [UInt8])] {
    try database.all(
      """
      SELECT json_extract(key, '$[0]'), set_values FROM satchel_log WHERE set_values IS NOT NULL
      UNION ALL
      SELECT json_extract(key, '$[0]'), was_values FROM satchel_log WHERE was_values IS NOT NULL
      """
    ) { (id: $0.text(0), fields: Array($0.text(1).utf8)) }
  }
}

/// One device with its app, and the values of its user that must not be lost.
final class TestDevice {
  let index: Int
  let workspace: DeviceWorkspace
  private var opened: App?
  /// For each cell, the newest value that the user wrote.
  var duty: [Cell: Int64] = [:]
  /// Whether the device refused the hub's last bundle because it belongs to another history.
  var isEstranged = false

  init(_ index: Int, _ workspace: DeviceWorkspace) {
    self.index = index
    self.workspace = workspace
  }

  var name: String { workspace.configuration.name }
  var databasePath: String { workspace.configuration.databasePath(workspace.folder) }

  /// The app; nil before the hub's first bundle. Once opened, the app stays open during all imports.
  func app() throws -> App? {
    if let opened { return opened }
    if try workspace.isInitial() { return nil }
    opened = try App(path: databasePath)
    return opened
  }

  /// A copy of the database that the user keeps.
  var backup: [UInt8]?

  func keepBackup() throws { backup = try HostFileSystem().read(databasePath, limit: 1 << 30) }

  /// Replaces the database with the user's copy.
  func putBack(_ bytes: [UInt8]) throws {
    opened = nil
    try HostFileSystem().replace(databasePath, mode: 0o644, contents: bytes)
    backup = nil
  }

  func insert(_ item: Item, _ app: App) throws {
    try app.insert(item)
    for (column, value) in item.values.enumerated() { duty[Cell(item.id, column)] = value }
  }

  func set(_ column: Int, of id: String, to value: Int64, _ app: App) throws {
    try app.set(column, of: id, to: value)
    duty[Cell(id, column)] = value
  }

  func delete(_ id: String, _ app: App) throws {
    try app.delete(id)
    for column in Item.columns.indices { duty[Cell(id, column)] = nil }
  }
}

struct Cell: Hashable {
  let id: String
  let column: Int

  init(_ id: String, _ column: Int) {
    self.id = id
    self.column = column
  }
}

/// A value of a cell that a replica had at some time.
struct Sighting: Hashable {
  let cell: Cell
  let value: Int64
}
