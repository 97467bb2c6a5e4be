import SatchelSQLite
import SatchelValues

/// An app with trees, nests in the trees, eggs in the nests, and paths from a tree to a nest. Each row has its own name
/// and the name of its parent.
///
/// SQLite makes the keys of rows, or the keys are texts. If they are texts, a tree is identified by its name, and a
/// nest by its tree and name.
final class KeyApp {
  struct NamedRow: CustomStringConvertible {
    let key: Value
    let name: String
    var description: String { "\(name) = \(key)" }
  }

  static let tables = ["trees", "nests", "eggs", "paths"]

  private let database: Database

  init(path: String, mode: Database.Mode, foreignKeys: Bool) throws {
    database = try Database(path: path, mode: mode)
    try database.execute("PRAGMA foreign_keys = \(foreignKeys ? "ON" : "OFF")")
  }

  /// The place that declares the references to trees and nests.
  enum Declaration { case schema, dataset }

  /// - Parameter names: the columns that identify the rows of folding tables.
  func makeTables(counting: Bool, folding: Bool, names: RowNames, declaredBy declaration: Declaration) throws {
    let key = folding ? names.columns : "id INTEGER PRIMARY KEY" + (counting ? " AUTOINCREMENT" : "")
    let isTree = folding ? ", UNIQUE (name)" : ""
    let isNest = folding ? ", UNIQUE (tree, name)" : ""
    let reference = folding ? "TEXT" : "INTEGER"
    let trees = names == .column ? "trees (id)" : "trees"
    func refers(_ words: String) -> String { declaration == .schema ? "REFERENCES \(words)" : "" }
    try database.execute(
      """
      CREATE TABLE trees (\(key), name TEXT NOT NULL, height INTEGER, note TEXT\(isTree));
      CREATE TABLE nests (
        \(key), name TEXT NOT NULL, tree \(reference) NOT NULL \(refers(trees)), tree_name TEXT,
        near \(reference) \(refers("nests (id)")), near_name TEXT, note TEXT\(isNest));
      CREATE TABLE eggs (
        \(key), name TEXT NOT NULL UNIQUE, nest \(reference) \(refers("nests (id) ON UPDATE CASCADE")), nest_name TEXT);
      CREATE TABLE paths (
        tree \(reference) \(refers("trees (id)")), nest \(reference) \(refers("nests (id)")), says TEXT,
        PRIMARY KEY (tree, nest)) WITHOUT ROWID;
      """)
  }

  func rows(_ table: String) throws -> [NamedRow] {
    try database.all("SELECT id, name FROM \(table) ORDER BY id") { NamedRow(key: $0.value(0), name: $0.text(1)) }
  }

  /// - Parameter key: the row's key; nil: SQLite makes it.
  func insert(_ table: String, key: Value?, _ columns: String, _ values: [Value]) throws -> Value {
    let values = [key ?? .null] + values
    let statement = try database.prepare(
      "INSERT INTO \(table) (id, \(columns)) VALUES (\(values.map { _ in "?" }.joined(separator: ", ")))")
    try statement.run(values)
    return key ?? .integer(database.lastInsertRowID)
  }

  func note(_ note: String, on row: NamedRow, of table: String) throws {
    try database.run("UPDATE \(table) SET note = :note WHERE id = :id", ["note": .string(note), "id": row.key])
  }

  func walk(_ tree: NamedRow, _ nest: NamedRow) throws {
    try database.run(
      "INSERT OR IGNORE INTO paths VALUES (:tree, :nest, :says)",
      ["tree": tree.key, "nest": nest.key, "says": .string("\(tree.name) to \(nest.name)")])
  }

  func carry(_ egg: NamedRow, to nest: NamedRow) throws {
    try database.run(
      "UPDATE eggs SET nest = :nest, nest_name = :name WHERE id = :id",
      ["nest": nest.key, "name": .string(nest.name), "id": egg.key])
  }

  /// The local keys of all rows that have one, by table and primary key.
  func localKeys() throws -> [String: Int64] {
    var found: [String: Int64] = [:]
    for table in Self.tables.dropLast() {
      try database.each("SELECT id, fid FROM \(table)") { found["\(table) \($0.text(0))"] = $0.integer(1) }
    }
    return found
  }

