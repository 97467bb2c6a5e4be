import SatchelSQLite

/// The statements of the hub's log that run for every row, prepared once.
final class LogStatements {
  let add: Statement
  /// What was done to a row after a cursor, and by whom.
  let since: Statement
  let newestStamp: Statement

  init(in database: borrowing Database) throws {
    add = try database.prepare(
      """
      INSERT INTO satchel_log (table_name, row, key, operation, set_values, was_values, device, user, stamp, bundle, echo, at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    since = try database.prepare(
      """
      SELECT operation, set_values, device, stamp
      FROM satchel_log
      WHERE table_name = ? AND row = ? AND cursor > ?
      """)
    newestStamp = try database.prepare("SELECT max(stamp) FROM satchel_log WHERE table_name = ? AND row = ?")
  }
}
