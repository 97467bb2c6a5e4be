import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Whose signatures a device takes for its hub's, and how that changes.
extension DeviceWorkspace {
  /// The hub's name among this device's keys.
  static let hubKeyName = "hub"
  /// The key that the hub has announced, and may sign with by now.
  static let nextHubKeyName = "hub-next"

  func ownKey() throws -> PublicKey { try keys.ownKey() }

  /// nil: this device does not know its hub yet.
  func hubKey() throws -> PublicKey? { try keys.trusted(as: Self.hubKeyName) }

  /// The keys with which the hub may sign now.
  func presentHubKeys() throws -> [PublicKey] {
    try [hubKey(), keys.trusted(as: Self.nextHubKeyName)].compactMap(\.self)
  }

  /// Every key that was ever known to be the hub's.
  func hubKeys() throws -> [PublicKey] { try presentHubKeys() + keys.former(of: Self.hubKeyName) }

  /// Every key with which this device ever signed.
  func ownKeys() throws -> [PublicKey] { try [ownKey()] + keys.former() }

  /// Reads bundles, decrypting them where they are encrypted for this device.
  var reader: BundleReader { BundleReader(platform: platform, identities: keys.identities) }

  /// What must be right of the key that a bundle of the hub's is signed with.
  func check(_ signer: PublicKey, of manifest: Manifest, _ state: DeviceState?, revoked: (PublicKey) throws -> Bool)
    throws
  {
    if try revoked(signer) {
      throw Refusal(
        "revoked-key", "It is signed with a key that the hub has revoked.",
        hint: "Do not use this file. Ask the hub's operator where it comes from.", keeping: .quarantine)
    }
    if try presentHubKeys().contains(signer) { return }
    guard try keys.former(of: Self.hubKeyName).contains(signer) else {
      throw Refusal("other-key", "It is signed by another than the hub.", keeping: .quarantine)
    }
    // What came before the new key may come once more.
    guard let number = manifest.emission, number <= state?.received ?? .zero else {
      throw Refusal(
        "replaced-key", "It is signed with a key in whose place the hub has another one by now.",
        hint: "Do not use this file. Ask the hub's operator where it comes from.", keeping: .quarantine)
    }
  }

  /// Trusts the key that a verified bundle announces. Before the bundle is taken: to trust it too early does no harm.
  func trustNext(of manifest: Manifest) throws {
    if let rotation = manifest.rotation { try keys.trust(rotation.key, as: Self.nextHubKeyName) }
  }

  /// A bundle was taken that is signed with the announced key: from now on that is the hub's.
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
  /// The number of the emission that a bundle of a hub's is, or is a piece of; nil for what is none.
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
    let session = try isInitial() ? nil : examined()
    return try KeyReport(
      keys, unaware: [session?.state.hubName].compactMap(\.self),
      revoked: session.map { try RevokedKeys.all(in: $0.database) } ?? [], hub: hubKey())
  }

  /// Makes a new key. The hub learns of it by the next export, which the present key signs.
  public func rotateKeys() throws -> PublicKey {
    try locked {
      _ = try session()
      if let next = try keys.nextKey() {
        throw WorkspaceError(
          "rotating",
          "A new key was made already, with the fingerprint \(next.fingerprint), and the hub is not known to know it yet.",
          hint: "Exchange bundles with the hub first.")
      }
      return try ending == .takeBack ? keys.ownKey() : keys.beginRotation(name: configuration.name)
    }
  }

  /// Puts the device's secret keys behind a password, or takes it away.
  public func setPassword(_ password: Password?) throws {
    try locked { if ending == .keep { try keys.setPassword(password, name: configuration.name) } }
  }
}

/// `satchel_revoked`: the keys that nothing may be signed with any more, as the hub said last.
enum RevokedKeys {
  static func contains(_ key: PublicKey, in database: borrowing Database) throws -> Bool {
    try database.first("SELECT 1 FROM satchel_revoked WHERE key = :key", ["key": .string(key.line)]) { _ in true }
      ?? false
  }

  static func all(in database: borrowing Database) throws -> [PublicKey] {
    try database.all("SELECT key FROM satchel_revoked ORDER BY key") { PublicKey(line: $0.text(0)) }.compactMap(\.self)
  }

  /// Refuses a bundle whose list is older than the one that is known: somebody holds back what was said since.
  static func check(_ manifest: Manifest, _ state: DeviceState) throws {
    guard manifest.revoked?.number ?? 0 >= state.revocations else {
      throw Refusal(
        "older-revocations",
        "It knows less of revoked keys than this device does: it was made before another one that came here.",
        hint: "Ask the hub's operator for a new bundle.", keeping: .quarantine)
    }
  }

  /// Takes over the list of a hub that was restored from a backup: it may have forgotten keys, and this device does
  /// not.
  static func join(_ manifest: Manifest, into state: inout DeviceState, in database: borrowing Database) throws {
    for key in manifest.revoked?.keys ?? [] {
      try database.run("INSERT OR IGNORE INTO satchel_revoked (key) VALUES (:key)", ["key": .string(key.line)])
    }
    state.revocations = manifest.revoked?.number ?? 0
  }

  static func take(_ manifest: Manifest, into state: inout DeviceState, in database: borrowing Database) throws {
    guard let revoked = manifest.revoked, revoked.number > state.revocations else { return }
    // A hub that came back from a backup may have forgotten some: what was revoked once stays so.
    try join(manifest, into: &state, in: database)
  }
}
