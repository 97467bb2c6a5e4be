import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The hub's keys, and the keys of its devices.
extension HubWorkspace {
  /// Reads bundles, and decrypts bundles that are encrypted for this hub.
  var reader: BundleReader { BundleReader(platform: platform, identities: keys.identities) }

  /// Every key with which this hub ever signed.
  func ownKeys() throws -> [PublicKey] { try [keys.ownKey()] + [keys.nextKey()].compactMap(\.self) + keys.former() }

  /// Every key that may sign a bundle that comes here. The hub's own keys are among them, because a bundle from the hub
  /// is refused for another reason.
  func trustedKeys(_ store: HubStore) throws -> [PublicKey] {
    try store.devices().flatMap { try keys(of: $0, store) } + ownKeys()
  }

  private func keys(of device: EnrolledDevice, _ store: HubStore) throws -> [PublicKey] {
    try [device.key] + [device.nextKey].compactMap(\.self) + store.formerKeys(of: device.id)
  }

  /// All keys that the owner of this key has or had.
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
    // A bundle from before the new key may come again.
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

  /// Records the keys that a merged bundle announces for its device. A wrong announcement does not affect the rest of
  /// the bundle.
  func noteKeys(of manifest: Manifest, signer: PublicKey, _ device: inout EnrolledDevice, _ store: HubStore) throws {
    if signer == device.nextKey {
      try store.retire(device.key, of: device.id)
      device.key = signer
      (device.nextKey, device.isNextKeyProved) = (nil, false)
    }
    device.refusedKey = nil
    // Release 0.1 writes neither of these members.
    if !manifest.understands.isEmpty || manifest.rotation?.proof != nil { device.signsAnnouncements = true }
    if let rotation = manifest.rotation, rotation.key != device.key, device.state != .revoked {
      try noteNextKey(rotation, &device, store)
    }
    device.recipient = manifest.recipient ?? device.recipient
  }

  /// Records a key that a device announced. Refuses the key if it has another owner, or if it did not sign its
  /// announcement although the device has shown a release that signs.
  ///
  /// A device of release 0.1 sends no proof, and signs with its new key as soon as the hub has acknowledged the
  /// announcement. Its key is recorded too, for this device alone. The key excludes no other device, and it is not
  /// revoked with this device.
  private func noteNextKey(_ rotation: Manifest.Rotation, _ device: inout EnrolledDevice, _ store: HubStore) throws {
    // A key that is recorded already changes nothing: the device may have announced it before its update.
    let lacksProof = rotation.proof == nil && device.signsAnnouncements && rotation.key != device.nextKey
    if try lacksProof || KnownKeys(self, store).owner(of: rotation.key, besides: device.id) != nil {
      device.refusedKey = rotation.key
      return
    }
    device.isNextKeyProved = rotation.proof != nil || device.isNextKeyProved && device.nextKey == rotation.key
    device.nextKey = rotation.key
  }

  /// Updates the device's key file, because people check signatures with it.
  func publish(_ device: EnrolledDevice) throws {
    if try keys.trusted(as: device.name) != device.key { try keys.trust(device.key, as: device.name) }
  }

  /// The key that signs bundles for this device: the next key, if the device is known to have it.
  func signing(for device: EnrolledDevice) throws -> SigningKey {
    try keys.nextKey() != nil && device.knowsNextKey ? keys.nextSigning() : keys.signing()
  }

  /// The announcement of the hub's next key for this device. nil if there is none, or if the device has the key.
  func rotation(for device: EnrolledDevice) throws -> Manifest.Rotation? {
    device.knowsNextKey ? nil : try keys.rotation(of: configuration.id, in: configuration.dataset)
  }

  /// Makes the next key the only key, if every device has it.
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

  /// Makes a new key. Each device learns it from its next bundle, which the present key signs. Bundles for devices that
  /// know the new key are signed with it.
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

  /// The cost of the replacement of a lost key.
  public struct CostOfLoss: Sendable {
    /// The devices at which a person has to compare the new key's fingerprint.
    public let devices: [String]
    /// The key that was made after an earlier loss, if no device is known to use it. It can be used as it is.
    public let unused: PublicKey?
    /// Whether the hub is known to be set back. Then a new key gives up the rows that the hub sent in the lost time.
    public let isSetBack: Bool
    /// The recovery of a lost time that is not at its end. nil if none is running. A new key gives up what is missing.
    public let recovery: HubStatus.Recovering?
    /// The number of bundles of the lost time that came and are not merged. The hub cannot use them with a new key.
    public let collected: Int
  }

  public func costOfLostKeys() throws -> CostOfLoss {
    let store = try examined()
    let devices = try store.devices().filter { $0.state == .active }.map(\.name)
    return CostOfLoss(
      devices: devices, unused: try isUnused(store) ? keys.ownKey() : nil, isSetBack: try store.setBack() != nil,
      recovery: try recovering(store), collected: try countUsableLost(store))
  }

  /// Counts the bundles of the lost time that came, are not merged, and have a signature that still counts.
  private func countUsableLost(_ store: HubStore) throws -> Int {
    guard try store.isRecovering() else { return 0 }
    let believed = try believedOwnKeys(store)
    return try store.lostEmissionsToMerge().count { emission in
      try emission.file.map { try reader.identityIfSound(of: lostPath($0), trust: .keys(believed)) != nil } ?? false
    }
  }

  /// Whether the present key replaced a lost key, and no device uses it as far as the hub knows. A device that only
  /// receives never shows which key it uses. So the result is false if there are no other devices.
  private func isUnused(_ store: HubStore) throws -> Bool {
    guard let first = try store.keyLostFrom() else { return false }
    let devices = try store.devices()
    if devices.contains(where: { $0.proved >= first }) { return false }
    let present = devices.filter { $0.state != .revoked }
    return present.isEmpty || present.contains { !$0.onlyReceives }
  }

  /// Replaces a key that is lost or in wrong hands, and begins a new epoch. Bundles that a thief has numbered are
  /// invalid in the new epoch. No signature can announce the new key, so a person compares its fingerprint at each
  /// device.
  ///
  /// If no device is known to use an earlier replacement key yet, that key is returned and nothing changes.
  /// - Parameter again: make another key even then, because the unused key is lost too.
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
