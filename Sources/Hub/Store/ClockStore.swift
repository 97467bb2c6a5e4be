import SatchelCapture
import SatchelSQLite
import SatchelValues

/// The readings of the hub's own clock, and the stamps that the hub gave while its clock was wrong.
extension HubStore {
  /// The clock's reading when the hub last imported or made a bundle, in milliseconds since 1970. Zero if it never did.
  func clockReading() throws -> Int64 { try database.first("SELECT clock FROM satchel_hub") { $0.integer(0) } ?? 0 }

  func saveClockReading(_ time: Int64) throws {
    try database.run("UPDATE satchel_hub SET clock = :time", ["time": .integer(time)])
  }

  /// The fault of the hub's clock. nil if no fault is known.
  func clockFault(at now: Int64) throws -> ClockFault? { try ClockFault(now: now, last: clockReading()) }

  /// The newest stamp that is accepted at this time. A stamp that was already sent to devices is accepted, whatever the
  /// clock shows now.
  /// - Parameter slack: the most by which a correct stamp may be ahead of the clock, in milliseconds.
  func newestBelievedStamp(at now: Int64, slack: Int64) throws -> Stamp {
    let known = try Capture.newestStamp(in: database)
    let limit = Stamp(milliseconds: now + slack)
    // A writer that has seen the stamp `known` writes just above it. A minute has room for four thousand million
    // writes.
    return known < limit ? limit : Stamp(milliseconds: known.milliseconds + 60_000)
  }

  /// The fault of the clock, if rows were written at the hub while its clock was far ahead, and were not sent yet.
  /// Otherwise nil.
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

  /// The fault of the stamps that this hub has given, if they are so far ahead of its clock that devices refuse them.
  /// Otherwise nil.
  func clockFaultOfStamps(at now: Int64) throws -> ClockFault? {
    let limit = now + ClockFault.longestRest
    let newest = try Capture.newestStamp(in: database).milliseconds
    guard newest > limit else { return nil }
    // Each bundle of a device has a stamp above all stamps that the device has seen.
    let holders = try devices().filter { $0.state != .revoked && $0.newestStamp.milliseconds > limit }.map(\.name)
    return .stamps(now: now, newest: newest, holders: holders)
  }

  /// Lowers stamps that are far ahead of the clock to the present, and keeps their order. Does nothing if a device has
  /// such a stamp: the device's next stamps would still be far ahead. The caller holds a transaction, and capture is
  /// settled.
  func lowerStamps(at now: Int64) throws {
    guard case .stamps(_, _, let holders)? = try clockFaultOfStamps(at: now), holders.isEmpty else { return }
    // No stamp goes below the stamps that a device has shown.
    let shown = try devices().filter { $0.state != .revoked }.map(\.newestStamp)
    let columns =
      [
        "satchel_log", "satchel_conflicts", "satchel_removed_elements", "satchel_lost_emissions",
        "satchel_recovered_rows",
      ].map {
        StampColumn(table: $0)
      } + tables.map(RowNumbers.names).map { StampColumn(table: $0.table, column: $0.stamp) }
    try Capture.lowerStamps(
      above: shown.reduce(Stamp(milliseconds: now), max), of: tables, and: columns, in: database)
    // The bundles that lie ready have the former stamps. No device has shown that it took one, so each is made again.
    try database.run(
      """
      UPDATE satchel_emissions
      SET written = 0
      WHERE number > (SELECT proved FROM satchel_devices WHERE id = satchel_emissions.device)
      """)
  }
}
