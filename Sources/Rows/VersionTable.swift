import SatchelCapture
import SatchelJSON
import SatchelSQLite
import SatchelValues

/// The table `satchel_versions`, which is the same at the hub and on a device. It holds the versions of the dataset
/// that this database had.
public enum VersionTable {
  public static let schema = """
    CREATE TABLE satchel_versions (
      version INTEGER PRIMARY KEY,
      definition TEXT NOT NULL,  -- the dataset's definition
      migration TEXT,            -- the SQL that led here; NULL: tables stayed as they were
      columns TEXT NOT NULL,     -- JSON object by table: the new names of columns; null: the column was removed
      at INTEGER NOT NULL,       -- milliseconds since 1970
      \(newValues)
    )
    """

  /// The values of new columns in the rows that were there before: a JSON object by table.
  private static let newValues = "new_values TEXT NOT NULL DEFAULT '{}'"

  /// Adds the column that release 0.1 does not have.
  public static func addNewValues(in database: borrowing Database) throws {
    try database.execute("ALTER TABLE satchel_versions ADD COLUMN \(newValues)")
  }

  /// - Parameters:
  ///   - mappings: the column mappings of tables; unchanged tables may be left out.
  ///   - newValues: by table, the values of new columns in the rows that were there before.
  public static func add(
    _ version: Int64, _ definition: [UInt8], _ migration: Migration?, _ mappings: [Name: ColumnMapping] = [:],
    newValues: [Name: [Name: Value]] = [:], at time: Int64, in database: borrowing Database
  ) throws {
    let tables = mappings.sorted { $0.key < $1.key }.compactMap { table, mapping -> JSONValue.Member? in
      let renamed = mapping.renamed.map { JSONValue.Member(name: $0.from.text, value: .string($0.to.text)) }
      let gone = mapping.gone.map { JSONValue.Member(name: $0.text, value: .null) }
      return renamed.isEmpty && gone.isEmpty ? nil : .init(name: table.text, value: .object(renamed + gone))
    }
    try database.run(
      """
      INSERT OR REPLACE INTO satchel_versions (version, definition, migration, columns, new_values, at)
      VALUES (:version, :definition, :migration, :columns, :values, :at)
      """,
      [
        "version": .integer(version), "definition": .text(definition),
        "migration": migration.map { .string($0.sql) } ?? .null,
        "columns": .text(JSONValue.object(tables).compactBytes),
        "values": .text(json(newValues).compactBytes), "at": .integer(time),
      ])
  }

  private static func json(_ newValues: [Name: [Name: Value]]) -> JSONValue {
    let tables = newValues.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map { table, values in
      let members = values.sorted { $0.key < $1.key }.map { JSONValue.Member(name: $0.text, value: JSONValue($1)) }
      return JSONValue.Member(name: table.text, value: .object(members))
    }
    return .object(tables)
  }

  /// The migrations that follow a version, in order.
  public static func migrations(after version: Int64, in database: borrowing Database) throws -> [Migration] {
    try database.all(
      """
      SELECT version, migration FROM satchel_versions WHERE version > :version AND migration IS NOT NULL ORDER BY \
      version
      """,
      ["version": .integer(version)]
    ) { Migration(version: $0.integer(0), sql: $0.text(1)) }
  }

  /// The definitions of all versions, oldest first.
  public static func definitions(in database: borrowing Database) throws -> [(
    version: Int64, source: [UInt8], at: Int64
  )] {
    try database.all("SELECT version, definition, at FROM satchel_versions ORDER BY version") {
      ($0.integer(0), Array($0.text(1).utf8), $0.integer(2))
    }
  }

  /// The names of columns in earlier versions, and the values that new columns got.
  public static func columns(in database: borrowing Database) throws -> FormerColumns {
    FormerColumns(
      names: try names(in: database, table: "satchel_versions"),
      newValues: try database.all(
        "SELECT version, new_values FROM satchel_versions WHERE new_values <> '{}' ORDER BY version"
      ) { ($0.integer(0), try newValues(Array($0.text(1).utf8))) })
  }

  /// The names of columns in earlier versions.
  /// - Parameter table: a table with the columns `version` and `columns`.
  public static func columns(in database: borrowing Database, named table: String) throws -> FormerColumns {
    FormerColumns(names: try names(in: database, table: table), newValues: [])
  }

  private static func names(
    in database: borrowing Database, table: String
  ) throws -> [(version: Int64, tables: JSONValue)] {
    try database.all("SELECT version, columns FROM \(quoted(table)) WHERE columns <> '{}' ORDER BY version") {
      ($0.integer(0), try JSONValue.parse(Array($0.text(1).utf8)))
    }
  }

  private static func newValues(_ json: [UInt8]) throws -> [Name: [Name: Value]] {
    var tables: [Name: [Name: Value]] = [:]
    var scanner = JSONScanner(json)
    try scanner.beginObject()
    while let table = try scanner.nextKey() {
      var values: [Name: Value] = [:]
      try scanner.beginObject()
      while let column = try scanner.nextKey() {
        values[Name(String(decoding: column, as: UTF8.self))] = try scanner.readValue()
      }
      tables[Name(String(decoding: table, as: UTF8.self))] = values
    }
    return tables
  }
}
