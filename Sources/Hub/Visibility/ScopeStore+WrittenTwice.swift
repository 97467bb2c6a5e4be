import SatchelMerge
import SatchelValues

/// Values that the device and another writer wrote, each without knowledge of the other write.
///
/// The row has the value already, and yet the log gets an entry of the device's write. So a delete or a change that was
/// made with knowledge of the other write alone counts as concurrent, as if it had arrived before the device's write.
extension ScopeStore {
  /// Returns the columns with equal values that are logged, as changes that change no value.
  ///
  /// A change of an earlier epoch has none, because the row may contain the change itself. A row that is merged whole
  /// has none, because a part of a change that was not accepted is no change. The log also shows since when rows name
  /// files, and who decided when about rights: an equal write has no part in that.
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
      // The device holds a row with this natural key from now on, even if the two rows had different keys.
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
  /// Logs a change of a row together with equal columns that were written twice. Logs nothing if there is neither.
  func log(
    _ change: Change?, besides equal: [ColumnChange], of key: RowKey, with past: RowNumbers.Entry?, in place: Int,
    from origin: Origin
  ) throws {
    guard let whole = change?.with(equal) ?? (equal.isEmpty ? nil : .update(equal)) else { return }
    try log(whole, of: key, with: past, in: place, from: origin)
  }
}

extension Change {
  /// Returns an update with further columns. Any other change has all columns already.
  fileprivate func with(_ columns: [ColumnChange]) -> Change {
    guard case .update(let changes) = self, !columns.isEmpty else { return self }
    return .update((changes + columns).sorted { $0.column < $1.column })
  }
}
