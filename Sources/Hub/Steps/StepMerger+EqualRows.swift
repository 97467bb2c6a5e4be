import SatchelCapture
import SatchelMerge
import SatchelRows
import SatchelValues

/// Equal rows that several devices bring: rows from a lost hub, or rows that are equal by chance.
extension StepMerger {
  /// Returns the state from which the device changed a row. If the device brought an equal row itself, it had seen the
  /// writes of others up to then, although its emission is older.
  func base(of past: RowNumbers.Entry?, in place: Int) throws -> ChangeBase {
    guard let since = base.knownCursor, let past, let newest = past.cursor, newest > since,
      let equal = try store.equalCursor(ofRow: past.number, in: place, on: device.id), equal > since
    else { return base }
    return base.moved(to: equal)
  }

  /// Returns the cursor up to which a device has seen the writes of others in a row. The device has seen them because
  /// it brought an equal row. nil if the log has no entry of the row. The caller has merged the row before.
  func equalCursor(
    _ step: Step, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int
  ) throws -> Cursor? {
    guard case .insert = step.change else { return nil }
    return try formerVersion(step, onto: hub, with: past, in: place) ?? store.past(of: step.key, in: place)?.cursor
  }

  /// The greatest number of a row's log entries that `formerVersion` takes back.
  private static let mostTakenBack = 16

  /// Returns the last cursor at which the hub's row was equal to a row that the device had before it joined this hub.
  /// nil if the rows never were equal, if they still are, or if the device may have known the hub's row.
  ///
  /// Everyone who changed or deleted the hub's row after that cursor had seen the same values. So there is no
  /// disagreement, and the hub's row stays. If the device had delivered first, the result would be the same.
  ///
  /// In tables with counters the result is nil, because two equal values may be two counts.
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

  /// Returns the row as it was before an update or a delete. nil if the log does not show the row.
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
