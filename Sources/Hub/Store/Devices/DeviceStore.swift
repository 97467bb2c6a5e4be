import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A device in the hub's records.
public struct EnrolledDevice: Sendable {
  /// Whether the hub makes secret keys for a device that it provisions.
  public enum Secrets: Sendable { case made, none }

  public enum State: String, Sendable {
    case active
    /// The hub is making the device's folder. The device counts as active. If the folder is never finished, another
    /// device can get the name.
    case preparing
    /// Two different histories came in the device's name. The operator must decide.
    case flagged
    case revoked
  }

  public let id: ReplicaID
  public let name: String
  public var user: String
  public var key: PublicKey
  /// The next key that the device announced and may already use. nil if the device announced none.
  public var nextKey: PublicKey?
  /// Whether the next key signed its own announcement. Without this signature, any person who can read the key could
  /// announce it.
  var isNextKeyProved = false
  /// Whether the device has ever shown a release whose new keys sign their own announcements. It never becomes false
  /// again.
  var signsAnnouncements = false
  /// The key that the device's last bundle announced, if the hub refused it: the key has another owner, or it did not
  /// sign its announcement. nil if no key was refused.
  public internal(set) var refusedKey: PublicKey?
  /// The key for which the hub encrypts bundles to the device. nil if the device has sent none.
  public var recipient: AgeRecipient?
  /// The first emission that announced the hub's next key to the device. nil if there is none yet.
  var toldKey: EmissionNumber?
  /// The device whose history this device continues, because it has a copy of that device's folder. nil if there is
  /// none.
  public internal(set) var continues: ReplicaID?
  /// The first sequence that the hub refuses, if the device is revoked.
  public var revokedFrom: SequenceNumber?
  /// The end of the device's last day, in milliseconds since 1970. nil if it may continue for ever.
  public var expires: Int64?
  /// Whether the hub accepts no changes of the device.
  public var isReadOnly = false
  /// Whether a person rejected the bundle that is being merged. Not stored.
  var isRejected = false
  /// The text that explains why the hub accepts no change of the device. nil if it accepts changes.
  var refusal: String? {
    if isRejected { return "The office rejected the whole bundle." }
    return isReadOnly ? "The device may change nothing." : nil
  }
  /// Whether the device was made without secret keys. If so, it sends nothing, but it may carry bundles of this hub.
  public internal(set) var onlyReceives = false
  /// The device's highest sequence in this hub's last backup. 0 if there is none.
  public internal(set) var backedUp = SequenceNumber.zero
  public let incarnation: Incarnation
  public var state: State
  public var merged: SequenceNumber
  public var proved: EmissionNumber
  /// The last emission for the device. Its number is never used again, even if the emission is forgotten.
  var emitted = EmissionNumber.zero
  public let enrolled: Int64
  public var heard: Int64?
  /// The milliseconds by which the device's clock was ahead at its last contact. If negative, the clock was behind by
  /// at least this time.
  public var skew: Int64
  /// The name that the device asked for and uses for itself. nil if unknown, because an earlier build enrolled the
  /// device.
  var asked: String?
  /// The critical features that the device can read, according to its last bundle.
  var understands: Set<Manifest.Critical> = []
  /// The newest stamp in the device's bundles, but never later than the hub's time. Later writes of the device have
  /// later stamps.
  var newestStamp = Stamp.zero
  /// The operator's decision that nothing of the device is merged for now. nil if the device is not on hold.
  public internal(set) var hold: DeviceHold?

  /// Whether the device is known to have an emission that announced the hub's next key.
  var knowsNextKey: Bool { toldKey.map { proved >= $0 } ?? false }
}

extension EnrolledDevice {
  /// The ids under which the device's work came: its own id, and the id of the device that it continues.
  var histories: [ReplicaID] { [id, continues].compactMap(\.self) }

