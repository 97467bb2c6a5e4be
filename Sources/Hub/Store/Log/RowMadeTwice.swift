import SatchelRows

/// Inserts that meet a row with the same key. Usually another replica made that row.
extension HubStore {
  /// Whether the row that an insert meets may contain the counters of this insert.
  ///
  /// That is so if the device held or wrote the row, deleted it, and inserts it again. In a former epoch it is also
  /// so if another device brought the row from the time that this hub lost. Otherwise another replica made the row: a
  /// bundle is merged once, and `SharedChanges` removes the work that a copy of the device delivered.
  /// - Parameters:
  ///   - past: the known history of the row.
  ///   - base: the state from which the device inserted the row.
  ///   - held: the rows that the device held then.
  ///   - isOwn: whether the device wrote a log entry before the insert.
  func mayContain(
    insertOf past: RowNumbers.Entry?, in place: Int, from base: ChangeBase, holding held: HeldAtBase,
    isOwn: (LogEntry) -> Bool
  ) throws -> Bool {
    if let past, base.cursor != nil, try held.hasSent(past, in: place) { return true }
    // If the log does not reach back to the insert of the row, a former epoch may have made the row.
    var mayContain = base.isFormerEpoch
    try eachChange(of: past) { entry in
      if isOwn(entry) || base.isFormerEpoch && entry.device == nil {
        mayContain = true
        return .enough
      }
      if entry.operation != .insert { return .more }
      mayContain = false
      return .enough
    }
    return mayContain
  }
}
