import SatchelBundle
import SatchelJSON
import SatchelSQLite
import SatchelValues

/// The record of a row whose changes an export carries.
struct ExportedRow {
  /// The digest of the row after its last exported change, or after a later import; nil: there was no row.
  var digest: UInt64?
  /// Only during an import whose bundle acknowledges changes of the row: the version that the hub had sent.
  var acknowledged: Acknowledged?

  struct Acknowledged {
    /// The digest of the version that the hub had sent; nil: the hub had sent no such row.
    let digest: UInt64?
    /// The version itself, if it refers to rows whose keys may change.
    var row: [Field]?
    /// Whether the bundle acknowledges all changes of the row that exports carry.
    var isAll: Bool
  }
}

extension RowInTable {
  /// The row's table and key as `satchel_exported_rows` has them.
  fileprivate var stored: [Value] { [.string(table.text), .text(canonicalKey(key.oneSpelling))] }
}

/// `satchel_exported_rows`: a row for each row whose changes the last export carries.
enum ExportedRowTable {
  static let schema = """
    CREATE TABLE satchel_exported_rows (
      table_name TEXT NOT NULL,
      key TEXT NOT NULL,              -- JSON array
      digest INTEGER,                 -- the first 8 bytes of the row's digest; NULL: there was no row
      acknowledged INTEGER NOT NULL,  -- only during an import: its bundle acknowledges all (1) or some (2) changes
      sent INTEGER,                   -- for those: the digest of the row that the hub had sent; NULL: it had sent none
      sent_row TEXT,                  -- JSON object: that row, if it refers to rows whose keys may change
      PRIMARY KEY (table_name, key)
    ) WITHOUT ROWID
    """

  static func row(_ name: RowInTable, in database: borrowing Database) throws -> ExportedRow? {
    let sql = "SELECT digest, acknowledged, sent, sent_row FROM satchel_exported_rows WHERE table_name = ? AND key = ?"
    return try database.using(sql) { found in
      try found.bind(name.stored)
      guard try found.step() else { return nil }
      var row = ExportedRow(digest: digest(found.optionalInteger(0)))
      let acknowledged = found.integer(1)
      if acknowledged != 0 {
        row.acknowledged = .init(
          digest: digest(found.optionalInteger(2)),
          row: try found.optionalText(3).map { try FieldsCoding.parse(Array($0.utf8)) }, isAll: acknowledged == 1)
      }
      return row
    }
  }

  static func put(_ row: ExportedRow, _ name: RowInTable, in database: borrowing Database) throws {
    let sql = """
      INSERT OR REPLACE INTO satchel_exported_rows (table_name, key, digest, acknowledged, sent, sent_row)
      VALUES (?, ?, ?, ?, ?, ?)
      """
    let acknowledged: Int64 = row.acknowledged.map { $0.isAll ? 1 : 2 } ?? 0
    let values = [
      value(row.digest), .integer(acknowledged), value(row.acknowledged?.digest),
      row.acknowledged?.row.map { .text(FieldsCoding.json($0)) } ?? .null,
    ]
    try database.using(sql) { try $0.run(name.stored + values) }
  }

  private static func value(_ digest: UInt64?) -> Value { digest.map { .integer(Int64(bitPattern: $0)) } ?? .null }
  private static func digest(_ number: Int64?) -> UInt64? { number.map { UInt64(bitPattern: $0) } }

  static func isEmpty(in database: borrowing Database) throws -> Bool {
    try database.first("SELECT 1 FROM satchel_exported_rows LIMIT 1") { _ in false } ?? true
  }

  static func forget(_ name: RowInTable, in database: borrowing Database) throws {
    try database.using("DELETE FROM satchel_exported_rows WHERE table_name = ? AND key = ?") { try $0.run(name.stored) }
  }

  static func forgetAll(in database: borrowing Database) throws {
    try database.run("DELETE FROM satchel_exported_rows")
  }

  /// Deletes the records of rows of which the bundle acknowledged all changes. Clears the import's data in other
  /// records.
  static func forgetAcknowledged(in database: borrowing Database) throws {
    try database.run("DELETE FROM satchel_exported_rows WHERE acknowledged = 1")
    try database.run(
      "UPDATE satchel_exported_rows SET acknowledged = 0, sent = NULL, sent_row = NULL WHERE acknowledged = 2")
  }
}
