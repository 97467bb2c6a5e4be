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

  /// Forgets by how much the devices' clocks were ahead of this hub's clock. Each device's next bundle shows it again.
  func forgetSkews() throws { try database.run("UPDATE satchel_devices SET skew = 0") }

  /// Throws a `Refusal` if the hub's clock cannot be right. Also throws if the clock was wrong when the hub gave stamps
  /// that no device can have.
  func checkClock(at now: Int64) throws {
    if let fault = try clockFault(at: now) ?? clockFaultOfLog(at: now) { throw fault.refusal() }
  }

  /// Checks the hub's clock as `checkClock` does. Records the clock's reading, and the stamps that are ahead of it. The
  /// caller must hold a transaction.
  func passClock(at now: Int64) throws {
    try checkClock(at: now)
    // A write costs more than a read, so the reading is recorded only once a minute. The tolerance is an hour.
    if try now > clockReading() + 60_000 { try saveClockReading(now) }
    try noteDoubtfulTimes(at: now)
  }

  /// The fault of the hub's clock. nil if no fault is known.
  func clockFault(at now: Int64) throws -> ClockFault? { try ClockFault(now: now, last: clockReading(), by: clock) }

  /// Returns a fault if the log has stamps far ahead of the clock, and no device has received stamps that new.
  /// Otherwise returns nil.
  func clockFaultOfLog(at now: Int64) throws -> ClockFault? {
    let newest = try Capture.newestStamp(in: database).milliseconds
    guard newest > now + ClockFault.tolerance,
      try newest > newestHeldStamp(at: now).milliseconds + ClockFault.tolerance
    else { return nil }
    return ClockFault(.writes(now: now, newest: newest), by: clock)
  }

  /// The newest stamp that the hub accepts at this time. The hub always accepts stamps that it has seen or given
  /// before, whatever its clock shows now.
  /// - Parameter slack: the most by which a correct stamp may be ahead of the clock, in milliseconds.
  func newestBelievedStamp(at now: Int64, slack: Int64) throws -> Stamp {
    let known = try Capture.newestStamp(in: database)
    let limit = Stamp(milliseconds: now + slack)
    // A writer that knows the stamp `known` writes just above it. One second has room for sixty-five million writes. A
    // device could claim a second more in each bundle. It would need millions of bundles until other devices refuse the
    // hub's stamps.
    return known < limit ? limit : Stamp(milliseconds: known.milliseconds + 1_000)
  }

  /// A fault if rows with stamps far ahead of the clock were written at the hub and are not sent yet. Otherwise nil.
  func clockFaultOfWrites(at now: Int64) throws -> ClockFault? {
    let newest = try max(
      PreImageStore.newestStamp(tables, in: database), Capture.newestUnsettledWrite(tables, in: database))
    let isBelieved = try newest <= newestBelievedStamp(at: now, slack: ClockFault.tolerance)
    return isBelieved ? nil : ClockFault(.writes(now: now, newest: newest.milliseconds), by: clock)
  }

  /// Gives the present time to rows that were written while the hub's clock was far ahead. Their order stays. The
  /// caller must hold a transaction.
  func restampWrites(at now: Int64) throws {
    let limit = try newestBelievedStamp(at: now, slack: ClockFault.tolerance)
    for table in tables {
      let first = try Capture.tick(now: now, in: database)
      let last = try PreImageStore.restamp(table, above: limit, from: first, in: database)
      try Capture.witness(last, in: database)
    }
  }

  /// A fault if the hub's newest stamp is so far ahead of its clock that devices refuse it. Otherwise nil.
  func clockFaultOfStamps(at now: Int64) throws -> ClockFault? {
    let limit = now + ClockFault.longestRest
    let newest = try Capture.newestStamp(in: database).milliseconds
    guard newest > limit else { return nil }
    var holders = ClockFault.Holders()
    for device in try devices() where device.state != .revoked {
      // A device's bundle has a stamp above all stamps that the device has seen.
      if device.newestStamp.milliseconds > limit {
        holders.shown.append(device.name)
      } else if try newestPossibleStamp(of: device, at: now).milliseconds > limit {
        holders.possible.append(device.name)
      }
    }
    return ClockFault(.stamps(now: now, newest: newest, holders: holders), by: clock)
  }

  /// The newest stamp that a device may have. It may have the stamps of its own bundles, and of later bundles that the
  /// hub made for it. It may also have the stamps of bundles that it brought from a lost time.
  private func newestPossibleStamp(of device: EnrolledDevice, at now: Int64) throws -> Stamp {
    let made = try emissions(of: device.id)
    let hasShown = device.newestStamp > .zero
    if made.isEmpty, device.emitted > (hasShown ? device.proved : .zero) {
      // The hub has forgotten its emissions for this device, so any stamp is possible.
      return try Capture.newestStamp(in: database)
    }
    let open = hasShown ? made.filter { $0.number > device.proved } : made
    let limit = Stamp(milliseconds: now + ClockFault.longestRest)
    // A device asks a person before it imports a stamp that is so far ahead of its clock. Release 0.1 does not ask.
    let asks = hasShown && !device.understands.isEmpty
    let oldest = open.first { $0.stamp > limit }
    let hasDelivered = oldest.map { device.merged > $0.acknowledged } ?? false
    let held = asks && hasDelivered ? open.filter { $0.stamp <= limit } : open
    return try held.reduce(max(device.newestStamp, newestLostStamp(of: device.id))) { max($0, $1.stamp) }
  }

  /// The newest stamp in the bundles that a device brought from a lost time. Zero if it brought none.
  private func newestLostStamp(of device: ReplicaID) throws -> Stamp {
    try database.first(
      "SELECT max(stamp) FROM satchel_lost_emissions WHERE device = :device", ["device": .string(device.text)]
    ) { Stamp($0.integer(0)) } ?? .zero
  }

  /// The newest stamp that any device may have, or the present time if that is later.
  private func newestHeldStamp(at now: Int64) throws -> Stamp {
    try devices().filter { $0.state != .revoked }.map { try newestPossibleStamp(of: $0, at: now) }
      .reduce(Stamp(milliseconds: now), max)
  }

  /// Lowers stamps that are far ahead of the clock to the present time. Their order stays. No stamp goes below a stamp
  /// that a device may have, because that device's next stamps would still be far ahead. The caller must hold a
  /// transaction, and must have settled capture.
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
    // Bundles in the outbox may have the former stamps. No device has imported them, so they are made again.
    try database.run(
      """
      UPDATE satchel_emissions
      SET written = 0
      WHERE stamp > :floor AND number > (SELECT proved FROM satchel_devices WHERE id = satchel_emissions.device)
      """, ["floor": .integer(floor.rawValue)])
  }

  /// Lowers times in the hub's own records to the present, if a clock that was ahead gave them. Their order stays.
  /// Equal times stay equal, because the time of a decision finds its entries in the log. These times never leave the
  /// hub. The caller must hold a transaction.
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
