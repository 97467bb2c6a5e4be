import SatchelCapture
import SatchelSQLite
import SatchelValues

/// The readings of the hub's own clock, and stamps that it gave while it was wrong.
extension HubStore {
  /// The clock's reading when the hub last imported or made a bundle, in milliseconds since 1970. Zero if it never did.
  func clockReading() throws -> Int64 { try database.first("SELECT clock FROM satchel_hub") { $0.integer(0) } ?? 0 }

  func saveClockReading(_ time: Int64) throws {
    try database.run("UPDATE satchel_hub SET clock = :time", ["time": .integer(time)])
  }

  /// nil if no fault of the clock is known.
  func clockFault(at now: Int64) throws -> ClockFault? { try ClockFault(now: now, last: clockReading()) }

  /// The newest stamp that is accepted at this time. A stamp that devices were sent is accepted, whatever the clock
  /// shows now.
  /// - Parameter slack: the most by which a correct stamp may be ahead of the clock, in milliseconds.
  func newestBelievedStamp(at now: Int64, slack: Int64) throws -> Stamp {
    let known = try Capture.newestStamp(in: database)
    let limit = Stamp(milliseconds: now + slack)
    // A writer that has seen that stamp writes just above it: a minute has room for four thousand million writes.
    return known < limit ? limit : Stamp(milliseconds: known.milliseconds + 60_000)
  }

  /// Rows that were written at the hub while its clock was far ahead, and that were not sent yet. nil if there are
  /// none.
  func clockFaultOfWrites(at now: Int64) throws -> ClockFault? {
    let newest = try max(
      PreImageStore.newestStamp(tables, in: database), Capture.newestUnsettledWrite(tables, in: database))
    let isBelieved = try newest <= newestBelievedStamp(at: now, slack: ClockFault.tolerance)
    return isBelieved ? nil : .writes(now: now, newest: newest.milliseconds)
  }

  /// Gives the present time to rows that were written while the hub's clock was far ahead. Their order stays. The
  /// caller holds a transaction.
  func restampWrites(at now: Int64) throws {
    let limit = try newestBelievedStamp(at: now, slack: ClockFault.tolerance)
    for table in tables {
      let first = try Capture.tick(now: now, in: database)
      let last = try PreImageStore.restamp(table, above: limit, from: first, in: database)
      try Capture.witness(last, in: database)
    }
  }
}
