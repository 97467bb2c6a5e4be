import SatchelSQLite
import SatchelValues

/// The statements on the hub's log that run for every row. Each is prepared once, when it is first needed.
final class LogStatements {
  private let adding: LazyStatement
  private let reading: LazyStatement
  private let turning: LazyStatement
  private let newest: Statement
  /// The last cursor that this transaction gave to a change. nil if it gave none yet.
  private var last: Cursor?

  init(in database: borrowing Database) throws {
    adding = LazyStatement(
      """
      INSERT INTO satchel_log (
        cursor, table_name, row, previous, key, operation, set_values, was_values, device, user, stamp, bundle,
        echo, at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    reading = LazyStatement(
      """
      SELECT operation, set_values, was_values, device, stamp, previous, user, bundle, at
      FROM satchel_log
      WHERE cursor = ?
      """
    )
    turning = LazyStatement(
      "SELECT operation, was_values, previous, device, stamp FROM satchel_log WHERE cursor = ?")
    newest = try database.prepare("SELECT coalesce(max(cursor), 0) FROM satchel_log")
  }

  /// Adds an entry.
  func add() throws -> KeptStatement { try adding.prepared(beside: newest) }

  /// Reads one entry: its operation, values, author and time, and the cursor of the row's entry before it.
  func entry() throws -> KeptStatement { try reading.prepared(beside: newest) }

  /// Reads the part of an entry that leads back to the earlier state of the row: its operation, former values, author
  /// and time, and the cursor of the row's entry before it.
  func turn() throws -> KeptStatement { try turning.prepared(beside: newest) }

  /// Forgets the last cursor. Each transaction begins with this, because another process may have written since.
  func begin() { last = nil }

  /// The cursor for the next change of a row. The cursor of a change that is undone is not used again. Such a gap in
  /// the cursors has no meaning.
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
