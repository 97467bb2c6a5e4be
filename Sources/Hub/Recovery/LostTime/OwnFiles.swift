import SatchelBundle
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Files of this hub that its database does not know. They prove that the hub was set back, or belong to the lost time.
extension HubWorkspace {
  /// Returns the files that this hub signed and that its database does not know. The database knows files that the hub
  /// made, and files that a device brought back.
  /// - Parameter paths: files on a medium, in the folders of this hub.
  public func unknownOwn(_ paths: [String]) throws -> [UnknownOwnBundle] {
    if paths.isEmpty { return [] }
    let store = try examined()
    let reader = BundleReader(platform: platform, identities: RememberedIdentities(keys.identities).all)
    return try reader.unknownOwn(among: paths, of: configuration, signedBy: believedOwnKeys(store)) {
      try Ledger.hasWritten($0, $1, in: store.database) || store.isCollected($1)
    }
  }

  /// Throws if a folder of this hub already has an emission with the number of the next emission. The file proves that
  /// the database alone was set back. The next emission would replace this file.
  func refuseUnknownEmission(for device: EnrolledDevice, _ store: HubStore) throws {
    let next = max(max(device.emitted, device.proved).next, store.identity.firstEmission)
    let prefix = Manifest.namePrefix(dataset: store.dataset.name, from: store.identity.name, to: device.name)
    let archive = BundleArchive(folder, platform.files)
    guard let path = try archive.place(ofOutgoing: "\(prefix)\(next).satchel"),
      let found = try reader.identityIfSound(of: path, trust: .keys(believedOwnKeys(store))),
      case .scope(let scope) = found.manifest.body, scope.number == next, scope.epoch == store.identity.epoch,
      found.manifest.from.id == store.identity.id, found.manifest.to.id == device.id,
      try !Ledger.hasWritten(found.manifest, found.digest, in: store.database)
    else { return }
    let proof = try proofOfSetBack(
      Manifest.EmissionLink(number: next, digest: found.digest), of: scope.epoch, after: scope.former ?? [],
      for: device.id, store)
    try note(proof, store)
    throw proof.refusal
  }
}
