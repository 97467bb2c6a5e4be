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
  }
}

/// `satchel_exported_rows`: a row for each row whose changes the last export carries.
enum ExportedRowTable {
  static let schema = """
    CREATE TABLE satchel_exported_rows (
      row INTEGER PRIMARY KEY,        -- the first 8 bytes of a digest of the table's name and the row's key
      digest INTEGER,                 -- the first 8 bytes of the row's digest; NULL: there was no row
      unseen INTEGER NOT NULL,        -- 1: the row was found to differ from the digest
      acknowledged INTEGER NOT NULL,  -- 1: only during an import: its bundle acknowledges changes of the row
      sent INTEGER                    -- for those: the same of the row that the hub had sent; NULL: it had sent no row
    )
    """

  static func row(_ number: Int64, in database: borrowing Database) throws -> ExportedRow? {
    try database.first(
      "SELECT digest, unseen, acknowledged, sent FROM satchel_exported_rows WHERE row = :row", ["row": .integer(number)]
    ) {
      ExportedRow(
        digest: $0.optionalInteger(0).map { UInt64(bitPattern: $0) }, isUnseen: $0.integer(1) != 0,
        acknowledged: $0.integer(2) == 0 ? nil : .init(digest: $0.optionalInteger(3).map { UInt64(bitPattern: $0) }))
    }
  }

  static func put(_ row: ExportedRow, _ number: Int64, in database: borrowing Database) throws {
    try database.run(
      """
      INSERT OR REPLACE INTO satchel_exported_rows (row, digest, unseen, acknowledged, sent)
      VALUES (:row, :digest, :unseen, :acknowledged, :sent)
      """,
      [
        "row": .integer(number), "digest": value(row.digest), "unseen": .integer(row.isUnseen ? 1 : 0),
        "acknowledged": .integer(row.acknowledged == nil ? 0 : 1), "sent": value(row.acknowledged?.digest),
      ])
  }

  private static func value(_ digest: UInt64?) -> Value { digest.map { .integer(Int64(bitPattern: $0)) } ?? .null }

  static func isEmpty(in database: borrowing Database) throws -> Bool {
    try database.first("SELECT 1 FROM satchel_exported_rows LIMIT 1") { _ in false } ?? true
  }

  /// The rows that were found to differ.
  static func unseen(in database: borrowing Database) throws -> Set<Int64> {
    Set(try database.all("SELECT row FROM satchel_exported_rows WHERE unseen = 1") { $0.integer(0) })
  }

  static func forgetAll(in database: borrowing Database) throws {
    try database.run("DELETE FROM satchel_exported_rows")
  }
}
