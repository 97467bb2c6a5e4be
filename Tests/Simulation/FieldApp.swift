import SatchelSQLite
import SatchelValues
import TestSupport

/// A text compared by its bytes. Two texts may look the same and have different bytes. Satchel treats them as different
/// keys or values. Swift's `String` would treat them as one.
struct ExactText: Hashable, Comparable, CustomStringConvertible {
  let text: String

  init(_ text: String) { self.text = text }

  var description: String { text }

  static func == (a: ExactText, b: ExactText) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }
  static func < (a: ExactText, b: ExactText) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }
  func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
}

/// One row of one table.
struct RowName: Hashable, Comparable, CustomStringConvertible {
  let table: String
  let id: ExactText

  var description: String { "\(table) \(id)" }

  static func < (a: RowName, b: RowName) -> Bool { (a.table, a.id) < (b.table, b.id) }
}

/// One value of one row.
struct Cell: Hashable, Comparable, CustomStringConvertible {
  let row: RowName
  let column: String

  init(_ table: String, _ id: ExactText, _ column: String) {
    row = RowName(table: table, id: id)
    self.column = column
  }

  var description: String { "\(row).\(column)" }

  static func < (a: Cell, b: Cell) -> Bool { (a.row, a.column) < (b.row, b.column) }
}

struct Site: Hashable {
  let id: ExactText
  let zone: Int64
}

struct Visit: Hashable {
  let id: ExactText
  let site: ExactText
}

/// The connection of an app, or of an administrator with a shell. It does not use Satchel's code.
final class FieldApp {
  /// - Parameter visits: the column that identifies the visits: `id` as the PRIMARY KEY, or beside a local key.
  static func schema(visits: SeasonRules.Names) -> String {
    let id = visits == .primaryKey ? "id TEXT PRIMARY KEY" : "fid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE"
    return """
      CREATE TABLE sites (id TEXT PRIMARY KEY, zone INTEGER NOT NULL, name TEXT, note TEXT);
      CREATE TABLE visits (\(id), site TEXT NOT NULL REFERENCES sites (id), a TEXT, b TEXT);
      """
  }
  static let counters =
    "CREATE TABLE counters (id TEXT PRIMARY KEY, n INTEGER NOT NULL, tags TEXT NOT NULL DEFAULT '[]')"
  static let columns = ["sites": ["name", "note"], "visits": ["a", "b"]]

  let database: Database

  init(path: String, mode: Database.Mode = .readWrite) throws {
    database = try Database(path: path, mode: mode)
    // With this setting, a write that the app reports as saved is on the medium.
    try database.execute("PRAGMA synchronous = EXTRA")
  }

  func execute(_ sql: String) throws { try database.execute(sql) }

  /// The version of the dataset that a device has.
  func version() throws -> Int? {
    try database.first("SELECT json_extract(definition, '$.version') FROM satchel_device") { Int($0.integer(0)) }
  }

  /// The user for whom a device works.
  func user() throws -> String? { try database.first("SELECT user FROM satchel_device") { $0.text(0) } }

  /// The tables that are kept in step.
  private func tables() throws -> [String] {
    try database.all("SELECT name FROM sqlite_schema WHERE name IN ('sites', 'visits', 'counters') ORDER BY name") {
      $0.text(0)
    }
  }

  func sites() throws -> [Site] {
    try database.all("SELECT id, zone FROM sites ORDER BY id") { Site(id: ExactText($0.text(0)), zone: $0.integer(1)) }
  }

  func visits() throws -> [Visit] {
    try database.all("SELECT id, site FROM visits ORDER BY id") {
      Visit(id: ExactText($0.text(0)), site: ExactText($0.text(1)))
    }
  }

  /// Every row as text, with its table and its id. The columns have names, so their order does not matter.
  func rows() throws -> [RowName: ExactText] {
    var rows: [RowName: ExactText] = [:]
    for table in try tables() {
      let columns = try database.all(
        "SELECT name FROM pragma_table_info(:table) WHERE name <> 'fid' ORDER BY name", ["table": .string(table)]
      ) {
        $0.text(0)
      }
      let text = columns.map { "'\($0)=' || quote(\(quoted($0)))" }.joined(separator: " || ' ' || ")
      try database.each("SELECT id, \(text) FROM \(table)") {
        rows[RowName(table: table, id: ExactText($0.text(0)))] = ExactText($0.text(1))
      }
    }
    return rows
  }

