import SatchelCapture
import SatchelSQLite
import SatchelValues

/// What the hub's own clock has shown, and stamps that it gave while it was wrong.
extension HubStore {
  /// What the clock showed when the hub imported or made a bundle last, in milliseconds since 1970; zero: never.
  func clockReading() throws -> Int64 { try database.first("SELECT clock FROM satchel_hub") { $0.integer(0) } ?? 0 }

  func saveClockReading(_ time: Int64) throws {
    try database.run("UPDATE satchel_hub SET clock = :time", ["time": .integer(time)])
  }

  /// nil: as far as anybody knows, the clock is right.
  func clockFault(at now: Int64) throws -> ClockFault? { try ClockFault(now: now, last: clockReading()) }

  /// The newest stamp that is believed at this time: one that devices were sent is, whatever the clock shows by now.
  /// - Parameter slack: by how much a right stamp may be ahead of the clock, in milliseconds.
  func newestBelievedStamp(at now: Int64, slack: Int64) throws -> Stamp {
    let known = try Capture.newestStamp(in: database)
    let limit = Stamp(milliseconds: now + slack)
    // Who has seen that stamp writes just above it: a minute has room for four thousand million writes.
    return known < limit ? limit : Stamp(milliseconds: known.milliseconds + 60_000)
  }

  /// What somebody wrote at the hub while its clock was far ahead, and nobody was sent yet; nil: nothing.
  func clockFaultOfWrites(at now: Int64) throws -> ClockFault? {
    let newest = try max(
      PreImageStore.newestStamp(tables, in: database), Capture.newestUnsettledWrite(tables, in: database))
    let isBelieved = try newest <= newestBelievedStamp(at: now, slack: ClockFault.tolerance)
    return isBelieved ? nil : .writes(now: now, newest: newest.milliseconds)
  }

  /// Gives the present time to what somebody wrote at the hub while its clock was far ahead. Who wrote later is still
  /// the later one. The caller holds a transaction.
  func restampWrites(at now: Int64) throws {
    let limit = try newestBelievedStamp(at: now, slack: ClockFault.tolerance)
    for table in tables {
      let first = try Capture.tick(now: now, in: database)
      let last = try PreImageStore.restamp(table, above: limit, from: first, in: database)
      try Capture.witness(last, in: database)
    }
  }
}
