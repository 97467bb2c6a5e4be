import SatchelCrypto
import SatchelJSON
import SatchelValues

/// The members of manifests by which a bundle is found to belong to a history. A number alone does not identify a
/// bundle; number and digest together do.
extension Manifest {
  /// An emission, identified by its number and the digest of its B2SUMS.
  public struct EmissionLink: Hashable, Comparable, Sendable {
    public let number: EmissionNumber
    public let digest: Digest

    public init(number: EmissionNumber, digest: Digest) {
      self.number = number
      self.digest = digest
    }

    public static func < (a: EmissionLink, b: EmissionLink) -> Bool {
      a.number == b.number ? a.digest.hexadecimal < b.digest.hexadecimal : a.number < b.number
    }
  }

  /// The emission on which a device is, with the hub's own signature of it.
  ///
  /// The signature proves that the hub made this emission, even if the hub has no record of it. Then the hub was set
  /// back or is a copy. The reader must check the signature before it acts.
  public struct EmissionProof: Hashable, Sendable {
    public let digest: Digest
    /// The content of `B2SUMS.minisig` of that emission; nil if the device no longer has it.
    public let signature: Signature?

    public init(digest: Digest, signature: Signature?) {
      self.digest = digest
      self.signature = signature
    }
  }
}

extension Manifest.Changes {
  /// The most emissions of earlier histories that a bundle names.
  public static let mostBrought = 1_000
}

extension Manifest.Scope {
  /// The most emissions in `follows`: enough for more than ten years of daily bundles without an answer.
  public static let mostFollowed = 4_096
  /// The most tables in one comparison row by row.
  public static let mostCompared = 1_000
  /// The most earlier epochs in a manifest.
  public static let mostEpochs = 1_024
  /// The most by which a number may exceed the last number of the same epoch. A greater number is a mistake, or a
  /// thief's attempt to use up the numbers.
  public static let longestJump: Int64 = 1_000_000
}

// MARK: JSON

extension Manifest.Changes {
  var historyMembers: [JSONValue.Member] {
    var members: [JSONValue.Member] = []
    if let base { members.append(.init(name: "base", value: .integer(base.rawValue))) }
    if let formerExports {
      members.append(.init(name: "former_exports", value: .integer(formerExports.rawValue)))
    }
    if !former.isEmpty { members.append(.init(name: "former", value: former.json)) }
    if let proof {
      members.append(.init(name: "received_digest", value: .string(proof.digest.hexadecimal)))
      if let signature = proof.signature {
        let text = String(decoding: signature.fileBytes, as: UTF8.self)
        members.append(.init(name: "received_signature", value: .string(text)))
      }
    }
    if !brings.isEmpty { members.append(.init(name: "brings", value: brings.json)) }
    if let original { members.append(.init(name: "original", value: .string(original.hexadecimal))) }
    return members
  }
}

extension Manifest.Scope {
  var historyMembers: [JSONValue.Member] {
    var members: [JSONValue.Member] = []
    if let backedUp { members.append(.init(name: "backed_up", value: .integer(backedUp.rawValue))) }
    if let follows {
      let links = follows.map { link in
        JSONValue.object([
          .init(name: "number", value: .integer(link.number.rawValue)),
          .init(name: "digest", value: .string(link.digest.hexadecimal)),
        ])
      }
      members.append(.init(name: "follows", value: .array(links)))
    }
    if let former { members.append(.init(name: "former", value: former.json)) }
    if !collected.isEmpty { members.append(.init(name: "collected", value: collected.json)) }
    if !known.isEmpty { members.append(.init(name: "known", value: known.json)) }
    if !compare.isEmpty { members.append(.init(name: "compare", value: .array(compare.map(\.json)))) }
    return members
  }
}

extension [Epoch] {
  fileprivate var json: JSONValue { .array(map { .string($0.text) }) }
}

extension [Digest] {
  fileprivate var json: JSONValue { .array(map { .string($0.hexadecimal) }) }
}

extension ManifestFields {
  /// nil if the bundle is of a release without this member.
  func emissionProof() throws(BundleError) -> Manifest.EmissionProof? {
    guard let digest = try digest("received_digest") else { return nil }
    return .init(digest: digest, signature: try signature("received_signature"))
  }

  func signature(_ name: String) throws(BundleError) -> Signature? {
    if object[name] == nil { return nil }
    do { return try Signature(fileBytes: Array(try string(name).utf8)) } catch {
      throw .manifest("\(name) is not a signature")
    }
  }

  /// nil if there is no such member.
  func export(_ name: String) throws(BundleError) -> SequenceNumber? {
    if object[name] == nil { return nil }
    return SequenceNumber(try natural(name))
  }

  /// nil if the bundle is of a release without this member.
  func follows() throws(BundleError) -> [Manifest.EmissionLink]? {
    guard let value = object["follows"] else { return nil }
    var links: [Manifest.EmissionLink] = []
    for item in try list(value, "follows", most: Manifest.Scope.mostFollowed) {
      let fields = ManifestFields(item)
      guard let digest = try fields.digest("digest") else {
        throw .manifest("follows names an emission without its digest")
      }
      let number = EmissionNumber(try fields.natural("number", from: 1))
      let link = Manifest.EmissionLink(number: number, digest: digest)
      if let last = links.last, !(last < link) { throw .manifest("follows is out of order") }
      links.append(link)
    }
    return links
  }

  /// The epochs in `former`, each once, in the order of their text; nil if there is no such member.
  func formerEpochs() throws(BundleError) -> [Epoch]? {
    guard let value = object["former"] else { return nil }
    var epochs: [Epoch] = []
    for item in try list(value, "former", most: Manifest.Scope.mostEpochs) {
      guard let epoch = item.stringValue.flatMap({ Epoch($0) }) else {
        throw .manifest("former has an entry that is not an epoch")
      }
      if let last = epochs.last, last.text >= epoch.text { throw .manifest("former is out of order") }
      epochs.append(epoch)
    }
    return epochs
  }

  /// The digests in a list, each once, in the order of their text; empty if there is no such member.
  func digests(_ name: String) throws(BundleError) -> [Digest] {
    guard let value = object[name] else { return [] }
    var digests: [Digest] = []
    for item in try list(value, name, most: Manifest.Changes.mostBrought) {
      guard let digest = item.stringValue.flatMap({ Digest(hexadecimal: $0) }) else {
        throw .manifest("\(name) has an entry that is not a digest")
      }
      if let last = digests.last, last.hexadecimal >= digest.hexadecimal {
        throw .manifest("\(name) is out of order")
      }
      digests.append(digest)
    }
    return digests
  }

  func list(_ value: JSONValue, _ name: String, most: Int) throws(BundleError) -> [JSONValue] {
    guard let list = value.arrayValue, list.count <= most else { throw .manifest("\(name) is not a list, or too long") }
    return list
  }
}
