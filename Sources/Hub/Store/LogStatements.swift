import SatchelSQLite
import SatchelValues

/// The statements of the hub's log that run for every row, prepared once.
final class LogStatements {
  let add: Statement
  /// One entry: what was done, to which columns, by whom, when, and where the one before it is.
  let entry: Statement
  /// One entry, as far as it leads back to the row before it: what was done, to which values, the
  /// entry before it, by whom and when.
  let turn: Statement

  private let newest: Statement
  /// The cursor that was given last in this transaction; nil: none yet.
  private var last: Cursor?

  init(in database: borrowing Database) throws {
    add = try database.prepare(
      """
      INSERT INTO satchel_log (
        cursor, table_name, row, previous, key, operation, set_values, was_values, device, user, stamp, bundle,
        echo, at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    entry = try database.prepare(
      """
      SELECT operation, set_values, was_values, device, stamp, previous, user, bundle, at
      FROM satchel_log
      WHERE cursor = ?
      """
    )
    turn = try database.prepare(
      "SELECT operation, was_values, previous, device, stamp FROM satchel_log WHERE cursor = ?")
    newest = try database.prepare("SELECT coalesce(max(cursor), 0) FROM satchel_log")
  }

  /// A transaction begins: another process may have written meanwhile.
  func begin() { last = nil }

  /// Where the next change of a row will stand. One that is then taken back leaves a gap, which means nothing.
  func nextCursor() throws -> Cursor {
    defer { newest.reset() }
    let cursor = try last?.next ?? newestCursor().next
    last = cursor
    return cursor
  }

  private func newestCursor() throws -> Cursor {
    _ = try newest.step()
    return Cursor(newest.integer(0))
  }
}
