import SatchelConflicts
import SatchelSQLite
import SatchelValues

/// Waiting new rows that may have been on their device before the device joined.
///
/// Nothing shows from which values their counters and sets started. Another device may have the same row with the same
/// counts.
extension HubStore {
  /// A row for each such waiting row. A row stays here when a person decides about the waiting row.
  static let joinedRows = """
    CREATE TABLE satchel_joined_rows (
      conflict TEXT PRIMARY KEY -- the id of the waiting row's conflict
    ) WITHOUT ROWID
    """

  /// Records the rows that wait already. An earlier release did not record which rows are from before their device
  /// joined, but such rows are of the first generation.
  static func rememberJoinedRows(in database: borrowing Database) throws {
    try database.execute(joinedRows)
    try database.run(
      """
      INSERT INTO satchel_joined_rows
      SELECT id
      FROM satchel_conflicts
      WHERE state = 'held' AND operation = 'insert' AND generation = 0
      """)
  }

  func rememberJoined(_ conflict: ConflictID) throws {
    try database.run("INSERT OR IGNORE INTO satchel_joined_rows VALUES (:id)", ["id": .string(conflict.text)])
  }

  func mayHaveJoined(_ conflict: ConflictID) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_joined_rows WHERE conflict = :id", ["id": .string(conflict.text)]
    ) { _ in true } ?? false
  }

  func forgetJoined(_ conflict: ConflictID) throws {
    try database.run("DELETE FROM satchel_joined_rows WHERE conflict = :id", ["id": .string(conflict.text)])
  }
}
