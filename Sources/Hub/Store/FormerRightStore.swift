import SatchelSQLite
import SatchelValues

/// The conflicts about rows that their user does not see any more, if the user could make the change before.
extension HubStore {
  /// The hub records this when it merges the bundle, because it may later forget the emission that shows the former
  /// right.
  static let formerRights = """
    CREATE TABLE satchel_former_rights (
      conflict TEXT PRIMARY KEY -- the user could make its change when the device had the row
    ) WITHOUT ROWID
    """

  func addFormerRight(_ id: ConflictID) throws {
    try database.run(
      "INSERT OR IGNORE INTO satchel_former_rights VALUES (:conflict)", ["conflict": .string(id.text)])
  }

  func hasFormerRight(_ id: ConflictID) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_former_rights WHERE conflict = :conflict", ["conflict": .string(id.text)]
    ) { _ in true } ?? false
  }
}
