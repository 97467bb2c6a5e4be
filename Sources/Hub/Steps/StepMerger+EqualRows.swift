import SatchelCapture
import SatchelMerge
import SatchelRows
import SatchelValues

/// Rows that several devices bring, and that are equal: from a lost hub, or by chance.
extension StepMerger {
  /// Returns the state from which the device changed a row. If the device brought the row too, and nothing disagreed,
  /// it has seen what others had written until then, although its emission is older.
  func base(of past: RowNumbers.Entry?, in place: Int) throws -> ChangeBase {
    guard let since = base.knownCursor, let past, let newest = past.cursor, newest > since,
      let equal = try store.equalCursor(ofRow: past.number, in: place, on: device.id), equal > since
    else { return base }
    return base.moved(to: equal)
  }

  /// The cursor up to which a device has seen the writes of others in a row, because it brought the row too and nothing
  /// disagreed. nil if nothing is logged of the hub's row. Called after the row was merged.
  func equalCursor(
    _ step: Step, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int
  ) throws -> Cursor? {
    guard case .insert = step.change else { return nil }
    return try formerVersion(step, onto: hub, with: past, in: place) ?? store.past(of: step.key, in: place)?.cursor
  }

  /// The most changes of a row that are taken back.
  private static let mostTakenBack = 16

  /// Returns the last cursor at which the hub's row was equal to a row from before its device joined this hub. nil if
  /// it never was, if it still is, or if the device may have known the hub's row.
  ///
  /// Whoever changed or deleted the row since had the same values. So nothing disagrees, and the hub's row stays. If
  /// the device had delivered first, the result would be the same.
  ///
  /// In tables with counters, equal values of two devices may be two counts. So the result is nil there.
  func formerVersion(
    _ step: Step, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int
  ) throws -> Cursor? {
    let rows = store.rows[place]
    guard step.first == nil, case .insert(let row) = step.change, row != hub, let cursor = base.knownCursor,
      !rows.rules.hasCounters, !store.tables[place].folds
    else { return nil }
    var (version, isNew, rest) = (hub, false, Self.mostTakenBack)
    var equal: Cursor?
    try store.eachChange(of: past, after: cursor) { entry in
      isNew = entry.operation == .insert
      guard !isNew, rest > 0, let former = try former(version, before: entry, in: rows.schema) else { return .enough }
      (version, rest) = (former, rest - 1)
      if equal == nil, former == row { equal = Cursor(entry.cursor.rawValue - 1) }
      return .more
    }
    return isNew ? equal : nil
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
