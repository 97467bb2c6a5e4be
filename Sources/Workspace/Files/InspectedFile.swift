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

/// A file on a stick that no key of this replica opens, judged by its name and its place. Neither of them is proved.
public enum UnopenedFile: Sendable {
  /// It is for another replica, or this replica needs nothing of it.
  case unneeded
  /// It is a bundle of the lost time, encrypted for a key that this hub replaced as lost. The hub does not need it.
  case ofReplacedKey
  /// It may be for a newer key of this replica. The refusal gives the next steps.
  case mayBeForNewerKey(Refusal)
}

/// The sender whom the folder of a file names. Nothing proves it.
public struct ClaimedSender: Sendable {
  public let name: String
  /// The beginning or the end of its id.
  private let partOfID: String

  public init(name: String, partOfID: String) { (self.name, self.partOfID) = (name, partOfID) }

  /// Whether the folder is the folder of this replica.
  public func mayBe(_ id: ReplicaID) -> Bool { id.text.hasPrefix(partOfID) || id.text.hasSuffix(partOfID) }
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