  /// Gives each row another local key. This is no change of the row.
  func moveLocalKeys() throws {
    for table in Self.tables.dropLast() {
      try database.execute("UPDATE \(table) SET fid = -fid; UPDATE \(table) SET fid = 100 - fid")
    }
  }

  // MARK: writes that capture does not record

  /// Whether a row has changes that no export carries.
  func isUnexported(_ table: String, _ condition: String) throws -> Bool {
    for rows in [
      "satchel_before_\(table) WHERE satchel_generation >= (SELECT generation FROM satchel_capture) AND",
      "satchel_writes_\(table) WHERE",
    ] {
      let found = try database.first("SELECT 1 FROM \(rows) \(condition)") { _ in true }
      if found ?? false { return true }
    }
    return false
  }

  func greatestKey(of table: String) throws -> Int64 {
    try database.first("SELECT max(id) FROM \(table)") { $0.integer(0) } ?? 0
  }

  func executeUnseen(_ sql: String) throws { try database.withoutTriggers { try database.execute(sql) } }

  /// The texts in columns that only unseen writes fill.
  func notes() throws -> Set<String> {
    Set(
      try database.all(
        """
        SELECT note FROM trees UNION SELECT note FROM nests UNION SELECT says FROM paths UNION SELECT name FROM eggs
        """
      ) { $0.text(0) })
  }

  func eat(_ egg: NamedRow) throws { try database.run("DELETE FROM eggs WHERE id = :id", ["id": egg.key]) }

  /// Rows that refer to no row, or to a row whose name differs from the recorded parent name.
  func strays() throws -> [String] {
    try database.all(
      """
      SELECT 'nest ' || n.name FROM nests AS n LEFT JOIN trees AS t ON t.id = n.tree WHERE t.name IS NOT n.tree_name
      UNION ALL
      SELECT 'nest ' || n.name || ' near' FROM nests AS n JOIN nests AS o ON o.id = n.near WHERE o.name IS NOT n.near_name
      UNION ALL
      SELECT 'egg ' || e.name FROM eggs AS e LEFT JOIN nests AS n ON n.id = e.nest WHERE n.name IS NOT e.nest_name
      UNION ALL
      SELECT 'path ' || p.says FROM paths AS p LEFT JOIN trees AS t ON t.id = p.tree LEFT JOIN nests AS n ON n.id = p.nest
      WHERE t.name || ' to ' || n.name IS NOT p.says
      """
    ) { $0.text(0) }
  }

  /// The rows of a table as text. Only rows below trees of at most this height are included.
  func all(_ table: String, height: Int = 1) throws -> [String] {
    let low = "SELECT id FROM trees WHERE height <= \(height)"
    // Rows near a hidden nest are left out, and so are rows near a path to a hidden nest.
    let seen = """
      tree IN (\(low)) AND NOT EXISTS (
        WITH RECURSIVE up (nest) AS (
          SELECT nests.near UNION SELECT other.near FROM nests AS other JOIN up ON other.id = up.nest)
        SELECT 1 FROM up WHERE nest IS NOT NULL AND nest NOT IN (SELECT id FROM nests AS shown WHERE tree IN (\(low))))
      """
    let nests = "SELECT id FROM nests WHERE \(seen)"
    let condition =
      switch table {
      case "trees": "height <= \(height)"
      case "nests": seen
      case "eggs": "nest IN (\(nests))"
      default: "tree IN (\(low)) AND nest IN (\(nests))"
      }
    let columns = try database.all(
      "SELECT name FROM pragma_table_info(:table) WHERE name <> 'fid'", ["table": .string(table)]
    ) { Name($0.text(0)) }
    return try database.all("SELECT \(quotedList(columns)) FROM \(table) WHERE \(condition) ORDER BY 1, 2") { row in
      (0..<row.columnCount).map {
        "\(row.value($0).isNull ? "NULL" : row.text($0).isEmpty ? String(row.integer($0)) : row.text($0))"
      }
      .joined(separator: "|")
    }
  }
}
