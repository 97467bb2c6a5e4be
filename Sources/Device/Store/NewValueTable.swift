import SatchelRows
import SatchelSQLite
import SatchelValues

/// `satchel_new_values`: for each version of the dataset, the values that its new columns got in rows that existed
/// before.
///
/// The present tables may declare other defaults, because a later migration may have rebuilt a table.
enum NewValueTable {
  static let schema = """
    CREATE TABLE satchel_new_values (
      version INTEGER NOT NULL,  -- of the dataset
      table_name TEXT NOT NULL,
      column_name TEXT NOT NULL, -- its name in that version
      value,
      PRIMARY KEY (version, table_name, column_name)
    ) WITHOUT ROWID
    """

  static func add(_ values: [Name: [Name: Value]], with version: Int64, in database: borrowing Database) throws {
    for (table, columns) in values {
      for (column, value) in columns {
        try database.run(
          "INSERT OR REPLACE INTO satchel_new_values VALUES (:version, :table, :column, :value)",
          [
            "version": .integer(version), "table": .string(table.text), "column": .string(column.text),
            "value": value,
          ])
      }
    }
  }

  /// The values that columns of a table got when a migration added them, by the columns' present names.
  static func all(
    of table: Name, _ former: FormerColumns, in database: borrowing Database
  ) throws -> [(column: Name, value: Value)] {
    try database.all(
      "SELECT version, column_name, value FROM satchel_new_values WHERE table_name = :table",
      ["table": .string(table.text)]
    ) { (version: $0.integer(0), column: Name($0.text(1)), value: $0.values(from: 2, count: 1)[0]) }
    .compactMap { entry in
      former.current(entry.column, of: table, since: entry.version).map { ($0, entry.value) }
    }
  }
}
