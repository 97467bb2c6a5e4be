import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues

/// A file on a medium that this replica signed, or seems to have signed, and that its database does not know.
///
/// The replica's files were put back from a copy, or there are two copies of the replica. The file may be the only one
/// with its work, so no command removes or replaces it.
public struct UnknownOwnBundle: Sendable {
  public let path: String
  /// The signed manifest; nil: the file is encrypted, and no key here opens it.
  public let manifest: Manifest?
  /// Whether a key of this replica signed the file. A stranger can write a file that only names this replica.
  public let isProof: Bool

  public init(_ path: String, _ manifest: Manifest? = nil, isProof: Bool = false) {
    (self.path, self.manifest, self.isProof) = (path, manifest, isProof)
  }
}

extension BundleReader {
  /// The files of this replica that it is not known to have made. A damaged file shows no history, so it is not among
  /// them. Only the beginnings of the files are read.
  /// - Parameters:
  ///   - keys: the keys of this replica whose signatures are trusted.
  ///   - isMade: whether the replica's records contain the bundle with this manifest and digest. For a volume: whether
  ///     they contain the whole bundle.
  public func unknownOwn(
    among paths: [String], of replica: WorkspaceConfiguration, signedBy keys: [PublicKey],
    isMade: (_ manifest: Manifest, _ digest: Digest) throws -> Bool
  ) throws -> [UnknownOwnBundle] {
    try paths.compactMap { path in
      let found: Identity
      // The key that signed the file may be newer than this copy of the replica. So a signature by an unknown key is no
      // reason to skip the file.
      do { found = try identity(of: path, trust: .firstContact) } catch BundleError.encryption {
        return UnknownOwnBundle(path)
      } catch is BundleError {
        return nil
      } catch is PlatformError {
        return nil
      }
      guard replica.ids.contains(found.manifest.from.id), found.manifest.kind != .enrolment,
        try !isMade(found.manifest, found.digest)
      else { return nil }
      return UnknownOwnBundle(
        path, found.manifest, isProof: found.manifest.from.id == replica.id && keys.contains(found.signer))
    }
  }
}