  /// Throws a `WorkspaceError` if the device was ever revoked, whatever its present state is.
  func refuseRevoked() throws {
    if state != .revoked, revokedFrom == nil { return }
    throw WorkspaceError(
      .revoked, "The device \(name) is revoked: this hub accepts none of its bundles.",
      hint: "If it was found again, it continues under a new name: satchel renew --name NEW-NAME --request FILE")
  }
}

extension HubStore {
  private static let deviceColumns =
    """
    id, name, user, key, incarnation, state, merged, proved, enrolled, heard, skew, next_key, recipient, told_key, \
    revoked_from, expires, read_only, emitted, continues, understands, stamp, asked, next_proved, refused_key, \
    signs_keys, only_receives, backed_up, hold_since, hold_note
    """

  func devices() throws -> [EnrolledDevice] {
    try database.all("SELECT \(Self.deviceColumns) FROM satchel_devices ORDER BY name") { try device($0) }
  }

  func device(named name: String) throws -> EnrolledDevice? {
    try database.first("SELECT \(Self.deviceColumns) FROM satchel_devices WHERE name = :name", ["name": .string(name)])
    {
      try device($0)
    }
  }

  func device(_ id: ReplicaID) throws -> EnrolledDevice? {
    try database.first("SELECT \(Self.deviceColumns) FROM satchel_devices WHERE id = :id", ["id": .string(id.text)]) {
      try device($0)
    }
  }

  func save(_ device: EnrolledDevice) throws {
    let hold = Self.values(of: device.hold)
    try database.run(
      """
      INSERT OR REPLACE INTO satchel_devices (\(Self.deviceColumns))
      VALUES (:id, :name, :user, :key, :incarnation, :state, :merged, :proved, :enrolled, :heard, :skew,
        :next_key, :recipient, :told_key, :revoked_from, :expires, :read_only, :emitted, :continues, :understands,
        :stamp, :asked, :next_proved, :refused_key, :signs_keys, :only_receives, :backed_up, :hold_since,
        :hold_note)
      """,
      [
        "id": .string(device.id.text), "name": .string(device.name), "user": .string(device.user),
        "key": .string(device.key.line),
        "incarnation": .string(device.incarnation.text), "state": .string(device.state.rawValue),
        "merged": .integer(device.merged.rawValue), "proved": .integer(device.proved.rawValue),
        "enrolled": .integer(device.enrolled), "heard": device.heard.map { .integer($0) } ?? .null,
        "skew": .integer(device.skew),
        "next_key": device.nextKey.map { .string($0.line) } ?? .null,
        "recipient": device.recipient.map { .string($0.text) } ?? .null,
        "told_key": device.toldKey.map { .integer($0.rawValue) } ?? .null,
        "revoked_from": device.revokedFrom.map { .integer($0.rawValue) } ?? .null,
        "expires": device.expires.map { .integer($0) } ?? .null, "read_only": .integer(device.isReadOnly ? 1 : 0),
        "emitted": .integer(device.emitted.rawValue),
        "continues": device.continues.map { .string($0.text) } ?? .null,
        "understands": .string(Manifest.Critical.text(of: device.understands)),
        "stamp": .integer(device.newestStamp.rawValue),
        "asked": device.asked.map { .string($0) } ?? .null,
        "next_proved": .integer(device.isNextKeyProved ? 1 : 0),
        "refused_key": device.refusedKey.map { .string($0.line) } ?? .null,
        "signs_keys": .integer(device.signsAnnouncements ? 1 : 0),
        "only_receives": .integer(device.onlyReceives ? 1 : 0), "backed_up": .integer(device.backedUp.rawValue),
        "hold_since": hold.since, "hold_note": hold.note,
      ])
  }

  private static func values(of hold: DeviceHold?) -> (since: Value, note: Value) {
    guard let hold else { return (.null, .null) }
    return (.integer(hold.since), hold.note.map { Value.string($0) } ?? .null)
  }

  /// Records that a backup contains all bundles that this hub has merged.
  func noteBackedUp() throws { try database.run("UPDATE satchel_devices SET backed_up = merged") }

