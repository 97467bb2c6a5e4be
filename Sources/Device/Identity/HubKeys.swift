import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The keys that a device accepts as its hub's keys, and how these keys change.
extension DeviceWorkspace {
  /// The name of the hub's key in this device's `keys/`.
  static let hubKeyName = "hub"
  /// The name of the key that the hub has announced and may already sign with.
  static let nextHubKeyName = "hub-next"

  func ownKey() throws -> PublicKey { try keys.ownKey() }

  /// The hub's public key; nil: this device does not know its hub yet.
  func hubKey() throws -> PublicKey? { try keys.trusted(as: Self.hubKeyName) }

  /// The keys with which the hub may sign now.
  func presentHubKeys() throws -> [PublicKey] {
    try [hubKey(), keys.trusted(as: Self.nextHubKeyName)].compactMap(\.self)
  }

  /// Every key that this device ever accepted as its hub's key.
  func hubKeys() throws -> [PublicKey] { try presentHubKeys() + keys.former(of: Self.hubKeyName) }

  /// Every key with which this device ever signed.
  func ownKeys() throws -> [PublicKey] { try [ownKey()] + keys.former() }

  /// Reads bundles, and decrypts them if they are encrypted for this device.
  var reader: BundleReader { BundleReader(platform: platform, identities: keys.identities) }

  /// Checks the key that signed a bundle from the hub.
  func check(_ signer: PublicKey, of manifest: Manifest, _ state: DeviceState?, revoked: (PublicKey) throws -> Bool)
    throws
  {
    if try revoked(signer) {
      throw Refusal(
        .revokedKey, "It is signed with a key that the hub has revoked.",
        hint: "Do not use this file. Ask the hub's operator where it comes from.", keeping: .quarantine)
    }
    if try presentHubKeys().contains(signer) { return }
    guard try keys.former(of: Self.hubKeyName).contains(signer) else {
      throw Refusal(.otherKey, "It is not signed by the hub.", keeping: .quarantine)
    }
    // A bundle that the old key signed may come a second time.
    guard let number = manifest.emission, number <= state?.received ?? .zero else {
      throw Refusal(
        .replacedKey, "It is signed with an old key that the hub has replaced.",
        hint:
          """
          Do not use this file. Ask the hub's operator where it comes from. If the hub made it just now, the hub's \
          keys/ were put back from a copy: the newest copy of its keys/ must be put in place there. If there is none: \
          satchel-hub keys rotate --lost. Nothing is lost here: continue to work and sync.
          """,
        keeping: .quarantine)
    }
  }

  /// Trusts the key that a verified bundle announces. Called before the bundle is accepted, because early trust does no
  /// harm. If the bundle is signed with a key that an earlier bundle announced, this key becomes the hub's key first.
  func trustNext(of bundle: borrowing VerifiedBundle) throws {
    guard let rotation = bundle.manifest.rotation else { return }
    if rotation.key != bundle.signer { try noteSigner(bundle.signer) }
    try keys.trust(rotation.key, as: Self.nextHubKeyName)
  }

  /// How to handle the key that signed a bundle from which a database is made.
  enum SignerHandling {
    /// The bundle has just come. Its key becomes the hub's key.
    case isTrusted
    /// The bundle is from the archive. Its key may be an old one, so no key in `keys/` changes.
    case isKept
  }

  /// Records the key that signed a database's first bundle as the hub's key. Also trusts the key that the bundle
  /// announces. The hub signs with that key as soon as this device has acknowledged the bundle.
  func trustSigner(of bundle: borrowing VerifiedBundle) throws {
    let signer = bundle.signer
    switch try hubKey() {
    case signer?: break
    case let old?: try replaceHubKey(old, by: signer)
    case nil: try keys.trust(signer, as: Self.hubKeyName)
    }
    try trustNext(of: bundle)
  }

  /// If an accepted bundle is signed with the announced key, records that key as the hub's key.
  func noteSigner(_ signer: PublicKey) throws {
    guard try keys.trusted(as: Self.nextHubKeyName) == signer, let old = try hubKey() else { return }
    try replaceHubKey(old, by: signer)
  }

