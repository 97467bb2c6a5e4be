import SatchelCapture
import SatchelJSON
import SatchelSQLite
import SatchelValues

/// The table `satchel_versions`, which is the same at the hub and on a device. It has one row for each version of the
/// dataset that this database had.
public enum VersionTable {
  public static let schema = """
    CREATE TABLE satchel_versions (
      version INTEGER PRIMARY KEY,
      definition TEXT NOT NULL,  -- the dataset's definition
      migration TEXT,            -- the SQL that led here; NULL: tables stayed as they were
      columns TEXT NOT NULL,     -- JSON object by table: the new names of columns; null: the column was removed
      at INTEGER NOT NULL        -- milliseconds since 1970
    )
    """

  /// - Parameter mappings: the column mappings of the changed tables.
  public static func add(
    _ version: Int64, _ definition: [UInt8], _ migration: Migration?, _ mappings: [Name: ColumnMapping] = [:],
    at time: Int64,
    in database: borrowing Database
  ) throws {
    let tables = mappings.sorted { $0.key < $1.key }.compactMap { table, mapping -> JSONValue.Member? in
      let renamed = mapping.renamed.map { JSONValue.Member(name: $0.from.text, value: .string($0.to.text)) }
      let gone = mapping.gone.map { JSONValue.Member(name: $0.text, value: .null) }
      return renamed.isEmpty && gone.isEmpty ? nil : .init(name: table.text, value: .object(renamed + gone))
    }
    try database.run(
      """
      INSERT OR REPLACE INTO satchel_versions (version, definition, migration, columns, at)
      VALUES (:version, :definition, :migration, :columns, :at)
      """,
      [
        "version": .integer(version), "definition": .text(definition),
        "migration": migration.map { .string($0.sql) } ?? .null,
        "columns": .text(JSONValue.object(tables).compactBytes), "at": .integer(time),
      ])
  }

  /// The migrations to the versions after `version`, in order.
  public static func migrations(after version: Int64, in database: borrowing Database) throws -> [Migration] {
    try database.all(
      """
      SELECT version, migration FROM satchel_versions WHERE version > :version AND migration IS NOT NULL ORDER BY \
      version
      """,
      ["version": .integer(version)]
    ) { Migration(version: $0.integer(0), sql: $0.text(1)) }
  }

  /// The definitions of all recorded versions, oldest first.
  public static func definitions(in database: borrowing Database) throws -> [(
    version: Int64, source: [UInt8], at: Int64
  )] {
    try database.all("SELECT version, definition, at FROM satchel_versions ORDER BY version") {
      ($0.integer(0), Array($0.text(1).utf8), $0.integer(2))
    }
  }

  /// How columns were renamed and removed from version to version.
  /// - Parameter table: the table to read. It has the columns `version` and `columns`.
  public static func columns(
    in database: borrowing Database, table: String = "satchel_versions"
  ) throws -> FormerColumns {
    FormerColumns(
      steps: try database.all("SELECT version, columns FROM \(quoted(table)) WHERE columns <> '{}' ORDER BY version") {
        ($0.integer(0), try JSONValue.parse(Array($0.text(1).utf8)))
      })
  }
}

/// The renamed and removed columns of each version. They are needed to read data of an older version.
public struct FormerColumns: Sendable {
  /// For each version: how it changed the columns of the version before.
  fileprivate let steps: [(version: Int64, tables: JSONValue)]

  /// Whether no column was renamed or removed after this version.
  public func areSame(since version: Int64) -> Bool { steps.allSatisfy { $0.version <= version } }

  /// The present name of the column that had the name `column` in a version; nil if it was removed. If nothing is
  /// recorded about the column, its name is unchanged.
  public func current(_ column: Name, of table: Name, since version: Int64) -> Name? {
    var name = column
    for step in steps where step.version > version {
      switch step.tables[table.text]?[name.text] {
      case .string(let new): name = Name(new)
      case .null?: return nil
      default: continue
      }
    }
    return name
  }
}
