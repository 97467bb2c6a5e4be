import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues

/// An emission of an earlier epoch that this hub signed and did not know. A device has brought its file.
struct LostEmission {
  let device: ReplicaID
  let link: Manifest.EmissionLink
  /// The file's name in `bundles/archive/lost`. nil if the file was not kept, because its signing key is not trusted
  /// any more.
  let file: String?
}

/// The records of the recovery of the lost time.
extension HubStore {
  /// One row for each emission of the lost time that came.
  static let lostEmissions = """
    CREATE TABLE satchel_lost_emissions (
      digest TEXT PRIMARY KEY, -- of its B2SUMS
      device TEXT NOT NULL,    -- for which it was made
      number INTEGER NOT NULL,
      stamp INTEGER NOT NULL,  -- of its making, by the clock of the hub that was lost
      file TEXT,               -- its name in bundles/archive/lost; NULL: it was not kept
      at INTEGER NOT NULL,     -- milliseconds since 1970 when it came
      merged INTEGER NOT NULL DEFAULT 0, -- 1: its rows are in
      told INTEGER             -- the emission that first told the device that it came; NULL: none yet
    ) WITHOUT ROWID
    """

  /// One row for each emission of the lost time that a device has and has not brought yet.
  static let awaitedEmissions = """
    CREATE TABLE satchel_awaited_emissions (
      device TEXT NOT NULL,
      digest TEXT NOT NULL, -- of its B2SUMS; '': the device may have more than its newest bundle could name
      PRIMARY KEY (device, digest)
    ) WITHOUT ROWID
    """

  /// One row for each emission that a device may have had when a lost time was found. Emissions of the lost time build
  /// on these emissions. When devices come into the new epoch, the hub forgets its other records of these emissions.
  static let formerEmissions = """
    CREATE TABLE satchel_former_emissions (
      digest TEXT PRIMARY KEY, -- of its B2SUMS
      cursor INTEGER NOT NULL  -- the newest change in the log when it was made
    ) WITHOUT ROWID
    """

  static func keepFormerEmissions(in database: borrowing Database) throws {
    try database.run(
      """
      INSERT OR IGNORE INTO satchel_former_emissions (digest, cursor)
      SELECT digest, cursor FROM satchel_emissions WHERE digest IS NOT NULL
      """)
  }

  /// The hub's cursor at each emission on which an emission of a lost time may build.
  func formerEmissionCursors() throws -> [Digest: Cursor] {
    var cursors: [Digest: Cursor] = [:]
    try database.each("SELECT digest, cursor FROM satchel_former_emissions") { row in
      if let digest = Digest(hexadecimal: row.text(0)) { cursors[digest] = Cursor(row.integer(1)) }
    }
    return cursors
  }

  /// Whether the recovery of the lost time is running.
  func isRecovering() throws -> Bool {
    try database.first("SELECT recovering FROM satchel_hub") { $0.integer(0) != 0 } ?? false
  }

  /// Records, at the beginning of an epoch, that a lost time must be recovered. An earlier recovery may still be
  /// running, and then goes on. In that case, emissions of the former epoch may lack rows of the older lost time.
  func beginRecovery() throws {
    try database.run("UPDATE satchel_hub SET recovering = min(recovering + 1, 2)")
    try Self.keepFormerEmissions(in: database)
  }

  /// Records that an emission of a lost time came after the recovery of that time.
  func resumeRecovery() throws { try database.run("UPDATE satchel_hub SET recovering = max(recovering, 1)") }

  func endRecovery() throws { try database.run("UPDATE satchel_hub SET recovering = 0") }

  /// Whether emissions of an earlier epoch may lack rows of a still older lost time.
  private func isRecoveringAgain() throws -> Bool {
    try database.first("SELECT recovering FROM satchel_hub") { $0.integer(0) == 2 } ?? false
  }

  /// Records an emission of the lost time that came. If it is recorded already, that record stays.
  func add(_ emission: LostEmission, made stamp: Stamp, at time: Int64) throws {
    try database.run(
      """
      INSERT OR IGNORE INTO satchel_lost_emissions (digest, device, number, stamp, file, at)
      VALUES (:digest, :device, :number, :stamp, :file, :at)
      """,
      [
        "digest": .string(emission.link.digest.hexadecimal), "device": .string(emission.device.text),
        "number": .integer(emission.link.number.rawValue), "stamp": .integer(stamp.rawValue),
        "file": emission.file.map { .string($0) } ?? .null, "at": .integer(time),
      ])
    try database.run(
      "DELETE FROM satchel_awaited_emissions WHERE digest = :digest",
      ["digest": .string(emission.link.digest.hexadecimal)])
  }