  func replaceHubKey(_ old: PublicKey, by new: PublicKey) throws {
    try keys.retire(old, of: Self.hubKeyName)
    try keys.trust(new, as: Self.hubKeyName)
    try keys.distrust(Self.nextHubKeyName)
  }
}

extension Manifest {
  /// The emission number of a bundle from a hub, or of its volume; nil for other bundles.
  var emission: EmissionNumber? {
    switch body {
    case .scope(let scope): scope.number
    case .volume(let volume): volume.whole == .scope ? EmissionNumber(volume.number) : nil
    case .changes, .enrolment, .backup: nil
    }
  }
}

/// This device's own keys.
extension DeviceWorkspace {
  public func keyReport() throws -> KeyReport {
    let session = try examinedIfCaptured()
    return try KeyReport(
      keys, unaware: [session?.state.hubName].compactMap(\.self),
      revoked: session.map { try RevokedKeyTable.all(in: $0.database) } ?? [], hub: hubKey())
  }

  /// How to handle a new key that the hub may not know yet.
  public enum UnknownNextKey: Sendable {
    /// The new key stays, and no other key is made.
    case stays
    /// Another key replaces the new key, because the hub did not accept it.
    case isReplaced
  }

  /// Creates a new key. The next export announces it to the hub, signed with the present key.
  public func rotateKeys(_ unknown: UnknownNextKey = .stays) throws -> PublicKey {
    try locked {
      let session = try session()
      if let next = try keys.nextKey(), unknown == .stays {
        throw WorkspaceError(
          .rotating,
          """
          A new key was made already, with the fingerprint \(next.fingerprint), and the hub is not known to know it \
          yet.
          """,
          hint: "Exchange bundles with the hub first. If the hub refused that key: satchel keys rotate --again")
      }
      if runMode == .dryRun { return try keys.ownKey() }
      // The record of the announcement is removed before the key. So the next export announces the key that exists
      // then.
      try session.forgetToldKey()
      try keys.dropNext()
      return try keys.beginRotation(name: configuration.name)
    }
  }

  /// Protects the device's secret keys with a password. nil: removes the password.
  public func setPassword(_ password: Password?) throws {
    try lockedWithoutDatabase { if runMode == .commit { try keys.setPassword(password, name: configuration.name) } }
  }
}

extension DeviceSession {
  /// Deletes the record of the export that announced the next key, so that the next export announces the key again. An
  /// acknowledgement that is still on its way is for another key.
  fileprivate func forgetToldKey() throws {
    try database.writeTransaction(workspace.runMode) {
      state.toldKey = nil
      try state.save(in: database)
    }
  }
}

/// The hub's list of revoked keys, as its bundles bring it.
enum RevokedKeys {
  /// Refuses a bundle whose list of revoked keys is older than the known list. An attacker may be holding back a newer
  /// list.
  static func check(_ manifest: Manifest, _ state: DeviceState) throws {
    guard manifest.revoked?.number ?? 0 >= state.revocations else {
      throw Refusal(
        .olderRevocations,
        "Its list of revoked keys is older than this device's: a newer bundle came here before.",
        hint: "Ask the hub's operator for a new bundle.", keeping: .quarantine)
    }
  }

  /// Merges the list of a hub that was restored from a backup. The hub may have lost some revocations. They still hold
  /// on this device.
  static func join(_ manifest: Manifest, into state: inout DeviceState, in database: borrowing Database) throws {
    try RevokedKeyTable.add(manifest.revoked?.keys ?? [], in: database)
    state.revocations = manifest.revoked?.number ?? 0
  }

  static func take(_ manifest: Manifest, into state: inout DeviceState, in database: borrowing Database) throws {
    guard let revoked = manifest.revoked, revoked.number > state.revocations else { return }
    // A hub restored from a backup may have lost some revocations. A revoked key stays revoked.
    try join(manifest, into: &state, in: database)
  }
}
