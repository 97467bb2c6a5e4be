import SatchelCapture
import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// Records local writes at the hub in the log. Anything that writes at the hub counts, such as an administrator's SQL.
extension HubStore {
  private struct IsEnough: Error {}

  /// Records local writes in the log, and also the reading of the clock. The caller must hold a transaction.
  ///
  /// Throws a `Refusal` if the hub's clock cannot be right now, or was not right at the time of a write. A wrong time
  /// must not enter the log before a person is asked.
  /// - Parameter limit: the most rows to record. The other rows wait for the next call.
  /// - Returns: whether no row is left.
  @discardableResult func logLocalWrites(user: String, at now: Int64, limit: Int = .max) throws -> Bool {
    try passClock(at: now)
    try Capture.settle(tables, in: database)
    var rest = limit
    // The newest stamp of only the recorded rows. A search in all waiting rows would cost too much at each call.
    var newest = Stamp.zero
    let latest = try newestBelievedStamp(at: now, slack: ClockFault.tolerance)
    for (place, table) in tables.enumerated() {
      var done: [RowKey] = []
      do {
        try PreImageStore.each(table, since: .zero, in: database) { key, images, current in
          if rest == 0 { throw IsEnough() }
          rest -= 1
          if limit < .max { done.append(key) }
          newest = max(newest, images.last?.stamp ?? .zero)
          if newest > latest { throw ClockFault(.writes(now: now, newest: newest.milliseconds), by: clock).refusal() }
          for (image, change) in SatchelValues.changes(from: images, to: current) {
            try log(
              change, of: key, in: place,
              from: Origin(device: nil, user: user, stamp: image.stamp, bundle: nil, returnsToAuthor: false, at: now))
          }
        }
      } catch is IsEnough {
        try Capture.witness(newest, in: database)
        for table in tables[..<place] { try PreImageStore.forget(before: Generation(Int64.max), [table], in: database) }
        for key in done { try PreImageStore.replace([], of: key, in: table, database: database) }
        return false
      }
    }
    try Capture.witness(newest, in: database)
    try PreImageStore.forget(before: Generation(Int64.max), tables, in: database)
    try Capture.forgetUnits(before: Generation(Int64.max), in: database)
    return true
  }

  /// The number of rows that one transaction records. It takes about a second. Apps wait much longer for a lock.
  private static let portion = 30_000

  /// Records local writes like `logLocalWrites`, but in portions: one transaction for each, with pauses for other
  /// writers. SQLite has no lock queue: a waiting connection polls every 100 ms. After this, the caller's own work has
  /// few rows left to record.
  func absorbAhead(user: String, clock: any WallClock) throws {
    func absorbSome() throws -> Bool {
      try writeTransaction(.commit) { try logLocalWrites(user: user, at: clock.milliseconds(), limit: Self.portion) }
    }
    while try !absorbSome() { clock.pause(milliseconds: 150) }
  }
}
