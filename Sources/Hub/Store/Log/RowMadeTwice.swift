import SatchelRows

/// Inserts of a device that meet a row with the same key. Usually another replica made that row.
extension HubStore {
  /// Whether the row that an insert meets may already contain the counters of this insert.
  ///
  /// That is so if the device held or wrote the row, deleted it, and inserts it again. In a former epoch, another
  /// device may also have brought the row back from the lost time. In all other cases another replica made the row. A
  /// bundle is merged only once, and `SharedChanges` removes work that a copy of the device delivered.
  /// - Parameters:
  ///   - past: the newest entry about the row.
  ///   - base: the state from which the device inserted the row.
  ///   - held: the rows that the device held at that state.
  ///   - isOwn: whether a log entry is a write of the device from before the insert.
  func mayContain(
    insertOf past: RowNumbers.Entry?, in place: Int, from base: ChangeBase, holding held: HeldAtBase,
    isOwn: (LogEntry) -> Bool
  ) throws -> Bool {
    if let past, base.cursor != nil, try held.hasSent(past, in: place) { return true }
    // If the log does not reach back to the row's insert, the row may be from a former epoch.
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
