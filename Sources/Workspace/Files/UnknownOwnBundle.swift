import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues

/// A file on a medium that this replica signed or seems to have signed, but that is not in its database.
///
/// There are two possible reasons: this replica's files were replaced by an older copy, or a second copy of this
/// replica exists. The file may be the only one with that work, so no command removes or replaces the file.
public struct UnknownOwnBundle: Sendable {
  public let path: String
  /// The manifest of the file; nil if the file is encrypted and no key of this replica decrypts it.
  public let manifest: Manifest?
  /// Whether a key of this replica signed the file. Otherwise a stranger may have made a file that only names this
  /// replica.
  public let isProof: Bool

  public init(_ path: String, _ manifest: Manifest? = nil, isProof: Bool = false) {
    (self.path, self.manifest, self.isProof) = (path, manifest, isProof)
  }
}

extension BundleReader {
  /// The files that name this replica as their sender, but that its records do not contain. Only the beginnings of
  /// the files are read. A damaged file is not in the result, because it proves nothing.
  /// - Parameters:
  ///   - keys: the keys of this replica that count as proof.
  ///   - isMade: whether the replica's records contain this bundle. For a volume: whether they contain its whole
  ///     bundle.
  public func unknownOwn(
    among paths: [String], of replica: WorkspaceConfiguration, signedBy keys: [PublicKey],
    isMade: (_ manifest: Manifest, _ digest: Digest) throws -> Bool
  ) throws -> [UnknownOwnBundle] {
    try paths.compactMap { path in
      let found: Identity
      // A file that an unknown key signed is not skipped. The key may be newer than this copy of the replica.
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
