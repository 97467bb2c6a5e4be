import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The epochs of this hub: the present one and the former ones.
extension HubStore {
  /// The former epochs, in the order of their text. They include epochs that the hub knows only from its own signed
  /// bundles.
  func formerEpochs() throws -> [Epoch] {
    try database.all("SELECT epoch FROM satchel_epochs ORDER BY epoch") { Epoch(unchecked: $0.text(0)) }
  }

  func isFormer(_ epoch: Epoch) throws -> Bool {
    try database.first("SELECT 1 FROM satchel_epochs WHERE epoch = :epoch", ["epoch": .string(epoch.text)]) { _ in true
    } ?? false
  }

  /// Whether the hub's files were once in this former epoch. False if the hub knows the epoch only from a device's
  /// bundle.
  func isEpochOfFiles(_ epoch: Epoch) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_epochs WHERE epoch = :epoch AND learned = 0", ["epoch": .string(epoch.text)]
    ) { _ in true } ?? false
  }

  /// Begins a new epoch with the present rows.
  ///
  /// The emissions of the former epoch stay recorded, because devices still have them. But no new bundle builds on
  /// them. The proof that the hub was set back is removed, and its epoch becomes a former one.
  /// - Parameter floor: emission numbers continue above this number. The seconds since 1970 are a safe value: they are
  ///   above all numbers that the hub gave in the lost time.
  func beginEpoch(_ epoch: Epoch, after floor: Int64) throws {
    let highest =
      try database.first(
        """
        SELECT max(
          emissions_from,
          (SELECT coalesce(max(max(proved, emitted)), 0) FROM satchel_devices),
          (SELECT coalesce(max(number), 0) FROM satchel_set_back))
        FROM satchel_hub
        """
      ) { $0.integer(0) } ?? 0
    let first = min(max(highest, floor) + 1, Self.highestFirstEmission)
    try database.run("INSERT OR IGNORE INTO satchel_epochs SELECT epoch, 0 FROM satchel_hub")
    try database.run("INSERT OR IGNORE INTO satchel_epochs SELECT epoch, 1 FROM satchel_set_back")
    try database.run("DELETE FROM satchel_epochs WHERE epoch = :epoch", ["epoch": .string(epoch.text)])
    try database.run("DELETE FROM satchel_set_back")
    try database.run(
      "UPDATE satchel_hub SET epoch = :epoch, emissions_from = :from, epoch_cursor = :cursor",
      ["epoch": .string(epoch.text), "from": .integer(first), "cursor": .integer(cursor().rawValue)])
  }

  /// Records that the present epoch began because the hub replaced a lost key.
  func noteKeyLost() throws { try database.run("UPDATE satchel_hub SET key_lost = max(emissions_from, 1)") }

  /// The first emission number of the epoch that began when the hub last replaced a lost key. nil if it never did.
  /// Earlier releases did not record this number. Then the result is the first number of the present epoch.
  func keyLostFrom() throws -> EmissionNumber? {
    try database.first("SELECT iif(key_lost = 1, emissions_from, key_lost) FROM satchel_hub WHERE key_lost > 0") {
      EmissionNumber($0.integer(0))
    }
  }

  /// Whether a device may trust a key of this hub that this hub does not know. That is possible in one case: the hub's
  /// files were replaced by a copy from before that key, and then the hub replaced its own key as lost. In this case no
  /// signature can prove the device's epoch. A device that is known to have the present key trusts no other key.
  func mayFollowUnknownKey(_ device: EnrolledDevice) throws -> Bool {
    try keyLostFrom().map { device.proved < $0 } ?? false
  }

  /// Whether the present epoch began when this hub replaced a lost key. If so, this hub needs no emission of an earlier
  /// epoch, because it trusts none of the keys that signed them.
  func isEpochOfReplacedKey() throws -> Bool {
    try database.first("SELECT 1 FROM satchel_hub WHERE key_lost > 1 AND key_lost = emissions_from") { _ in true }
      ?? false
  }

  /// The highest number with which an epoch may begin. Numbers must stay within the limits of the format, even if a
  /// thief signed very high numbers with the hub's key.
  private static let highestFirstEmission: Int64 = 1 << 50
}

/// The proof that the hub was set back: an emission that this hub signed and does not know.
public struct SetBack: Sendable {
  /// The time when the proof was found, in milliseconds since 1970.
  public let at: Int64
  /// The name of the device for which the emission was made. The device's id if the hub does not know the device.
  public let device: String
  public let epoch: Epoch
  public let number: EmissionNumber
  /// The key that this hub announced in that emission, if the hub does not have the key. Devices may follow it.
  public internal(set) var lackingKey: PublicKey?
  let digest: Digest
}

extension HubStore {
  /// The proof that the hub was set back. nil if there is none.
  func setBack() throws -> SetBack? {
    try database.first(
      """
      SELECT at, coalesce((SELECT name FROM satchel_devices WHERE id = device), device), epoch, number, digest, key
      FROM satchel_set_back
      """
    ) { row -> SetBack? in
      guard let digest = Digest(hexadecimal: row.text(4)) else { return nil }
      return SetBack(
        at: row.integer(0), device: row.text(1), epoch: Epoch(unchecked: row.text(2)),
        number: EmissionNumber(row.integer(3)),
        lackingKey: row.optionalText(5).flatMap { PublicKey(line: $0) }, digest: digest)
    } ?? nil
  }

  /// Records the proof that the hub was set back. If there is a proof already, that one stays.
  func note(_ proof: SetBackProof) throws {
    let found = proof.found
    try database.run(
      """
      INSERT OR IGNORE INTO satchel_set_back (one, at, device, epoch, number, digest, key)
      VALUES (1, :at, :device, :epoch, :number, :digest, :key)
      """,
      [
        "at": .integer(found.at), "device": .string(proof.device.text), "epoch": .string(found.epoch.text),
        "number": .integer(found.number.rawValue), "digest": .string(found.digest.hexadecimal),
        "key": found.lackingKey.map { .string($0.line) } ?? .null,
      ])
    try learn(proof.former)
  }

  /// Adds the epochs that a proof names to the former epochs. Devices will deliver their work of these epochs again,
  /// and bring the hub's bundles of these epochs.
  ///
  /// A device names these epochs, and no signature of the hub proves them. So they get at most half of the room for
  /// epochs.
  private func learn(_ epochs: [Epoch]) throws {
    for epoch in epochs where epoch != identity.epoch {
      try database.run(
        """
        INSERT OR IGNORE INTO satchel_epochs
        SELECT :epoch, 1
        WHERE (SELECT count(*) FROM satchel_epochs WHERE learned = 1) < :most
        """, ["epoch": .string(epoch.text), "most": .integer(Int64(Manifest.Scope.mostEpochs / 2))])
    }
  }

  /// Whether the hub knows an emission that a bundle names.
  enum EmissionKnowledge {
    /// This hub made the emission, perhaps long ago.
    case made
    /// No emission has this number, or another emission has it.
    case unknown
  }

  /// Whether this hub made the emission for the device. The ledger contains every emission that the hub ever made.
  func knowledge(of emission: Manifest.EmissionLink, for device: EnrolledDevice) throws -> EmissionKnowledge {
    let isMade = try database.first(
      """
      SELECT 1
      FROM satchel_ledger
      WHERE peer = :peer AND kind = 'scope' AND direction = 'out' AND number = :number AND digest = :digest
      """,
      [
        "peer": .string(device.name), "number": .integer(emission.number.rawValue),
        "digest": .string(emission.digest.hexadecimal),
      ]
    ) { _ in true }
    return isMade == true ? .made : .unknown
  }
}
