import SatchelSQLite
import SatchelValues

/// The statements of the hub's log that run for every row, prepared once, when they are needed.
final class LogStatements {
  private let adding: LazyStatement
  private let reading: LazyStatement
  private let turning: LazyStatement
  private let newest: Statement
  /// The last cursor that this transaction gave. nil before the first.
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

  /// Reads one entry: its operation, columns, author and time, and the cursor of the entry before it.
  func entry() throws -> KeptStatement { try reading.prepared(beside: newest) }

  /// Reads the part of an entry that leads back to the earlier state of the row: its operation, its former values, the
  /// entry before it, the author and the time.
  func turn() throws -> KeptStatement { try turning.prepared(beside: newest) }

  /// Forgets the last cursor when a transaction begins, because another process may have written meanwhile.
  func begin() { last = nil }

  /// The cursor for the next change of a row. If the change is undone, a gap in the cursors remains. The gap has no
  /// meaning.
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
