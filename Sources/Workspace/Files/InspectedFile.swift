import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues

/// The place from which a file to import comes.
public enum BundleSource: Sendable {
  /// A person named the file, or the file is in the workspace.
  case named
  /// The file is on a stick. Anyone could have put it there.
  case stick
}

/// A file on a stick, and what the signed beginning of the file proves.
public struct InspectedFile: Sendable {
  public let path: String
  /// The sender that a known key's signature proves; nil if the file proves no sender.
  public let sender: ReplicaID?
  /// The digest by which copies of one bundle are recognised; nil if the file proves no sender.
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

/// The likely meaning of a file on a stick that no key of this replica can decrypt. It is judged by name and folder
/// alone, which prove nothing.
public enum UnopenedFile: Sendable {
  /// The file is for another replica, or this replica does not need it.
  case unneeded
  /// The file is a bundle of the lost time, encrypted for a key that this hub replaced as lost. The hub does not need
  /// it.
  case ofReplacedKey
  /// The file may be encrypted for a newer key of this replica. The refusal names the next steps.
  case mayBeForNewerKey(Refusal)
}

/// The sender that the folder of a file names. No signature proves this sender.
public struct ClaimedSender: Sendable {
  public let name: String
  /// The beginning or the end of the sender's id.
  private let partOfID: String

  public init(name: String, partOfID: String) { (self.name, self.partOfID) = (name, partOfID) }

  /// Whether the folder may be that of the replica with this id.
  public func mayBe(_ id: ReplicaID) -> Bool { id.text.hasPrefix(partOfID) || id.text.hasSuffix(partOfID) }
}

extension BundleReader {
  /// Checks only the beginning of each file, so large files take no longer. In the result, files that prove their
  /// sender come first. Otherwise the order stays.
  public func inspect(_ paths: [String], trust: Trust) -> [InspectedFile] {
    let inspected = paths.map { path in
      do {
        let found = try identity(of: path, trust: trust)
        return InspectedFile(path, sender: found.manifest.from.id, digest: found.digest)
      } catch BundleError.encryption(.noMatch) {
        return InspectedFile.forOtherRecipient(path)
      } catch {
        // The import will report the fault of the file or of the stick.
        return InspectedFile(path)
      }
    }
    return inspected.filter { $0.sender != nil } + inspected.filter { $0.sender == nil }
  }
}

/// The secret keys that decrypt bundles. They are read only once, even if they decrypt many files.
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
