import SatchelCrypto
import SatchelRows
import SatchelSQLite
import SatchelValues

/// The tables `satchel_left_exports` and `satchel_left_versions`: the work of former users that the lost hub is not
/// known to have, when the device left that hub. The tables exist until that work is exported for the next hub.
enum LeftExportTable {
  /// An export of a former user that later exports do not contain.
  struct Entry {
    let sequence: SequenceNumber
    let digest: Digest
    /// The name of the export's file in `bundles/archive/former`.
    let file: String
  }

  /// Records the exports, and copies the names of columns in earlier versions. The caller drops `satchel_versions` in
  /// the same transaction.
  static func keep(_ entries: [Entry], in database: borrowing Database) throws {
    if entries.isEmpty { return }
    try database.execute(
      """
      CREATE TABLE IF NOT EXISTS satchel_left_exports (
        sequence INTEGER PRIMARY KEY,
        digest TEXT NOT NULL, -- of its B2SUMS
        file TEXT NOT NULL    -- its name in bundles/archive/former
      );
      DROP TABLE IF EXISTS main.satchel_left_versions;
      CREATE TABLE satchel_left_versions AS SELECT version, columns FROM satchel_versions
      """)
    for entry in entries {
      try database.run(
        "INSERT OR REPLACE INTO satchel_left_exports (sequence, digest, file) VALUES (:sequence, :digest, :file)",
        [
          "sequence": .integer(entry.sequence.rawValue), "digest": .string(entry.digest.hexadecimal),
          "file": .string(entry.file),
        ])
    }
  }

  /// Copies the tables into temporary tables of this connection, because joining a hub removes all earlier tables of
  /// Satchel from the database file. Returns false if there is nothing to copy.
  static func takeOut(of database: borrowing Database) throws -> Bool {
    guard try exists(in: database) else { return false }
    for table in tables {
      try database.execute("CREATE TEMP TABLE \(table) AS SELECT * FROM main.satchel_\(table)")
    }
    return true
  }

  /// Puts the copied tables back into the database file. Returns the number of the last export; nil: there is none.
  static func putBack(into database: borrowing Database) throws -> SequenceNumber? {
    for table in tables {
      try database.execute(
        "CREATE TABLE main.satchel_\(table) AS SELECT * FROM temp.\(table); DROP TABLE temp.\(table)")
    }
    return try all(in: database).last?.sequence
  }

  private static let tables = ["left_exports", "left_versions"]

  private static func exists(in database: borrowing Database) throws -> Bool {
    try database.hasTable("satchel_left_exports")
  }

  /// The exports, in their order. Empty if there are none.
  static func all(in database: borrowing Database) throws -> [Entry] {
    guard try exists(in: database) else { return [] }
    return try database.all("SELECT sequence, digest, file FROM satchel_left_exports ORDER BY sequence") { row in
      Digest(hexadecimal: row.text(1)).map {
        Entry(sequence: SequenceNumber(row.integer(0)), digest: $0, file: row.text(2))
      }
    }.compactMap(\.self)
  }

  /// The names of columns in the versions that the dataset had at the lost hub.
  static func columns(in database: borrowing Database) throws -> FormerColumns {
    try VersionTable.columns(in: database, table: "satchel_left_versions")
  }

  /// Removes both tables.
  static func remove(from database: borrowing Database) throws {
    for table in tables { try database.execute("DROP TABLE IF EXISTS main.satchel_\(table)") }
  }
}
