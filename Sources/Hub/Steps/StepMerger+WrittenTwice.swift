import SatchelMerge
import SatchelValues

/// Values that the device and another writer wrote, each without knowledge of the other write.
///
/// The row has the value already, and yet the log gets an entry of the device's write. So a delete or a change that was
/// made with knowledge of the other write alone counts as concurrent, as if it had arrived before the device's write.
extension StepMerger {
  /// Returns the columns with equal values that are logged, as changes that change no value.
  ///
  /// A change of an earlier epoch has none, because the row may contain the change itself. A row from before its device
  /// joined has none either: the device has made no write of its own.
  /// - Parameters:
  ///   - hub: the row that the change met.
  ///   - result: the result of the merge.
  func writtenTwice(_ pending: Pending, over hub: Row?, _ result: MergeResult, in place: Int) -> [ColumnChange] {
    guard let hub, !pending.decided else { return [] }
    var columns: Set<Int> = []
    if !base.isFormerEpoch, pending.step.first != nil { columns.formUnion(result.writtenTwice) }
    // The device holds a row with this natural key from now on, even if the two rows had different keys.
    if case .insert = pending.step.change, result.row == hub, result.disagreement == nil, store.tables[place].folds {
      columns.formUnion(store.tables[place].naturalColumns)
    }
    return columns.subtracting(store.tables[place].schema.key).sorted().map {
      ColumnChange(column: $0, was: hub[$0], value: hub[$0])
    }
  }
}

extension Change {
  /// Returns an update with further columns. Any other change already has all columns.
  func with(_ columns: [ColumnChange]) -> Change {
    guard case .update(let changes) = self, !columns.isEmpty else { return self }
    return .update((changes + columns).sorted { $0.column < $1.column })
  }
}
