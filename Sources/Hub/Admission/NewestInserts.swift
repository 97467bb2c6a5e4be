import SatchelValues

/// The log entries by which rows were last made. Each entry of a log is read once in a command, even if very many rows
/// refer to one row.
final class NewestInserts {
  private struct OfRow {
    /// The newest entry that was read.
    var newest = Cursor.zero
    var insert: LogEntry?
  }

  private let store: HubStore
  private var rows: [StepMerger.RowReference: OfRow] = [:]

  init(_ store: HubStore) { self.store = store }

  /// The entry by which the row was last made. nil if the log has no such entry.
  func entry(of key: RowKey, in place: Int) throws -> LogEntry? {
    guard let past = try store.past(of: key, in: place) else { return nil }
    let row = StepMerger.RowReference(place: place, key: key)
    var known = rows[row] ?? OfRow()
    let cursor = past.cursor ?? .zero
    // If the log is shorter than before, a decision was undone.
    if cursor < known.newest { known = OfRow() }
    try store.eachChange(of: past, after: known.newest) { entry in
      guard entry.operation == .insert else { return .more }
      known.insert = entry
      return .enough
    }
    known.newest = cursor
    rows[row] = known
    return known.insert
  }
}
