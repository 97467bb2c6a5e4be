import SatchelCapture
import SatchelMerge
import SatchelRows
import SatchelValues

/// Rows that several devices bring from a lost hub, and that one of them has changed before the others bring them.
extension StepMerger {
  /// The most changes of a row that are taken back.
  private static let mostTakenBack = 16

  /// Returns the result for a row from before its device joined this hub, if the row is equal to a former version of
  /// the hub's row. nil if it is not, or if the device may have known the hub's row.
  ///
  /// Whoever changed or deleted the row since had the same values. So nothing disagrees, and the hub's row stays. If
  /// the device had delivered first, the result would be the same.
  ///
  /// In tables with counters, equal values of two devices may be two counts. So the result is nil there.
  func resultForFormerVersion(
    _ step: Step, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int
  ) throws -> MergeResult? {
    let rows = store.rows[place]
    guard step.first == nil, case .insert(let row) = step.change, row != hub, let cursor = base.cursor,
      !rows.rules.hasCounters, !store.tables[place].folds
    else { return nil }
    var (version, isEqual, isNew, rest) = (hub, false, false, Self.mostTakenBack)
    try store.eachChange(of: past, after: cursor) { entry in
      isNew = entry.operation == .insert
      guard !isNew, rest > 0, let former = try former(version, before: entry, in: rows.schema) else { return .enough }
      (version, rest) = (former, rest - 1)
      isEqual = isEqual || former == row
      return .more
    }
    return isEqual && isNew ? MergeResult(row: hub) : nil
  }

  /// The row as it was before an update or a delete of it; nil if the log does not show it.
  private func former(_ version: Row?, before entry: LogEntry, in schema: TableSchema) throws -> Row? {
    guard var former = version else {
      guard entry.operation == .delete, let was = entry.was else { return nil }
      return try? schema.row(kept: was, in: store.database)
    }
    guard entry.operation == .update else { return nil }
    for field in entry.was ?? [] {
      if let column = schema.position(of: field.name) { former[column] = field.value }
    }
    return former
  }
}