  private func device(_ row: borrowing Statement) throws -> EnrolledDevice {
    guard let key = PublicKey(line: row.text(3)), let state = EnrolledDevice.State(rawValue: row.text(5)) else {
      throw WorkspaceError(.badDevice, "The row \(row.text(0)) of satchel_devices cannot be read.")
    }
    let (holdSince, holdNote) = (row.optionalInteger(27), row.optionalText(28))
    return EnrolledDevice(
      id: ReplicaID(unchecked: row.text(0)), name: row.text(1), user: row.text(2), key: key,
      nextKey: row.optionalText(11).flatMap { PublicKey(line: $0) }, isNextKeyProved: row.integer(22) != 0,
      signsAnnouncements: row.integer(24) != 0,
      refusedKey: row.optionalText(23).flatMap { PublicKey(line: $0) },
      recipient: row.optionalText(12).flatMap { AgeRecipient($0) },
      toldKey: row.optionalInteger(13).map { EmissionNumber($0) },
      continues: row.optionalText(18).map { ReplicaID(unchecked: $0) },
      revokedFrom: row.optionalInteger(14).map { SequenceNumber($0) },
      expires: row.optionalInteger(15), isReadOnly: row.integer(16) != 0,
      onlyReceives: row.integer(25) != 0, backedUp: SequenceNumber(row.integer(26)),
      incarnation: Incarnation(unchecked: row.text(4)), state: state, merged: SequenceNumber(row.integer(6)),
      proved: EmissionNumber(row.integer(7)), emitted: EmissionNumber(row.integer(17)), enrolled: row.integer(8),
      heard: row.optionalInteger(9), skew: row.integer(10), asked: row.optionalText(21),
      understands: Manifest.Critical.features(in: row.text(19)), newestStamp: Stamp(row.integer(20)),
      hold: holdSince.map { DeviceHold(since: $0, note: holdNote) })
  }
}

extension HubStore {
  /// Removes a device, and the hub's records about it.
  func remove(_ id: ReplicaID) throws {
    let device: KeyValuePairs<String, Value> = ["device": .string(id.text)]
    try database.run("DELETE FROM satchel_devices WHERE id = :device", device)
    for table in [
      "satchel_emissions", "satchel_emission_sets", "satchel_owed", "satchel_chain", "satchel_rekeyed",
      "satchel_former_keys",
      "satchel_attachments", "satchel_received", "satchel_former_users", "satchel_declared",
      "satchel_awaited_emissions",
      "satchel_proofs", "satchel_different_rows", "satchel_health",
    ] {
      try database.run("DELETE FROM \(quoted(table)) WHERE device = :device", device)
    }
  }
}

extension HubStore {
  /// The gaps in the numbers of the bundles that came from a device. The newest ranges come first.
  ///
  /// If a device continues another one, it also continues that device's numbers. Exports that both have in common came
  /// under the other device's name, and count too. Later numbers under that name may be of another copy. The digest
  /// shows which exports are in common.
  func missing(of device: EnrolledDevice) throws -> [ClosedRange<Int64>] {
    try database.all(
      """
      WITH RECURSIVE histories (name, continues) AS (
        SELECT name, continues FROM satchel_devices WHERE id = :device
        UNION
        SELECT former.name, former.continues
        FROM histories JOIN satchel_devices AS former ON former.id = histories.continues)
      SELECT previous + 1, number - 1
      FROM (
        SELECT number, lag(number, 1, 0) OVER (ORDER BY number) AS previous
        FROM (
          SELECT DISTINCT number
          FROM satchel_ledger
          WHERE peer IN (SELECT name FROM histories) AND kind = 'changes' AND direction = 'in'
            AND verdict IN ('imported', 'stale')
            AND (peer = :peer OR digest IN (SELECT digest FROM satchel_chain WHERE device = :device))))
      WHERE number > previous + 1
      ORDER BY number DESC
      LIMIT 20
      """, ["device": .string(device.id.text), "peer": .string(device.name)]
    ) { $0.integer(0)...$0.integer(1) }
  }
}
