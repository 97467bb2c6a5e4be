import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The hub's keys, and the keys of its devices.
extension HubWorkspace {
  /// Reads bundles, and decrypts those that are encrypted for this hub.
  var reader: BundleReader { BundleReader(platform: platform, identities: keys.identities) }

  /// Every key with which this hub ever signed, and its next key.
  func ownKeys() throws -> [PublicKey] { try [keys.ownKey()] + [keys.nextKey()].compactMap(\.self) + keys.former() }

  /// Every key that may sign a bundle that comes here. This includes the hub's own keys. A bundle from the hub itself
  /// is refused later, for another reason.
  func trustedKeys(_ store: HubStore) throws -> [PublicKey] {
    try store.devices().flatMap { try keys(of: $0, store) } + ownKeys()
  }

  private func keys(of device: EnrolledDevice, _ store: HubStore) throws -> [PublicKey] {
    try [device.key] + [device.nextKey].compactMap(\.self) + store.formerKeys(of: device.id)
  }

  /// All present, next and former keys of the replica that owns `signer`.
  func keys(withOwnerOf signer: PublicKey, _ store: HubStore) throws -> [PublicKey] {
    for device in try store.devices() {
      let keys = try keys(of: device, store)
      if keys.contains(signer) { return keys }
    }
    return try ownKeys()
  }

  /// Throws a `Refusal` if a device's bundle is signed with a key that is not accepted.
  func check(_ signer: PublicKey, of device: EnrolledDevice, _ sequence: SequenceNumber, _ store: HubStore) throws {
    if device.signs(with: signer) {
      guard try signer != device.key && device.state != .revoked && KnownKeys(self, store).isRevoked(signer) else {
        return
      }
      throw Refusal(
        .revokedKey, "It is signed with a key that was revoked with another device.",
        hint: "Ask the user of \(device.name) who made this file.", keeping: .quarantine)
    }
    guard try store.formerKeys(of: device.id).contains(signer) else { throw Self.otherKey }
    // The bundle is accepted if it was merged already: the device may have made it before its new key, and it may come
    // again.
    guard sequence <= device.merged else { throw Self.replacedKey(of: device) }
  }

  static func replacedKey(of device: EnrolledDevice) -> Refusal {
    Refusal(
      .replacedKey, "It is signed with a key that the device \(device.name) has replaced.",
      hint:
        """
        Ask the device's user. If its folder was put back from before the new key, in that folder: satchel renew \
        --name NEW-NAME --request FILE. Otherwise another person may have the old key.
        """,
      keeping: .quarantine)
  }

  /// Records the keys that a merged bundle announces for its device. A false announcement has no effect on the rest of
  /// the bundle.
  func noteKeys(of manifest: Manifest, signer: PublicKey, _ device: inout EnrolledDevice, _ store: HubStore) throws {
    if signer == device.nextKey {
      try store.retire(device.key, of: device.id)
      device.key = signer
      (device.nextKey, device.isNextKeyProved) = (nil, false)
    }
    device.refusedKey = nil
    // Release 0.1 writes neither `understands` nor `proof`, so such a device does not sign its announcements.
    if !manifest.understands.isEmpty || manifest.rotation?.proof != nil { device.signsAnnouncements = true }
    if let rotation = manifest.rotation, rotation.key != device.key, device.state != .revoked {
      try noteNextKey(rotation, &device, store)
    }
    device.recipient = manifest.recipient ?? device.recipient
  }

  /// Records a key that a device announced. The hub refuses the key if it has another owner. The hub also refuses a key
  /// that did not sign its own announcement, if the device's release signs announcements.
  ///
  /// A device of release 0.1 sends no proof. It signs with its new key as soon as the hub has acknowledged the
  /// announcement. The hub records this key too, but only for this device. Another device may still use the key, and a
  /// revoke of this device does not revoke it.
  private func noteNextKey(_ rotation: Manifest.Rotation, _ device: inout EnrolledDevice, _ store: HubStore) throws {
    // If the hub has recorded the key already, no proof is needed: the device may have announced the key before its
    // update.
    let lacksProof = rotation.proof == nil && device.signsAnnouncements && rotation.key != device.nextKey
    if try lacksProof || KnownKeys(self, store).owner(of: rotation.key, besides: device.id) != nil {
      device.refusedKey = rotation.key
      return
    }
    device.isNextKeyProved = rotation.proof != nil || device.isNextKeyProved && device.nextKey == rotation.key
    device.nextKey = rotation.key
  }

  /// Updates the file with the device's public key, because people check signatures with that file.
  func publish(_ device: EnrolledDevice) throws {
    if try keys.trusted(as: device.name) != device.key { try keys.trust(device.key, as: device.name) }
  }

  /// The key with which the hub signs bundles for this device: the hub's next key, if the device is known to have it.
  func signing(for device: EnrolledDevice) throws -> SigningKey {
    try keys.nextKey() != nil && device.knowsNextKey ? keys.nextSigning() : keys.signing()
  }

