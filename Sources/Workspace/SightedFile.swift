import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues

/// Where a file comes from that is to be imported.
public enum BundleSource: Sendable {
  /// A person named it, or it lay in the workspace.
  case named
  /// It lies on a stick: it is unchecked, and anybody could put it there.
  case stick
}

/// A file on a stick, by what its beginning proves.
public struct SightedFile: Sendable {
  public let path: String
  /// Whose it is by a signature that is known here; nil: it proves nothing.
  public let sender: ReplicaID?
  /// By which copies of one bundle are known; nil: it proves nothing.
  public let digest: Digest?

  public init(_ path: String, sender: ReplicaID? = nil, digest: Digest? = nil) {
    (self.path, self.sender, self.digest) = (path, sender, digest)
  }
}

extension BundleReader {
  /// Looks at the beginnings of files, which is cheap, however large they are. Those that prove whose they are come
  /// first. Otherwise the order stays.
  public func sight(_ paths: [String], trust: Trust) -> [SightedFile] {
    let sighted = paths.map { path in
      // What is wrong with the file, or with the stick, the import says.
      guard let found = try? identityIfSound(of: path, trust: trust) else { return SightedFile(path) }
      return SightedFile(path, sender: found.manifest.from.id, digest: found.digest)
    }
    return sighted.filter { $0.sender != nil } + sighted.filter { $0.sender == nil }
  }
}

/// Secret keys that are read once, however many files they are to open.
public final class RememberedIdentities {
  private let identities: () throws -> [AgeIdentity]
  private var result: Result<[AgeIdentity], any Error>?

  public init(_ identities: @escaping () throws -> [AgeIdentity]) { self.identities = identities }

  public func all() throws -> [AgeIdentity] {
    let known = result ?? Result { try identities() }
    result = known
    return try known.get()
  }
}
