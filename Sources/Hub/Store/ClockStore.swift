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
    var holders = ClockFault.Holders()
    for device in try devices() where device.state != .revoked {
      // Each bundle of a device has a stamp above all stamps that the device has seen.
      if device.newestStamp.milliseconds > limit {
        holders.shown.append(device.name)
      } else if try newestPossibleStamp(of: device, at: now).milliseconds > limit {
        holders.possible.append(device.name)
      }
    }
    return .stamps(now: now, newest: newest, holders: holders)
  }

  /// The newest stamp that a device may have: of its own bundles, and of the bundles that were made for it and that it
  /// may have imported since.
  private func newestPossibleStamp(of device: EnrolledDevice, at now: Int64) throws -> Stamp {
    let made = try emissions(of: device.id)
    let hasShown = device.newestStamp > .zero
    if made.isEmpty, device.emitted > (hasShown ? device.proved : .zero) {
      // The hub has forgotten these bundles.
      return try Capture.newestStamp(in: database)
    }
    let open = hasShown ? made.filter { $0.number > device.proved } : made
    let limit = Stamp(milliseconds: now + ClockFault.longestRest)
    // A device asks a person before it takes a stamp that is so far ahead of its own time. Release 0.1 did not ask.
    let asks = hasShown && !device.understands.isEmpty
    let oldest = open.first { $0.stamp > limit }
    let hasDelivered = oldest.map { device.merged > $0.acknowledged } ?? false
    let held = asks && hasDelivered ? open.filter { $0.stamp <= limit } : open
    return held.reduce(device.newestStamp) { max($0, $1.stamp) }
  }

  /// Lowers stamps that are far ahead of the clock to the present, and keeps their order. Does nothing if a device has
  /// such a stamp, or may have it: the device's next stamps would still be far ahead. The caller holds a transaction,
  /// and capture is settled.
  func lowerStamps(at now: Int64) throws {
    guard case .stamps(_, _, let holders)? = try clockFaultOfStamps(at: now), holders.isNone else { return }
    // No stamp goes below the stamps that a device may have.
    let possible = try devices().filter { $0.state != .revoked }.map { try newestPossibleStamp(of: $0, at: now) }
    let columns =
      [
        "satchel_log", "satchel_conflicts", "satchel_removed_elements", "satchel_lost_emissions",
        "satchel_recovered_rows",
      ].map {
        TimeColumn(table: $0)
      } + tables.map(RowNumbers.names).map { TimeColumn(table: $0.table, column: $0.stamp) }
    try Capture.lowerStamps(
      above: possible.reduce(Stamp(milliseconds: now), max), of: tables, and: columns, in: database)
    // The bundles that lie ready have the former stamps. No device can have one of them, so each is made again.
    try database.run(
      """
      UPDATE satchel_emissions
      SET written = 0
      WHERE number > (SELECT proved FROM satchel_devices WHERE id = satchel_emissions.device)
      """)
  }

  /// Lowers the hub's own records of times to the present, if they are from a clock that was ahead. Their order and
  /// equality stay: the time of a decision finds the decision's entries in the log. These times never leave the hub.
  /// The caller holds a transaction.
  func lowerTimes(at now: Int64) throws {
    let columns = [
      "satchel_log": ["at"], "satchel_ledger": ["at"], "satchel_conflicts": ["noted", "decided_at"],
      "satchel_devices": ["enrolled", "heard"], "satchel_former_users": ["at"], "satchel_rekeyed": ["at"],
      "satchel_branches": ["at"], "satchel_versions": ["at"], "satchel_revoked": ["at"], "satchel_set_back": ["at"],
      "satchel_braked": ["at"],
      "satchel_lost_emissions": ["at"], "satchel_proofs": ["at", "verified"], "satchel_health": ["at", "doctor_at"],
    ]
    try TimeColumn.lower(
      columns.flatMap { table, names in names.map { TimeColumn(table: table, column: $0) } }, above: now, in: database)
  }
}
