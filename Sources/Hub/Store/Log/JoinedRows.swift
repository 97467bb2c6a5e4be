import SatchelConflicts
import SatchelSQLite
import SatchelValues

/// New rows that wait, and that may be older than their device's enrolment.
///
/// The hub does not know from which values the counters and sets of such a row started. Another device may have the
/// same row with the same counts.
extension HubStore {
  /// One row for each of these waiting rows. The hub deletes it when it merges the waiting row, but not when a person
  /// decides.
  static let joinedRows = """
    CREATE TABLE satchel_joined_rows (
      conflict TEXT PRIMARY KEY -- the id of the waiting row's conflict
    ) WITHOUT ROWID
    """

  /// Records the rows that wait already. An earlier release did not record which rows are older than their device's
  /// enrolment. But such rows are in the first generation.
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
