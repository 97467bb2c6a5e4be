import SatchelCrypto
import SatchelJSON
import SatchelPlatform
import SatchelValues

/// Reads the members of a manifest. Errors name the faulty member.
struct ManifestFields {
  let object: JSONValue

  init(_ object: JSONValue) { self.object = object }

  func string(_ name: String) throws(BundleError) -> String {
    guard let text = object[name]?.stringValue else { throw .manifest("\(name) is missing or not a text") }
    return text
  }

  private func integer(_ name: String) throws(BundleError) -> Int64 {
    guard let number = object[name]?.integerValue else { throw .manifest("\(name) is missing or not a whole number") }
    return number
  }

  /// Reads a whole number that is at least `least`.
  func natural(_ name: String, from least: Int64 = 0) throws(BundleError) -> Int64 {
    let number = try integer(name)
    guard number >= least, number <= largestCount else { throw .manifest("\(name) is out of range") }
    return number
  }

  /// Reads the name of a user, which is empty if no user is known yet.
  func userName(_ name: String) throws(BundleError) -> String {
    let text = try string(name)
    guard isUserName(text) else { throw .manifest("\(name) is no user's name") }
    return text
  }

  func time(_ name: String) throws(BundleError) -> String {
    let text = try string(name)
    guard UTCTime.isText(text) else { throw .manifest("\(name) is not a time") }
    return text
  }

  func identifier<ID: Identifier>(_ name: String) throws(BundleError) -> ID {
    guard let id = ID(try string(name)) else { throw .manifest("\(name) is not a lower-case UUID") }
    return id
  }

  func safeName(_ name: String) throws(BundleError) -> String {
    let text = try string(name)
    guard isSafeName(text) else { throw .manifest("\(name) cannot be part of a file name") }
    return text
  }

  func stamp(_ name: String) throws(BundleError) -> Stamp {
    guard let stamp = Stamp(hexadecimal: try string(name)) else { throw .manifest("\(name) is not a stamp") }
    return stamp
  }

  /// nil if there is no such member.
  func digest(_ name: String) throws(BundleError) -> Digest? {
    if object[name] == nil { return nil }
    guard let digest = Digest(hexadecimal: try string(name)) else { throw .manifest("\(name) is not a digest") }
    return digest
  }

  func continuation() throws(BundleError) -> Manifest.Continuation? {
    guard let value = object["continues"] else { return nil }
    let fields = ManifestFields(value)
    return .init(
      device: try fields.identifier("device"), acknowledged: SequenceNumber(try fields.natural("acknowledged")),
      received: EmissionNumber(try fields.natural("received")), chain: try fields.chain(),
      proof: try fields.signature("proof"))
  }

  func recipient(_ name: String) throws(BundleError) -> AgeRecipient? {
    if object[name] == nil { return nil }
    guard let recipient = AgeRecipient(try string(name)) else {
      throw .manifest("\(name) is not an age recipient (age1...)")
    }
    return recipient
  }

  func rotation() throws(BundleError) -> Manifest.Rotation? {
    guard let value = object["rotation"] else { return nil }
    let fields = ManifestFields(value)
    guard let key = PublicKey(line: try fields.string("key")), let recipient = try fields.recipient("recipient") else {
      throw .manifest("rotation names no keys")
    }
    return .init(key: key, recipient: recipient, proof: try fields.signature("proof"))
  }

  func revocations() throws(BundleError) -> Manifest.Revocations? {
    guard let value = object["revoked"] else { return nil }
    guard let list = value["keys"]?.arrayValue else { throw .manifest("revoked has no list of keys") }
    var keys: [PublicKey] = []
    for item in list {
      guard let key = item.stringValue.flatMap({ PublicKey(line: $0) }) else {
        throw .manifest("revoked has an entry that is not a key")
      }
      if let last = keys.last, !last.line.utf8.lexicographicallyPrecedes(key.line.utf8) {
        throw .manifest("revoked keys are out of order")
      }
      keys.append(key)
    }
    return .init(number: try ManifestFields(value).natural("number", from: 1), keys: keys)
  }

  func chain() throws(BundleError) -> [Manifest.Changes.Link] {
    guard let list = object["chain"]?.arrayValue, list.count <= Manifest.Changes.longestChain else {
      throw .manifest("chain is missing or too long")
    }
    var chain: [Manifest.Changes.Link] = []
    for item in list {
      let fields = ManifestFields(item)
      guard let digest = Digest(hexadecimal: try fields.string("digest")) else {
        throw .manifest("digest is malformed")
      }
      chain.append(.init(sequence: SequenceNumber(try fields.natural("sequence", from: 1)), digest: digest))
    }
    return chain
  }

  /// The features that the sender can read. Features that this release does not know are left out.
  func understood() throws(BundleError) -> Set<Manifest.Critical> {
    guard let value = object["understands"] else { return [] }
    guard let list = value.arrayValue, list.count <= 100, list.allSatisfy({ $0.stringValue != nil }) else {
      throw .manifest("understands is not a list of names, or too long")
    }
    return Set(list.compactMap { $0.stringValue.flatMap { Manifest.Critical(rawValue: $0) } })
  }

  /// The hub's requests for the digest of each row in some sums.
  func questions() throws(BundleError) -> [StateEntry.Question] {
    guard let value = object["compare"] else { return [] }
    guard let list = value.arrayValue, list.count <= Manifest.Scope.mostCompared else {
      throw .manifest("compare is not a list, or too long")
    }
    return try list.map { item throws(BundleError) in
      guard let question = StateEntry.Question(json: item) else {
        throw .manifest("compare asks for sums that do not exist")
      }
      return question
    }
  }

  func lost() throws(BundleError) -> [AttachmentPath] {
    guard let value = object["lost"] else { return [] }
    guard let list = value.arrayValue else { throw .manifest("lost is not a list") }
    var paths: [AttachmentPath] = []
    for item in list {
      guard let path = item.stringValue.flatMap({ AttachmentPath($0) }) else {
        throw .manifest("lost has an entry that is not a path below files/")
      }
      paths.append(path)
    }
    return paths
  }

  func entries() throws(BundleError) -> [Manifest.Entry] {
    guard let list = object["entries"]?.arrayValue, list.count <= EntryName.fixed.count + BundleLimits.mostBlobs else {
      throw .manifest("entries is missing or too long")
    }
    var entries: [Manifest.Entry] = []
    for item in list {
      let fields = ManifestFields(item)
      guard let name = EntryName(rawValue: try fields.string("name")), name > .manifest else {
        throw .newerFormat("it has an entry that this version does not know")
      }
      if let last = entries.last, last.name >= name { throw .manifest("entries are out of order") }
      entries.append(.init(name: name, bytes: try fields.natural("bytes")))
    }
    return entries
  }
}
