import SatchelBundle
import SatchelCrypto
import SatchelValues
import SatchelWorkspace

/// The owners of signing keys, from all records of this hub.
///
/// A key has one owner for ever. Two keys with one id count as one key: readers find keys by id, and a second key with
/// the same id makes the bundles of the first look damaged.
struct KnownKeys {
  enum Owner: Equatable {
    case hub
    /// The device of this name, now or before.
    case device(String)
    /// No replica may sign with it any more.
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

  /// The owner of a key that a bundle announces as new. nil if it has no owner yet.
  /// - Parameter device: the device whose present and next keys do not count.
  func owner(of key: PublicKey, besides device: ReplicaID? = nil) throws -> Owner? {
    if try hub.ownKeys().contains(where: { $0.isOrLooksLike(key) }) { return .hub }
    if try store.revocations()?.keys.contains(where: { $0.isOrLooksLike(key) }) == true { return .nobody }
    for known in try store.devices() {
      let present = known.id == device ? [] : [known.key] + [known.nextKey].compactMap(\.self)
      if try (present + store.formerKeys(of: known.id)).contains(where: { $0.isOrLooksLike(key) }) {
        return .device(known.name)
      }
    }
    return nil
  }

  /// Refuses a key that has an owner already.
  func check(_ key: PublicKey, besides device: ReplicaID? = nil, of what: String) throws {
    guard let owner = try owner(of: key, besides: device) else { return }
    throw Refusal(
      "known-key", "\(what) has \(owner.words), or a key with the same id.",
      hint: "A new key must not have another owner. Ask the device's user who made this file.", keeping: .quarantine)
  }

  /// The keys on the list of revoked keys with which a trusted replica still signs.
  func wronglyRevoked() throws -> [(key: PublicKey, owner: Owner)] {
    let revoked = Set(try store.revocations()?.keys ?? [])
    if revoked.isEmpty { return [] }
    let own = try [hub.keys.ownKey()] + [hub.keys.nextKey()].compactMap(\.self)
    let devices = try store.devices().filter { $0.state != .revoked }.flatMap { device in
      ([device.key] + [device.nextKey].compactMap(\.self)).map { (key: $0, owner: Owner.device(device.name)) }
    }
    return (own.map { (key: $0, owner: Owner.hub) } + devices).filter { revoked.contains($0.key) }
  }
}

extension PublicKey {
  fileprivate func isOrLooksLike(_ other: PublicKey) -> Bool { id == other.id || bytes == other.bytes }
}

extension EnrolledDevice {
  /// Whether the device signs its bundles with this key now.
  func signs(with key: PublicKey) -> Bool { key == self.key || key == nextKey }
}

// MARK: the list of revoked keys

extension HubWorkspace {
  /// Throws if the list of revoked keys contains a key in use. A device with that list would refuse all later bundles.
  func checkRevocations(_ store: HubStore) throws {
    guard let wrong = try KnownKeys(self, store).wronglyRevoked().first else { return }
    throw WorkspaceError(
      "revoked-in-use", "The list of revoked keys has \(wrong.owner.words), which is in use: no bundle may carry it.",
      hint: Self.wayOutOfWrongList)
  }

  private static let wayOutOfWrongList =
    "satchel-hub doctor --repair removes it from the list. If a device imported such a bundle: satchel-hub keys rotate --lost"

  func wrongRevocations(_ store: HubStore) throws -> [Finding] {
    try KnownKeys(self, store).wronglyRevoked().map {
      Finding(
        "revoked-in-use", "The list of revoked keys has \($0.owner.words), which is in use.",
        hint: Self.wayOutOfWrongList)
    }
  }

  /// Removes keys in use from the list of revoked keys. The caller holds a transaction.
  func mendRevocations(_ store: HubStore) throws {
    let wrong = try KnownKeys(self, store).wronglyRevoked()
    if !wrong.isEmpty { try store.takeOffRevoked(wrong.map(\.key)) }
  }
}
