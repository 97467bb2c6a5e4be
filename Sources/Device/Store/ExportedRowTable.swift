import SatchelJSON
import SatchelSQLite
import SatchelValues

/// A device's knowledge of a row whose changes an export carries.
struct ExportedRow {
  /// The digest of the row after its last exported change, or after a later import; nil: there was no row.
  var digest: UInt64?
  /// Whether the row was found to differ from `digest`. No trigger saw that write.
  var isUnseen = false
  /// Only during an import whose bundle acknowledges changes of the row: the version that the hub had sent.
  var acknowledged: Acknowledged?

  struct Acknowledged {
    /// nil: the hub had sent no such row.
    let digest: UInt64?
    /// Whether the bundle acknowledges all changes of the row that exports carry.
    var isAll: Bool
  }

  /// A row's table, and its key in one spelling.
  struct Name: Hashable {
    let table: SatchelValues.Name
    /// A JSON array.
    let key: [UInt8]

    init(_ key: RowKey, of table: SatchelValues.Name) {
      self.table = table
      self.key = canonicalKey(key.oneSpelling)
    }

    fileprivate init(table: SatchelValues.Name, key: [UInt8]) {
      self.table = table
      self.key = key
    }

    fileprivate var values: [Value] { [.string(table.text), .text(key)] }
  }
}

/// `satchel_exported_rows`: a row for each row whose changes the last export carries.
enum ExportedRowTable {
  static let schema = """
    CREATE TABLE satchel_exported_rows (
      table_name TEXT NOT NULL,
      key TEXT NOT NULL,              -- JSON array
      digest INTEGER,                 -- the first 8 bytes of the row's digest; NULL: there was no row
      unseen INTEGER NOT NULL,        -- 1: the row was found to differ from the digest
      acknowledged INTEGER NOT NULL,  -- only during an import: its bundle acknowledges all (1) or some (2) changes
      sent INTEGER,                   -- for those: the digest of the row that the hub had sent; NULL: it had sent none
      PRIMARY KEY (table_name, key)
    ) WITHOUT ROWID
    """

  static func row(_ name: ExportedRow.Name, in database: borrowing Database) throws -> ExportedRow? {
    let sql = "SELECT digest, unseen, acknowledged, sent FROM satchel_exported_rows WHERE table_name = ? AND key = ?"
    return try database.using(sql) { found in
      try found.bind(name.values)
      guard try found.step() else { return nil }
      let acknowledged = found.integer(2)
      return ExportedRow(
        digest: digest(found.optionalInteger(0)), isUnseen: found.integer(1) != 0,
        acknowledged: acknowledged == 0
          ? nil : .init(digest: digest(found.optionalInteger(3)), isAll: acknowledged == 1))
    }
  }

  static func put(_ row: ExportedRow, _ name: ExportedRow.Name, in database: borrowing Database) throws {
    let sql = """
      INSERT OR REPLACE INTO satchel_exported_rows (table_name, key, digest, unseen, acknowledged, sent)
      VALUES (?, ?, ?, ?, ?, ?)
      """
    let acknowledged: Int64 = row.acknowledged.map { $0.isAll ? 1 : 2 } ?? 0
    let values = [
      value(row.digest), .integer(row.isUnseen ? 1 : 0), .integer(acknowledged), value(row.acknowledged?.digest),
    ]
    try database.using(sql) { try $0.run(name.values + values) }
  }

  private static func value(_ digest: UInt64?) -> Value { digest.map { .integer(Int64(bitPattern: $0)) } ?? .null }
  private static func digest(_ number: Int64?) -> UInt64? { number.map { UInt64(bitPattern: $0) } }

  static func isEmpty(in database: borrowing Database) throws -> Bool {
    try database.first("SELECT 1 FROM satchel_exported_rows LIMIT 1") { _ in false } ?? true
  }

  /// The rows that were found to differ.
  static func unseen(in database: borrowing Database) throws -> Set<ExportedRow.Name> {
    Set(
      try database.all("SELECT table_name, key FROM satchel_exported_rows WHERE unseen = 1") {
        ExportedRow.Name(table: Name($0.text(0)), key: Array($0.text(1).utf8))
      })
  }

  static func forget(_ name: ExportedRow.Name, in database: borrowing Database) throws {
    try database.using("DELETE FROM satchel_exported_rows WHERE table_name = ? AND key = ?") { try $0.run(name.values) }
  }

  static func forgetAll(in database: borrowing Database) throws {
    try database.run("DELETE FROM satchel_exported_rows")
  }

  /// Forgets the rows of which the bundle acknowledged all changes, and the state of the import in the others.
  static func forgetAcknowledged(in database: borrowing Database) throws {
    try database.run("DELETE FROM satchel_exported_rows WHERE acknowledged = 1")
    try database.run("UPDATE satchel_exported_rows SET acknowledged = 0, sent = NULL WHERE acknowledged = 2")
  }
}
