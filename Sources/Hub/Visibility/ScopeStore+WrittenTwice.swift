import SatchelMerge
import SatchelValues

/// Columns to which the device and another writer wrote the same value, without knowledge of each other.
///
/// The row already has the value, but the log gets an entry of the device's write too. A later delete or change may
/// come from a replica that knew only the other write. With the entry it counts as concurrent, as if it had come before
/// the device's write.
extension ScopeStore {
  /// Returns the columns with equal values that the log must record as changes without an effect.
  ///
  /// There are none in three cases. In an earlier epoch, the row may contain the change itself. In a table that merges
  /// whole rows, a part of a refused change is no change. Columns that name files or decide about rights are left out,
  /// because the log also shows when these columns changed.
  /// - Parameters:
  ///   - hub: the row that the change met.
  ///   - result: the result of the merge.
  ///   - base: the state from which the device made the change.
  func writtenTwice(
    _ change: Change, over hub: Row?, _ result: MergeResult, from base: ChangeBase, in place: Int
  ) throws -> [ColumnChange] {
    guard let hub else { return [] }
    let table = store.tables[place]
    func equal(_ columns: some Sequence<Int>) throws -> [ColumnChange] {
      let files = table.rules.attachments.compactMap { table.schema.position(of: $0) }
      return try columns.sorted().filter { !files.contains($0) }
        .map { ColumnChange(column: $0, was: hub[$0], value: hub[$0]) }
        .filter { try decidesNothing(.update([$0]), in: place) }
    }
    switch change {
    case .insert:
      // After this insert, the device has the row with this natural key, even if its own row had another primary key.
      guard table.folds, result.row == hub, result.disagreement == nil else { return [] }
      return try equal(table.naturalColumns.subtracting(table.schema.key))
    case .update:
      if base.isFormerEpoch || store.rows[place].rules.grain == .row { return [] }
      return try equal(result.writtenTwice)
    case .delete: return []
    }
  }
}

extension HubStore {
  /// Logs a change of a row, together with the equal columns that were written twice. Logs nothing if there are none of
  /// both.
  func log(
    _ change: Change?, besides equal: [ColumnChange], of key: RowKey, with past: RowNumbers.Entry?, in place: Int,
    from origin: Origin
  ) throws {
    guard let whole = change?.with(equal) ?? (equal.isEmpty ? nil : .update(equal)) else { return }
    try log(whole, of: key, with: past, in: place, from: origin)
  }
}

extension Change {
  /// Returns an update with further columns. Inserts and deletes already have all columns.
  fileprivate func with(_ columns: [ColumnChange]) -> Change {
    guard case .update(let changes) = self, !columns.isEmpty else { return self }
    return .update((changes + columns).sorted { $0.column < $1.column })
  }
}