  /// The rows with captured changes that are in no export yet. At the hub, the changes that are not in the log yet.
  func captured() throws -> Set<RowName> {
    var found: Set<RowName> = []
    for table in try tables() {
      let sql = """
        SELECT id FROM \(quoted("satchel_before_\(table)"))
        UNION SELECT id FROM \(quoted("satchel_writes_\(table)")) WHERE satchel_number > 0
        """
      try database.each(sql) { found.insert(RowName(table: table, id: ExactText($0.text(0)))) }
    }
    return found
  }

  func insert(_ site: Site, name: String?, note: String?) throws {
    try database.run(
      "INSERT INTO sites (id, zone, name, note) VALUES (:id, :zone, :name, :note)",
      ["id": .string(site.id.text), "zone": .integer(site.zone), "name": Self.value(name), "note": Self.value(note)])
  }

  func insert(_ visit: Visit, a: String?, b: String?) throws {
    try database.run(
      "INSERT INTO visits (id, site, a, b) VALUES (:id, :site, :a, :b)",
      ["id": .string(visit.id.text), "site": .string(visit.site.text), "a": Self.value(a), "b": Self.value(b)])
  }

  func set(_ cell: Cell, to value: String?) throws {
    try database.run(
      "UPDATE \(quoted(cell.row.table)) SET \(quoted(cell.column)) = :value WHERE id = :id",
      ["value": Self.value(value), "id": .string(cell.row.id.text)])
  }

  func count(_ more: Int64, in row: String) throws {
    try database.run("UPDATE counters SET n = n + :more WHERE id = :id", ["more": .integer(more), "id": .string(row)])
  }

  func counts() throws -> [(row: String, n: Int64)] {
    try database.all("SELECT id, n FROM counters ORDER BY id") { ($0.text(0), $0.integer(1)) }
  }

  /// The elements of the set in a row.
  func tags(of row: String) throws -> [String] {
    try database.all(
      "SELECT json_each.value FROM counters, json_each(tags) WHERE counters.id = :id ORDER BY 1", ["id": .string(row)]
    ) { $0.text(0) }
  }

  func setTags(_ tags: [String], of row: String) throws {
    let text = "[" + tags.map { "\"\($0)\"" }.joined(separator: ",") + "]"
    try database.run(
      "UPDATE counters SET tags = :tags WHERE id = :id", ["tags": .string(text), "id": .string(row)])
  }

  func move(site id: ExactText, to zone: Int64) throws {
    try database.run("UPDATE sites SET zone = :zone WHERE id = :id", ["zone": .integer(zone), "id": .string(id.text)])
  }

  func move(visit id: ExactText, to site: ExactText) throws {
    try database.run(
      "UPDATE visits SET site = :site WHERE id = :id", ["site": .string(site.text), "id": .string(id.text)])
  }

  func delete(_ id: ExactText, from table: String) throws {
    try database.run("DELETE FROM \(quoted(table)) WHERE id = :id", ["id": .string(id.text)])
  }

  private static func value(_ text: String?) -> Value { text.map { .string($0) } ?? .null }

  // MARK: checks

  /// SQLite's own finding about the file; nil: none.
  func unsoundness() throws -> String? {
    let verdict = try database.first("PRAGMA integrity_check") { $0.text(0) } ?? "no answer"
    if verdict != "ok" { return verdict }
    return try database.first("PRAGMA foreign_key_check") { "\($0.text(0)) \($0.integer(1)) has no \($0.text(2))" }
  }

  /// Every value that `satchel_log` set or replaced.
  func logged() throws -> Set<String> {
    var found: Set<String> = []
    for column in ["set_values", "was_values"] {
      try database.each("SELECT value FROM satchel_log, json_each(\(column)) WHERE \(column) IS NOT NULL") { row in
        if let text = row.optionalText(0) { found.insert(text) }
      }
    }
    return found
  }

  func dump() throws -> [String: [String]] { try database.dump(without: ["satchel_ledger", "satchel_capture"]) }
}
