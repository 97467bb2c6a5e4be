import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Files that this device made and that its workspace does not know.
extension DeviceWorkspace {
  /// The files that this device made, and that neither its database nor its workspace has a record of. If a bundle's
  /// file is also in the workspace, the bundle is known, even without a record in a rebuilt database.
  /// - Parameter paths: files on a medium in the folders of this device.
  public func unknownOwn(_ paths: [String]) throws -> [UnknownOwnBundle] {
    if try paths.isEmpty || keys.areDiscarded() { return [] }
    let session = try recordedSession()
    let reader = BundleReader(platform: platform, identities: RememberedIdentities(keys.identities).all)
    return try reader.unknownOwn(among: paths, of: configuration, signedBy: ownKeys()) { manifest, digest in
      if let session, try Ledger.hasWritten(manifest, digest, in: session.database) { return true }
      return try hasFile(of: manifest, digest, reader)
    }
  }

  /// The database with its records; nil: there is none that can be read.
  private func recordedSession() throws -> DeviceSession? {
    guard case .there = try databaseCondition() else { return nil }
    return try? examined()
  }

  /// Whether the workspace has the file of a bundle. For a volume: the file of the whole bundle.
  private func hasFile(of manifest: Manifest, _ digest: Digest, _ reader: BundleReader) throws -> Bool {
    let archive = BundleArchive(folder, platform.files)
    guard let path = try archive.place(ofOutgoing: manifest.wholeFileName),
      let kept = try reader.identityIfSound(of: path, trust: .keys(ownKeys()))
    else { return false }
    if case .volume(let volume) = manifest.body { return kept.manifest.bundle == volume.of }
    return kept.digest == digest
  }
}
