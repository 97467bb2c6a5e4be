import SatchelCapture
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues

/// A device's deletion of a row that the hub never had. Another device delivers this row now.
struct UnknownDeletion {
  let entry: LogEntry
  let row: Row
  let place: Int

  /// Returns the result for the new row. If the table's rows may get new keys, the deleted row may be another row with
  /// the same key. So a person decides if the deleted row had other values.
  func doubted(_ result: MergeResult, in store: HubStore) -> MergeResult {
    guard let met = result.disagreement, met.kind == .updateDelete, store.tables[place].givesNewKeys,
      entry.was != store.rows[place].schema.fields(row)
    else { return result }
    return MergeResult(row: result.row, disagreement: Disagreement(kind: met.kind, state: .open))
  }
}

extension HubStore {
  /// Returns the deletion that a new row meets, if the hub never had the deleted row. Otherwise nil.
  ///
  /// The user who deleted the row may have had no right to do that. The hub now checks this right on the new row. If
  /// the right is missing, the deletion does not count, and this method changes `others` accordingly.
  func unknownDeletion(
    meeting change: Change, _ key: RowKey, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int,
    _ others: inout OthersChanges, _ scopes: UserScopes
  ) throws -> UnknownDeletion? {
    guard hub == nil, others.presence, case .insert(let row) = change, let entry = try unknownDeletion(past) else {
      return nil
    }
    if try mayDelete(row, key, in: place, by: scopes.scope(of: entry.user)) {
      return UnknownDeletion(entry: entry, row: row, place: place)
    }
    (others.presence, others.disputed) = (false, [])
    return nil
  }

  private func mayDelete(_ row: Row, _ key: RowKey, in place: Int, by scope: ScopeStore) throws -> Bool {
    var mayDelete = true
    do {
      try database.savepoint(.dryRun) {
        try rows[place].write(.insert(row), of: key)
        mayDelete = try scope.mayWrite(key, in: place)
      }
    } catch let error as SQLiteError where error.kind == .unique || error.kind == .constraint {
      // The hub cannot accept the row now. So nothing is lost if the deletion counts.
    }
    return mayDelete
  }
}