  /// The emissions of the lost time that came and are not merged yet, the newest first.
  func lostEmissionsToMerge() throws -> [LostEmission] {
    try database.all(
      """
      SELECT device, number, digest, file
      FROM satchel_lost_emissions
      WHERE merged = 0 AND file IS NOT NULL
      ORDER BY stamp DESC, number DESC, digest
      """
    ) { row -> LostEmission? in
      guard let digest = Digest(hexadecimal: row.text(2)) else { return nil }
      let link = Manifest.EmissionLink(number: EmissionNumber(row.integer(1)), digest: digest)
      return LostEmission(device: ReplicaID(unchecked: row.text(0)), link: link, file: row.optionalText(3))
    }.compactMap(\.self)
  }

  /// Forgets that an emission came. The record stays if the emission's device may know that it came, because such a
  /// device does not bring it again.
  func forgetUntold(_ emission: Manifest.EmissionLink) throws {
    try database.run(
      "DELETE FROM satchel_lost_emissions WHERE digest = :digest AND told IS NULL",
      ["digest": .string(emission.digest.hexadecimal)])
  }

  func markLostEmissionsMerged() throws { try database.run("UPDATE satchel_lost_emissions SET merged = 1") }

  /// Whether an emission of the lost time came.
  func isCollected(_ digest: Digest) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_lost_emissions WHERE digest = :digest", ["digest": .string(digest.hexadecimal)]
    ) { _ in true } ?? false
  }

  /// Whether a device's newest bundle names this emission of the lost time, and the emission has not come.
  func isAwaited(_ digest: Digest, from device: ReplicaID) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_awaited_emissions WHERE device = :device AND digest = :digest",
      ["device": .string(device.text), "digest": .string(digest.hexadecimal)]
    ) { _ in true } ?? false
  }

  /// Whether a device's newest bundle names any emission of the lost time that has not come.
  func isAnyAwaited(from device: ReplicaID) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_awaited_emissions WHERE device = :device", ["device": .string(device.text)]
    ) { _ in true } ?? false
  }

  /// Treats all emissions that a device's newest bundle names as if they had come. Their files are not kept, and their
  /// numbers and times are not known. The caller must hold the transaction.
  func noteArrivalOfAwaited(from device: ReplicaID, at time: Int64) throws {
    let digests = try database.all(
      "SELECT digest FROM satchel_awaited_emissions WHERE device = :device AND digest <> ''",
      ["device": .string(device.text)]
    ) { Digest(hexadecimal: $0.text(0)) }.compactMap(\.self)
    for digest in digests {
      let link = Manifest.EmissionLink(number: .zero, digest: digest)
      try add(LostEmission(device: device, link: link, file: nil), made: .zero, at: time)
    }
  }

  /// The digests of emissions that a device need not bring: those that came, and those of earlier epochs that this hub
  /// knows. Emissions that no bundle has named to the device yet come first. Then come the emissions that were named
  /// most recently.
  /// - Parameter most: the number of emissions that one bundle can name.
  func collected(from device: ReplicaID, most: Int) throws -> [Digest] {
    try database.all(
      """
      SELECT digest
      FROM (
        SELECT digest, coalesce(told, :untold) AS told FROM satchel_lost_emissions WHERE device = :device
        UNION ALL
        SELECT digest, 0 FROM satchel_emissions WHERE device = :device AND digest IS NOT NULL AND number < :first
      )
      GROUP BY digest
      ORDER BY max(told) DESC, digest
      LIMIT :most
      """,
      [
        "device": .string(device.text), "first": .integer(identity.firstEmission.rawValue),
        "untold": .integer(.max), "most": .integer(Int64(most)),
      ]
    ) { Digest(hexadecimal: $0.text(0)) }.compactMap(\.self).sorted { $0.hexadecimal < $1.hexadecimal }
  }

  /// The digests of the emissions of earlier epochs that this hub knows to have made for a device. So the hub has all
  /// rows from before them. For any other emission that came, the hub has only the file.
  func knownEmissions(for device: EnrolledDevice) throws -> [Digest] {
    if try isRecoveringAgain() { return [] }
    return try database.all(
      """
      SELECT digest FROM satchel_emissions WHERE device = :device AND digest IS NOT NULL AND number < :first
      UNION
      SELECT lost.digest
      FROM satchel_lost_emissions AS lost JOIN satchel_ledger AS made
        ON made.peer = :peer AND made.kind = 'scope' AND made.direction = 'out' AND made.number = lost.number
          AND made.digest = lost.digest
      WHERE lost.device = :device
      ORDER BY 1
      LIMIT :most
      """,
      [
        "device": .string(device.id.text), "first": .integer(identity.firstEmission.rawValue),
        "peer": .string(device.name), "most": .integer(Int64(Manifest.Changes.mostBrought)),
      ]
    ) { Digest(hexadecimal: $0.text(0)) }.compactMap(\.self)
  }

  /// Whether an emission that a device brought has come, and no bundle has said so to the device yet.
  func mustTellCollected(_ device: ReplicaID) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_lost_emissions WHERE device = :device AND told IS NULL", ["device": .string(device.text)]
    ) { _ in true } ?? false
  }

  /// Records that this emission names the emissions that `collected` returns.
  func markCollectedTold(to device: ReplicaID, by number: EmissionNumber, most: Int) throws {
    try database.run(
      """
      UPDATE satchel_lost_emissions
      SET told = :number
      WHERE digest IN (
        SELECT digest
        FROM satchel_lost_emissions
        WHERE device = :device AND told IS NULL
        ORDER BY digest
        LIMIT :most
      )
      """,
      ["device": .string(device.text), "number": .integer(number.rawValue), "most": .integer(Int64(most))])
  }

  /// Records which emissions of the lost time a device has, as its newest bundle names them. If the bundle names as
  /// many as possible, the device may have more. Then later bundles name the others.
  func noteBrought(_ changes: Manifest.Changes, by device: EnrolledDevice, most: Int) throws {
    try database.run(
      "DELETE FROM satchel_awaited_emissions WHERE device = :device", ["device": .string(device.id.text)])
    for digest in changes.brings {
      if try isCollected(digest) {
        try tellAgain(digest, to: device, after: changes.received)
      } else if try !isMade(digest, for: device) {
        try noteAwaited(digest.hexadecimal, from: device)
      }
    }
    if changes.brings.count == most { try noteAwaited("", from: device) }
  }

  private func noteAwaited(_ digest: String, from device: EnrolledDevice) throws {
    try database.run(
      "INSERT OR IGNORE INTO satchel_awaited_emissions (device, digest) VALUES (:device, :digest)",
      ["device": .string(device.id.text), "digest": .string(digest)])
  }

  /// Makes the next bundle to a device name an emission again that came before. The device still brings this emission,
  /// although it received the bundle that first named it. Later bundles had no room for the name, so the device began
  /// to bring the emission again.
  private func tellAgain(_ digest: Digest, to device: EnrolledDevice, after received: EmissionNumber) throws {
    try database.run(
      "UPDATE satchel_lost_emissions SET told = NULL WHERE digest = :digest AND device = :device AND told <= :received",
      [
        "digest": .string(digest.hexadecimal), "device": .string(device.id.text),
        "received": .integer(received.rawValue),
      ])
  }

  private func isMade(_ digest: Digest, for device: EnrolledDevice) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_ledger WHERE peer = :peer AND kind = 'scope' AND direction = 'out' AND digest = :digest",
      ["peer": .string(device.name), "digest": .string(digest.hexadecimal)]
    ) { _ in true } ?? false
  }

  /// The names of the active devices that have not delivered in this epoch yet. A device without keys never delivers,
  /// so this list does not have it.
  func silentDevices() throws -> [String] {
    try devices().filter { $0.state == .active && !$0.onlyReceives && $0.proved < identity.firstEmission }.map(\.name)
  }

  /// Counts the emissions of the lost time that each active device has and has not brought yet. The list is sorted by
  /// the names of the devices.
  func awaitedEmissions() throws -> [(device: String, count: Int64)] {
    try database.all(
      """
      SELECT devices.name, count(*)
      FROM satchel_awaited_emissions AS awaited JOIN satchel_devices AS devices ON devices.id = awaited.device
      WHERE devices.state = 'active'
      GROUP BY devices.name
      ORDER BY devices.name
      """
    ) { ($0.text(0), $0.integer(1)) }
  }
}
