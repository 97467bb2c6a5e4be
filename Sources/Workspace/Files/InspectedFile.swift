import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues

/// The source of a file to import.
public enum BundleSource: Sendable {
  /// A person named the file, or the file was in the workspace.
  case named
  /// The file is on a stick. It is unchecked, and anyone could put it there.
  case stick
}

/// A file on a stick, with the facts that its beginning proves.
public struct InspectedFile: Sendable {
  public let path: String
  /// The sender, proved by a signature of a known key; nil: the file proves no sender.
  public let sender: ReplicaID?
  /// The digest that identifies copies of one bundle; nil: the file proves no sender.
  public let digest: Digest?
  /// Whether the file is encrypted, and no key of this replica opens it.
  public private(set) var isForOtherRecipient = false

  public init(_ path: String, sender: ReplicaID? = nil, digest: Digest? = nil) {
    (self.path, self.sender, self.digest) = (path, sender, digest)
  }

  fileprivate static func forOtherRecipient(_ path: String) -> InspectedFile {
    var file = InspectedFile(path)
    file.isForOtherRecipient = true
    return file
  }
}

extension BundleReader {
  /// Checks the beginnings of files. This is cheap, even if the files are large. Files that prove their sender come
  /// first. Otherwise the order stays.
  public func inspect(_ paths: [String], trust: Trust) -> [InspectedFile] {
    let inspected = paths.map { path in
      do {
        let found = try identity(of: path, trust: trust)
        return InspectedFile(path, sender: found.manifest.from.id, digest: found.digest)
      } catch BundleError.encryption(.noMatch) {
        return InspectedFile.forOtherRecipient(path)
      } catch {
        // The import reports faults of the file or of the stick.
        return InspectedFile(path)
      }
    }
    return inspected.filter { $0.sender != nil } + inspected.filter { $0.sender == nil }
  }
}

/// Secret keys that are read only once, even if they open many files.
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