  /// The announcement of the hub's next key for this device. nil if the hub has no next key, or the device knows it
  /// already.
  func rotation(for device: EnrolledDevice) throws -> Manifest.Rotation? {
    device.knowsNextKey ? nil : try keys.rotation(of: configuration.id, in: configuration.dataset)
  }

  /// Makes the next key the hub's only key, if every device knows it.
  func finishRotation(_ store: HubStore) throws {
    guard try keys.nextKey() != nil, try unaware(store).isEmpty else { return }
    try keys.finishRotation()
    try store.writeTransaction(.commit) { try store.forgetToldKeys() }
  }

  private func unaware(_ store: HubStore) throws -> [String] {
    try store.devices().filter { $0.state == .active && !$0.knowsNextKey }.map(\.name)
  }

  public func keyReport() throws -> KeyReport {
    let store = try examined()
    return try KeyReport(keys, unaware: unaware(store), revoked: store.revocations()?.keys ?? [])
  }

  /// Makes a new key for the hub. The present key signs one more bundle for each device, and this bundle announces the
  /// new key. The new key signs all bundles for devices that know it.
  public func rotateKeys() throws -> PublicKey {
    if let next = try keys.nextKey() {
      throw WorkspaceError(
        .rotating,
        "A new key was made already, with the fingerprint \(next.fingerprint), and not every device knows it yet.",
        hint: "`satchel-hub keys show` names the others.")
    }
    return try changing { store in
      if try isUnused(store) {
        throw WorkspaceError(
          .rotating, "The present key replaced a lost one, and no device is known to have it yet.",
          hint:
            """
            A person compares its fingerprint at each device first: satchel-hub keys show. If it is lost too: \
            satchel-hub keys rotate --lost --again
            """)
      }
      try store.forgetToldKeys()
      return try runMode == .dryRun ? keys.ownKey() : keys.beginRotation(name: configuration.name)
    }
  }

  /// The effects of replacing a lost key of the hub.
  public struct CostOfLoss: Sendable {
    /// The devices at which a person has to compare the new key's fingerprint.
    public let devices: [String]
    /// The key that was made after an earlier loss, if no device is known to use it yet. This key can be used now.
    public let unused: PublicKey?
    /// Whether the hub is known to be set back. If so, a new key gives up the rows that the hub sent in the lost time.
    public let isSetBack: Bool
    /// The recovery of a lost time, if one is running. Otherwise nil. With a new key, the hub gives up the rows that
    /// are still missing.
    public let recovery: HubStatus.Recovering?
    /// The number of bundles of the lost time that came and are not merged. With a new key, the hub cannot use them.
    public let collected: Int
  }

  public func costOfLostKeys() throws -> CostOfLoss {
    let store = try examined()
    let devices = try store.devices().filter { $0.state == .active }.map(\.name)
    return CostOfLoss(
      devices: devices, unused: try isUnused(store) ? keys.ownKey() : nil, isSetBack: try store.setBack() != nil,
      recovery: try recovering(store), collected: try countUsableLost(store))
  }

  /// Counts the bundles of the lost time that came and are not merged, if their signing key is still trusted.
  private func countUsableLost(_ store: HubStore) throws -> Int {
    guard try store.isRecovering() else { return 0 }
    let believed = try believedOwnKeys(store)
    return try store.lostEmissionsToMerge().count { emission in
      try emission.file.map { try reader.identityIfSound(of: lostPath($0), trust: .keys(believed)) != nil } ?? false
    }
  }

  /// Whether the present key replaced a lost key, and no device is known to use the present key. A device that only
  /// receives never shows which key it uses. If all devices only receive, the result is false.
  private func isUnused(_ store: HubStore) throws -> Bool {
    guard let first = try store.keyLostFrom() else { return false }
    let devices = try store.devices()
    if devices.contains(where: { $0.proved >= first }) { return false }
    let present = devices.filter { $0.state != .revoked }
    return present.isEmpty || present.contains { !$0.onlyReceives }
  }

  /// Replaces a key that is lost or in wrong hands, and begins a new epoch. In the new epoch, bundles that a thief
  /// numbered are invalid. No signature can announce the new key, so a person compares its fingerprint at each device.
  ///
  /// If no device is known to use an earlier replacement key yet, this returns that key and changes nothing.
  /// - Parameter again: make another key also in that case, because the earlier replacement key is lost too.
  public func replaceLostKeys(again: Bool = false) throws -> PublicKey {
    try changing { store in
      if !again, try isUnused(store) { return try keys.ownKey() }
      let old = try ownKeys()
      try store.forgetToldKeys()
      try store.revoke(old, at: platform.clock.milliseconds())
      if runMode == .dryRun { return old[0] }
      if try keys.nextKey() != nil { try keys.dropNext() }
      let key = try keys.replaceLost(name: configuration.name)
      _ = try beginEpoch(store, isAfterLoss: false)
      try store.noteKeyLost()
      return key
    }
  }

  /// Protects the hub's secret keys by a password. nil removes the password.
  public func setPassword(_ password: Password?) throws {
    try locked { if runMode == .commit { try keys.setPassword(password, name: configuration.name) } }
  }
}
