import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The bundles from the hub in a device's archive that a trusted key signed. Finding them needs no database.
struct ArchivedEmissions {
  /// A bundle from the hub, with its path.
  struct Emission {
    let path: String
    let scope: Manifest.Scope
    let identity: BundleReader.Identity

    var manifest: Manifest { identity.manifest }
  }

  /// The keys that verify the bundles: every key that this device accepted as its hub's key, and the keys that these
  /// bundles announce. If `keys/` was replaced by an older copy, it may lack a later key that the archive announces.
  ///
  /// These keys are for archived bundles only. A bundle that arrives must be signed with a key in `keys/`.
  let keys: [PublicKey]
  /// The bundles in the order in which this device got them.
  let emissions: [Emission]

  init(_ workspace: DeviceWorkspace) throws {
    var keys = try workspace.hubKeys()
    var found: [Emission] = []
    var unread = try Self.files(of: workspace)
    var known = 0
    let reader = BundleReader(
      platform: workspace.platform, identities: RememberedIdentities(workspace.keys.identities).all)
    // A bundle may announce the key of another bundle, so the rest is read again after each new key.
    while keys.count > known {
      known = keys.count
      unread = try unread.filter { path in
        // The archive also holds this device's own exports, which another key signed.
        guard let identity = try reader.identityIfSound(of: path, trust: .keys(keys)) else { return true }
        guard case .scope(let scope) = identity.manifest.body, identity.manifest.to.id == workspace.configuration.id
        else { return false }
        found.append(Emission(path: path, scope: scope, identity: identity))
        if let next = identity.manifest.rotation?.key, !keys.contains(next) { keys.append(next) }
        return false
      }
    }
    self.keys = keys
    let order = EpochOrder(found.lazy.map(\.scope))
    emissions = found.sorted { order.precedes($0.scope, $1.scope) }
  }

  private static func files(of workspace: DeviceWorkspace) throws -> [String] {
    let (files, folder) = (workspace.platform.files, workspace.folder.archive)
    guard try files.kind(folder) == .directory else { return [] }
    return try files.list(folder).filter { $0.hasSuffix(".satchel") }.map { Paths.join(folder, $0) }
  }

  /// The hub's id; nil: the archive has no bundle from the hub.
  var hubID: ReplicaID? { emissions.last?.manifest.from.id }

  /// Whether one of the bundles says that the hub revoked this key.
  func isRevoked(_ key: PublicKey) -> Bool {
    emissions.contains { $0.manifest.revoked?.keys.contains(key) ?? false }
  }
}
