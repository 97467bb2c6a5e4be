import SatchelBundle
import SatchelCrypto
import SatchelValues
import SatchelWorkspace

/// Finds the owners of signing keys in all records of this hub.
///
/// A key has one owner for ever: the device that signed with it. A key that a device only announced has no owner yet,
/// because every reader of a bundle can announce the bundle's key.
///
/// Two keys may have the same id: a signature is tried with all keys that have its id. Only the ids of the hub's own
/// keys are reserved.
struct KnownKeys {
  enum Owner: Equatable {
    case hub
    /// The name of a device that has or had the key.
    case device(String)
    /// The key is revoked. No replica may sign with it any more.
    case nobody

    var words: String {
      switch self {
      case .hub: "this hub's own key"
      case .device(let name): "the key of the device \(name)"
      case .nobody: "a revoked key"
      }
    }
  }

  private let hub: HubWorkspace
  private let store: HubStore

  init(_ hub: HubWorkspace, _ store: HubStore) { (self.hub, self.store) = (hub, store) }

  /// The owner of a key that a bundle announces as new. nil if the key has no owner yet.
  /// - Parameter device: the device that announces the key. Its present key is not compared.
  func owner(of key: PublicKey, besides device: ReplicaID? = nil) throws -> Owner? {
    if try hub.ownKeys().contains(where: { $0.id == key.id || $0.isSame(as: key) }) { return .hub }
    if try isRevoked(key) { return .nobody }
    for known in try store.devices() {
      let present = known.id == device ? [] : [known.key]
      if try (present + store.formerKeys(of: known.id)).contains(where: { $0.isSame(as: key) }) {
        return .device(known.name)
      }
    }
    return nil
  }

  func isRevoked(_ key: PublicKey) throws -> Bool {
    try store.revocations()?.keys.contains { $0.isSame(as: key) } ?? false
  }

  /// Refuses the key of a request if the key already has an owner.
  func check(_ key: PublicKey) throws {
    guard let owner = try owner(of: key) else { return }
    throw Refusal(
      .knownKey, "The request has \(owner.words), or a key with the same id.",
      hint: "A new key must not have another owner. Ask the device's user who made this file.", keeping: .quarantine)
  }

  /// Returns keys that are on the list of revoked keys although a trusted replica still signs with them.
  func wronglyRevoked() throws -> [(key: PublicKey, owner: Owner)] {
    let revoked = Set(try store.revocations()?.keys ?? [])
    if revoked.isEmpty { return [] }
    let own = try [hub.keys.ownKey()] + [hub.keys.nextKey()].compactMap(\.self)
    let devices = try store.devices().filter { $0.state != .revoked }.flatMap { device in
      device.provedKeys.map { (key: $0, owner: Owner.device(device.name)) }
    }
    return (own.map { (key: $0, owner: Owner.hub) } + devices).filter { revoked.contains($0.key) }
  }
}

extension PublicKey {
  /// Whether both public keys belong to one secret key. The ids are not compared.
  fileprivate func isSame(as other: PublicKey) -> Bool { bytes == other.bytes }
}

extension EnrolledDevice {
  /// Whether the device signs its bundles with this key now.
  func signs(with key: PublicKey) -> Bool { key == self.key || key == nextKey }

  /// The keys that the device is known to hold: its present key, and its next key if that key signed its own
  /// announcement.
  var provedKeys: [PublicKey] { [key] + (isNextKeyProved ? [nextKey].compactMap(\.self) : []) }
}

// MARK: the list of revoked keys

extension HubWorkspace {
  /// Throws a `WorkspaceError` if the list of revoked keys contains a key in use. A device that imported this list
  /// would refuse all later bundles.
  func checkRevocations(_ store: HubStore) throws {
    guard let wrong = try KnownKeys(self, store).wronglyRevoked().first else { return }
    throw WorkspaceError(
      .revokedInUse, "The list of revoked keys has \(wrong.owner.words), which is in use: no bundle may carry it.",
      hint: Self.wayOutOfWrongList)
  }

  private static let wayOutOfWrongList =
    """
    satchel-hub doctor --repair removes it from the list. If a device imported such a bundle: satchel-hub keys \
    rotate --lost
    """

  func wrongRevocations(_ store: HubStore) throws -> [Finding] {
    try KnownKeys(self, store).wronglyRevoked().map {
      Finding(
        .revokedInUse, "The list of revoked keys has \($0.owner.words), which is in use.",
        hint: Self.wayOutOfWrongList)
    }
  }

  /// Removes keys in use from the list of revoked keys. The caller must hold a transaction.
  func mendRevocations(_ store: HubStore) throws {
    let wrong = try KnownKeys(self, store).wronglyRevoked()
    if !wrong.isEmpty { try store.takeOffRevoked(wrong.map(\.key)) }
  }
}
