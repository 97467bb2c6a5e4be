import SatchelBundle
import SatchelSQLite
import SatchelValues

/// Reads the log: the changes after a cursor, the changes of a bundle, or the changes of a row.
extension HubStore {
  /// One change in the log.
  struct LoggedChange {
    let table: Name
    /// The row's key as canonical text.
    let key: [UInt8]
    let operation: Operation
    /// The columns with their new values. nil for a delete.
    let set: [Field]?
  }

  /// Calls `body` with each change after `cursor`, in their order.
  func eachChange(after cursor: Cursor, _ body: (LoggedChange) throws -> Void) throws {
    try database.each(
      "SELECT table_name, key, operation, set_values FROM satchel_log WHERE cursor > :cursor ORDER BY cursor",
      ["cursor": .integer(cursor.rawValue)]
    ) { row in
      guard case .text(let key) = row.value(1), let operation = Operation(rawValue: row.text(2)) else { return }
      try body(LoggedChange(table: Name(row.text(0)), key: key, operation: operation, set: row.fields(3)))
    }
  }

  /// Calls `body` with each change in the log that a bundle brought, the last change first.
  func eachEntry(
    of bundle: BundleID, _ body: (_ table: Name, _ key: String, _ entry: LogEntry) throws -> Void
  ) throws {
    try database.each(
      """
      SELECT table_name, key, operation, set_values, was_values, device, stamp, cursor, user, at FROM satchel_log
      WHERE bundle = :bundle ORDER BY cursor DESC
      """, ["bundle": .string(bundle.text)]
    ) { row in
      guard let operation = Operation(rawValue: row.text(2)) else { return }
      let entry = LogEntry(
        cursor: Cursor(row.integer(7)), operation: operation, setText: row.textBytes(3), was: try row.fields(4),
        device: row.optionalText(5), user: row.text(8), bundle: bundle.text,
        stamp: Stamp(row.integer(6)), at: row.integer(9))
      try body(Name(row.text(0)), row.text(1), entry)
    }
  }

  /// One entry of a row's history, and the cursor of the entry before it. nil if the entry is forgotten.
  func historyEntry(
    at cursor: Cursor, _ name: (_ device: String) -> String
  ) throws -> (entry: RowHistory.Entry, previous: Cursor?)? {
    try database.first(
      """
      SELECT operation, set_values, was_values, device, user, stamp, bundle, at, previous
      FROM satchel_log
      WHERE cursor = :cursor
      """, ["cursor": .integer(cursor.rawValue)]
    ) { row in
      let entry = RowHistory.Entry(
        cursor: cursor, at: row.integer(7), operation: Operation(rawValue: row.text(0)) ?? .update,
        set: try row.fields(1), was: try row.fields(2), device: row.optionalText(3).map(name), user: row.text(4),
        stamp: Stamp(row.integer(5)), bundle: row.optionalText(6).flatMap { BundleID($0) })
      return (entry, row.optionalInteger(8).map { Cursor($0) })
    }
  }

  /// The bundles that the log names and the ledger does not have, each with the number of its changes.
  func unknownBundles() throws -> [(bundle: String, changes: Int64)] {
    try database.all(
      """
      SELECT bundle, count(*) FROM satchel_log
      WHERE bundle IS NOT NULL AND bundle NOT IN (SELECT bundle FROM satchel_ledger WHERE bundle IS NOT NULL)
      GROUP BY bundle
      """
    ) { ($0.text(0), $0.integer(1)) }
  }
}
