import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Files of this device that its workspace does not know.
extension DeviceWorkspace {
  /// The files of this device that neither its database nor its workspace has. A bundle whose file is in the workspace
  /// too is not lost, even if a rebuilt database has no record of it.
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
