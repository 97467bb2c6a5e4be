import SatchelBundle
import SatchelSQLite
import SatchelValues

/// The health of a device, from its newest merged bundle. It is for people: no decision depends on it.
public struct DeviceHealth: Equatable, Sendable {
  /// The last run of the doctor on the device.
  public struct Doctor: Equatable, Sendable {
    /// In milliseconds since 1970.
    public let at: Int64
    public let result: Manifest.Changes.Health.Doctor.Result
  }

  /// The time when the device made the bundle, in milliseconds since 1970.
  public let at: Int64
  /// The version of Satchel on the device.
  public let satchel: String
  /// The free space of the disk with the device's database, in bytes.
  public let freeBytes: Int64
  public let databaseBytes: Int64
  /// The number of refused files on the device.
  public let quarantined: Int64
  /// The last run of the doctor. nil if the doctor never ran on the device.
  public let doctor: Doctor?

  /// With less free space, a disk counts as nearly full. A repair needs as much free space as the database has.
  public static let leastFreeBytes: Int64 = 200 << 20

  public var isDiskNearlyFull: Bool { freeBytes < max(Self.leastFreeBytes, databaseBytes) }

  /// Whether the last run of the doctor found faults, and some of them are still there.
  public var hasFaults: Bool { doctor?.result == .faults }
}

extension HubStore {
  /// One row for each device whose newest bundle describes its health.
  static let health = """
    CREATE TABLE satchel_health (
      device TEXT PRIMARY KEY,
      at INTEGER NOT NULL,             -- milliseconds since 1970 when it made the bundle; never after the import
      satchel TEXT NOT NULL,           -- the version of Satchel there
      free_bytes INTEGER NOT NULL,     -- of the disk with its database
      database_bytes INTEGER NOT NULL,
      quarantined INTEGER NOT NULL,    -- number of refused files there
      doctor_at INTEGER,               -- milliseconds since 1970 when the doctor last ran there; NULL: never
      doctor_result TEXT               -- well, repaired, faults; NULL: it never ran
    ) WITHOUT ROWID
    """

  /// The health of a device. nil if the device's newest bundle does not describe it.
  func health(of device: ReplicaID) throws -> DeviceHealth? {
    try database.first(
      """
      SELECT at, satchel, free_bytes, database_bytes, quarantined, doctor_at, doctor_result
      FROM satchel_health
      WHERE device = :device
      """, ["device": .string(device.text)]
    ) { row in
      let result = row.optionalText(6).flatMap { Manifest.Changes.Health.Doctor.Result(rawValue: $0) }
      let doctor = row.optionalInteger(5).flatMap { at in result.map { DeviceHealth.Doctor(at: at, result: $0) } }
      return DeviceHealth(
        at: row.integer(0), satchel: row.text(1), freeBytes: row.integer(2), databaseBytes: row.integer(3),
        quarantined: row.integer(4), doctor: doctor)
    }
  }

  /// Replaces the record of a device's health.
  /// - Parameter health: nil if the newest bundle does not describe it. For nil, this method deletes the record.
  func save(_ health: DeviceHealth?, of device: ReplicaID) throws {
    guard let health else {
      return try database.run("DELETE FROM satchel_health WHERE device = :device", ["device": .string(device.text)])
    }
    try database.run(
      """
      INSERT OR REPLACE INTO satchel_health (
        device, at, satchel, free_bytes, database_bytes, quarantined, doctor_at, doctor_result)
      VALUES (:device, :at, :satchel, :free, :size, :quarantined, :doctor, :result)
      """,
      [
        "device": .string(device.text), "at": .integer(health.at), "satchel": .string(health.satchel),
        "free": .integer(health.freeBytes), "size": .integer(health.databaseBytes),
        "quarantined": .integer(health.quarantined), "doctor": health.doctor.map { .integer($0.at) } ?? .null,
        "result": health.doctor.map { .string($0.result.rawValue) } ?? .null,
      ])
  }
}
