import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The hub's keys, and those of its devices.
extension HubWorkspace {
  /// Reads bundles, decrypting them where they are encrypted for this hub.
  var reader: BundleReader { BundleReader(platform: platform, identities: keys.identities) }

  /// Every key with which this hub ever signed.
  func ownKeys() throws -> [PublicKey] { try [keys.ownKey()] + [keys.nextKey()].compactMap(\.self) + keys.former() }

  /// Every key with which a bundle that comes here may be signed: the devices', and the hub's own, which are refused
  /// for what they are.
  func trustedKeys(_ store: HubStore) throws -> [PublicKey] {
    try store.devices().flatMap { try [$0.key] + [$0.nextKey].compactMap(\.self) + store.formerKeys(of: $0.id) }
      + ownKeys()
  }

  /// What must be right of the key that a device's bundle is signed with.
  func check(_ signer: PublicKey, of device: EnrolledDevice, _ sequence: SequenceNumber, _ store: HubStore) throws {
    if device.signs(with: signer) { return }
    guard try store.formerKeys(of: device.id).contains(signer) else { throw Self.otherKey }
    // What came before the new key may come once more.
    guard sequence <= device.merged else { throw Self.replacedKey(of: device) }
  }

  static func replacedKey(of device: EnrolledDevice) -> Refusal {
    Refusal(
      "replaced-key", "It is signed with a key in whose place the device \(device.name) has another one by now.",
      hint: "Has somebody got hold of the old key? Ask the device's user.", keeping: .quarantine)
  }

  /// Refuses the announcement of a key that is not the device's own. A revoked device announces nothing.
  func checkRotation(in manifest: Manifest, of device: EnrolledDevice, _ store: HubStore) throws {
    guard let rotation = manifest.rotation, device.state != .revoked, !device.signs(with: rotation.key) else { return }
    try KnownKeys(self, store).check(rotation.key, besides: device.id, of: "The announcement of a new key")
  }

  /// Takes over what a merged bundle tells of its device's keys.
  func noteKeys(of manifest: Manifest, signer: PublicKey, _ device: inout EnrolledDevice, _ store: HubStore) throws {
    if signer == device.nextKey {
      try store.retire(device.key, of: device.id)
      device.key = signer
      device.nextKey = nil
    }
    if let rotation = manifest.rotation, rotation.key != device.key, device.state != .revoked {
      device.nextKey = rotation.key
    }
    device.recipient = manifest.recipient ?? device.recipient
  }

  /// The file beside the database follows: people check signatures with it.
  func publish(_ device: EnrolledDevice) throws {
    if try keys.trusted(as: device.name) != device.key { try keys.trust(device.key, as: device.name) }
  }

  /// With which key a bundle for this device is signed: the next one, once the device is known to have heard of it.
  func signing(for device: EnrolledDevice) throws -> SigningKey {
    try keys.nextKey() != nil && device.knowsNextKey ? keys.nextSigning() : keys.signing()
  }

  /// What a bundle tells this device of the hub's next key; nil where there is none, or where the device knows it.
  func rotation(for device: EnrolledDevice) throws -> Manifest.Rotation? {
    device.knowsNextKey ? nil : try keys.rotation(of: configuration.id, in: configuration.dataset)
  }

  /// Once every device knows the next key, it is the only one.
  func finishRotation(_ store: HubStore) throws {
    guard try keys.nextKey() != nil, try unaware(store).isEmpty else { return }
    try keys.finishRotation()
    try store.writeTransaction(.keep) { try store.forgetToldKeys() }
  }

  private func unaware(_ store: HubStore) throws -> [String] {
    try store.devices().filter { $0.state == .active && !$0.knowsNextKey }.map(\.name)
  }

  public func keyReport() throws -> KeyReport {
    let store = try examined()
    return try KeyReport(keys, unaware: unaware(store), revoked: store.revocations()?.keys ?? [])
  }

  /// Makes a new key. Each device learns of it by the next bundle, which the present key signs; bundles for those that
  /// know it are signed with the new one.
  public func rotateKeys() throws -> PublicKey {
    if let next = try keys.nextKey() {
      throw WorkspaceError(
        "rotating",
        "A new key was made already, with the fingerprint \(next.fingerprint), and not every device knows it yet.",
        hint: "`satchel-hub keys show` names those that do not.")
    }
    return try changing { store in
      try store.forgetToldKeys()
      return try ending == .takeBack ? keys.ownKey() : keys.beginRotation(name: configuration.name)
    }
  }

  /// What it costs to replace a lost key.
  public struct CostOfLoss: Sendable {
    /// The devices at which a person has to compare the new key's fingerprint.
    public let devices: [String]
    /// The key that was made after an earlier loss, if no device is known to have met it: it can be used as it is.
    public let unused: PublicKey?
  }

  public func costOfLostKeys() throws -> CostOfLoss {
    let store = try examined()
    let devices = try store.devices().filter { $0.state == .active }.map(\.name)
    return CostOfLoss(devices: devices, unused: try isUnused(store) ? keys.ownKey() : nil)
  }

  /// Whether the present key replaced a lost one, and no device is known to have met it.
  private func isUnused(_ store: HubStore) throws -> Bool {
    guard try store.wasKeyLost() else { return false }
    return try store.devices().allSatisfy { $0.proved < store.identity.firstEmission }
  }

  /// Makes a new key in the place of one that is lost or in wrong hands, and begins a new epoch: what a thief has
  /// numbered is worth nothing in it. No device can be told of the key by a signature: at each one a person compares
  /// its fingerprint.
  ///
  /// If a key was made like that before and no device is known to have met it yet, that key is returned and nothing
  /// changes.
  /// - Parameter again: make another one even then, because that one is lost too.
  public func replaceLostKeys(again: Bool = false) throws -> PublicKey {
    try changing { store in
      if !again, try isUnused(store) { return try keys.ownKey() }
      let old = try ownKeys()
      try store.forgetToldKeys()
      try store.revoke(old, at: platform.clock.milliseconds())
      try store.noteKeyLost()
      if ending == .takeBack { return old[0] }
      if try keys.nextKey() != nil { try keys.dropNext() }
      let key = try keys.replaceLost(name: configuration.name)
      _ = try beginEpoch(store, isAfterLoss: false)
      return key
    }
  }

  /// Puts the hub's secret keys behind a password, or takes it away.
  public func setPassword(_ password: Password?) throws {
    try locked { if ending == .keep { try keys.setPassword(password, name: configuration.name) } }
  }
}
