import SatchelValues

/// Finds the log entries of the last inserts of rows. Very many rows may refer to one row. So entries from before the
/// command are remembered, and each is read only once.
final class NewestInserts {
  private let store: HubStore
  /// The newest entry when the command began. Later entries are not remembered, because they may be rolled back.
  private let begun: Cursor
  private var known: [StepMerger.RowReference: LogEntry?] = [:]

  init(_ store: HubStore) throws { (self.store, begun) = (store, try store.cursor()) }

  /// The entry of the row's last insert. nil if the log has no such entry.
  func entry(of key: RowKey, in place: Int) throws -> LogEntry? {
    let row = StepMerger.RowReference(place: place, key: key)
    var found: LogEntry?
    var isKnown = false
    try store.eachChange(of: store.past(of: key, in: place)) { entry in
      if entry.cursor <= begun, let before = known[row] {
        (found, isKnown) = (before, true)
        return .enough
      }
      guard entry.operation == .insert else { return .more }
      found = entry
      return .enough
    }
    if !isKnown, found.map({ $0.cursor <= begun }) ?? true { known[row] = .some(found) }
    return found
  }
}
