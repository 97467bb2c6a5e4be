import SatchelCapture
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues

/// A device's deletion of a row that never was here, and that another device brings now.
struct UnknownDeletion {
  let entry: LogEntry
  let row: Row
  let place: Int

  /// Returns the result for the new row. If rows of the table get new keys, another row may have had the key by chance.
  /// So a person decides if the deleted row had other values.
  func doubted(_ result: MergeResult, in store: HubStore) -> MergeResult {
    guard let met = result.disagreement, met.kind == .updateDelete, store.tables[place].givesNewKeys,
      entry.was != store.rows[place].schema.fields(row)
    else { return result }
    return MergeResult(row: result.row, disagreement: Disagreement(kind: met.kind, state: .open))
  }
}

extension HubStore {
  /// Returns the deletion that a new row meets. nil if the new row meets no deletion of a row that never was here.
  ///
  /// The device that brought the deletion is not believed about the row. If its user may not delete the row that comes
  /// now, the deletion does not count, and `others` is changed accordingly.
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
      // The row cannot come now. So nothing is lost if the deletion counts.
    }
    return mayDelete
  }
}
