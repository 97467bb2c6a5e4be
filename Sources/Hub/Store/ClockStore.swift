import SatchelCapture
import SatchelSQLite
import SatchelValues

/// The readings of the hub's own clock, and the stamps that the hub gave while its clock was wrong.
extension HubStore {
  /// The clock's reading when the hub last worked, in milliseconds since 1970. Zero if it never did.
  func clockReading() throws -> Int64 { try database.first("SELECT clock FROM satchel_hub") { $0.integer(0) } ?? 0 }

  func saveClockReading(_ time: Int64) throws {
    try database.run("UPDATE satchel_hub SET clock = :time", ["time": .integer(time)])
  }

  /// Forgets how far the devices' clocks were ahead of this hub's clock. The next report of a device shows it again.
  func forgetSkews() throws { try database.run("UPDATE satchel_devices SET skew = 0") }

  /// Throws a `Refusal` if the hub's clock cannot be right. Also throws it if the clock was wrong when the hub gave
  /// stamps that no device can have.
  func checkClock(at now: Int64) throws {
    if let fault = try clockFault(at: now) ?? clockFaultOfLog(at: now) { throw fault.refusal() }
  }

  /// Checks the hub's clock as `checkClock` does, and records its reading. The caller holds a transaction.
  func passClock(at now: Int64) throws {
    try checkClock(at: now)
    // A write costs more than a read. The tolerance is an hour, so a minute's delay does no harm.
    if try now > clockReading() + 60_000 { try saveClockReading(now) }
  }

  /// The fault of the hub's clock. nil if no fault is known.
  func clockFault(at now: Int64) throws -> ClockFault? { try ClockFault(now: now, last: clockReading(), by: clock) }

  /// The fault of the clock, if changes in the log have stamps that are far ahead, and no device can have these stamps.
  /// Otherwise nil.
  func clockFaultOfLog(at now: Int64) throws -> ClockFault? {
    let newest = try Capture.newestStamp(in: database).milliseconds
    guard newest > now + ClockFault.tolerance,
      try newest > newestHeldStamp(at: now).milliseconds + ClockFault.tolerance
    else { return nil }
    return ClockFault(.writes(now: now, newest: newest), by: clock)
  }

  /// The newest stamp that is accepted at this time. A stamp that was already sent to devices is accepted, whatever the
  /// clock shows now.
  /// - Parameter slack: the most by which a correct stamp may be ahead of the clock, in milliseconds.
  func newestBelievedStamp(at now: Int64, slack: Int64) throws -> Stamp {
    let known = try Capture.newestStamp(in: database)
    let limit = Stamp(milliseconds: now + slack)
    // A writer that has seen the stamp `known` writes just above it. A second has room for sixty-five million writes. A
    // device that claims more in each of its bundles would need millions of bundles to bring the hub's stamps to where
    // other devices refuse them.
    return known < limit ? limit : Stamp(milliseconds: known.milliseconds + 1_000)
  }

  /// The fault of the clock, if rows were written at the hub while its clock was far ahead, and were not sent yet.
  /// Otherwise nil.
  func clockFaultOfWrites(at now: Int64) throws -> ClockFault? {
    let newest = try max(
      PreImageStore.newestStamp(tables, in: database), Capture.newestUnsettledWrite(tables, in: database))
    let isBelieved = try newest <= newestBelievedStamp(at: now, slack: ClockFault.tolerance)
    return isBelieved ? nil : ClockFault(.writes(now: now, newest: newest.milliseconds), by: clock)
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

  /// The fault of this hub's newest stamp, if it is so far ahead of the hub's clock that devices refuse it. nil
  /// otherwise.
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
    return ClockFault(.stamps(now: now, newest: newest, holders: holders), by: clock)
  }

  /// The newest stamp that a device may have: of its own bundles, of the bundles that were made for it and that it may
  /// have imported since, and of the bundles that it brought from a lost time.
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
    return try held.reduce(max(device.newestStamp, newestLostStamp(of: device.id))) { max($0, $1.stamp) }
  }

  /// The newest stamp of the bundles that a device brought from a lost time. Zero if it brought none.
  private func newestLostStamp(of device: ReplicaID) throws -> Stamp {
    try database.first(
      "SELECT max(stamp) FROM satchel_lost_emissions WHERE device = :device", ["device": .string(device.text)]
    ) { Stamp($0.integer(0)) } ?? .zero
  }

  /// The newest stamp that a device may have, or the present time if it is later.
  private func newestHeldStamp(at now: Int64) throws -> Stamp {
    try devices().filter { $0.state != .revoked }.map { try newestPossibleStamp(of: $0, at: now) }
      .reduce(Stamp(milliseconds: now), max)
  }

  /// Lowers stamps that are far ahead of the clock to the present, and keeps their order. No stamp goes below a stamp
  /// that a device may have: the device's next stamps would still be far ahead. The caller holds a transaction, and
  /// capture is settled.
  func lowerStamps(at now: Int64) throws {
    let (newest, floor) = try (Capture.newestStamp(in: database), newestHeldStamp(at: now))
    guard newest.milliseconds > now + ClockFault.tolerance, newest > floor else { return }
    let columns =
      [
        "satchel_log", "satchel_conflicts", "satchel_known_writes", "satchel_lost_emissions",
        "satchel_recovered_rows",
      ].map {
        TimeColumn(table: $0)
      } + tables.map(RowNumbers.names).map { TimeColumn(table: $0.table, column: $0.stamp) }
    try Capture.lowerStamps(above: floor, of: tables, and: columns, in: database)
    // Some bundles that lie ready have the former stamps. No device can have one of them, so each is made again.
    try database.run(
      """
      UPDATE satchel_emissions
      SET written = 0
      WHERE stamp > :floor AND number > (SELECT proved FROM satchel_devices WHERE id = satchel_emissions.device)
      """, ["floor": .integer(floor.rawValue)])
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
