import SatchelCrypto
import SatchelJSON
import SatchelPlatform
import SatchelValues

/// How a manifest stands in JSON; `docs/FORMAT.md` is the description.
extension Manifest {
  func json(entries: [Entry]) -> JSONValue {
    let members: [JSONValue.Member] = [
      .init(name: "format", value: .integer(Self.format)),
      .init(name: "critical", value: .array(critical.map { .string($0.rawValue) })),
      .init(name: "kind", value: .string(kind.rawValue)),
      .init(name: "bundle", value: .string(bundle.text)),
      .init(name: "dataset", value: .string(dataset)),
      .init(name: "version", value: .integer(version)),
      .init(name: "from", value: from.json),
      .init(name: "to", value: to.json),
      .init(name: "user", value: .string(user)),
      .init(name: "created", value: .string(created)),
      .init(name: "stamp", value: .string(stamp.hexadecimal)),
      .init(name: "counts", value: .object(countMembers)),
      .init(
        name: "entries",
        value: .array(
          entries.map {
            .object([.init(name: "name", value: .string($0.name.rawValue)), .init(name: "bytes", value: .integer($0.bytes))])
          })),
    ]
    return .object(members + keyMembers + bodyMembers)
  }

  private var countMembers: [JSONValue.Member] {
    var members: [JSONValue.Member] = [
      .init(name: "changes", value: .integer(changes)), .init(name: "resolutions", value: .integer(resolutions)),
      .init(name: "conflicts", value: .integer(conflicts)),
    ]
    if attachments > 0 {
      members += [.init(name: "attachments", value: .integer(attachments)), .init(name: "blobs", value: .integer(blobs))]
    }
    return members
  }

  private var keyMembers: [JSONValue.Member] {
    var members: [JSONValue.Member] = []
    if let recipient { members.append(.init(name: "recipient", value: .string(recipient.text))) }
    if let rotation {
      let value: JSONValue = ["key": .string(rotation.key.line), "recipient": .string(rotation.recipient.text)]
      members.append(.init(name: "rotation", value: value))
    }
    if let revoked {
      let value: JSONValue = ["number": .integer(revoked.number), "keys": .array(revoked.keys.map { .string($0.line) })]
      members.append(.init(name: "revoked", value: value))
    }
    return members
  }

  private var bodyMembers: [JSONValue.Member] {
    switch body {
    case .changes(let changes):
      [
        .init(name: "epoch", value: .string(changes.epoch.text)),
        .init(name: "incarnation", value: .string(changes.incarnation.text)),
        .init(name: "received", value: .integer(changes.received.rawValue)),
        .init(name: "sequence", value: .integer(changes.sequence.rawValue)),
        .init(name: "chain", value: changes.chain.json),
      ] + (changes.lost.isEmpty ? [] : [.init(name: "lost", value: .array(changes.lost.map { .string($0.text) }))])
    case .scope(let scope):
      [
        .init(name: "epoch", value: .string(scope.epoch.text)),
        .init(name: "number", value: .integer(scope.number.rawValue)),
        .init(name: "after", value: .integer(scope.after.rawValue)),
        .init(name: "extent", value: .string(scope.extent.rawValue)),
        .init(name: "acknowledged", value: .integer(scope.acknowledged.rawValue)),
      ]
        + (scope.acknowledgedDigest.map { [.init(name: "acknowledged_digest", value: .string($0.hexadecimal))] } ?? [])
    case .enrolment(let enrolment):
      [
        .init(name: "incarnation", value: .string(enrolment.incarnation.text)),
        .init(name: "key", value: .string(enrolment.key.line)),
      ] + (enrolment.continues.map { [.init(name: "continues", value: $0.json)] } ?? [])
    case .volume(let volume):
      [
        .init(name: "of", value: .string(volume.of.text)), .init(name: "whole", value: .string(volume.whole.rawValue)),
        .init(name: "number", value: .integer(volume.number)), .init(name: "part", value: .integer(volume.part)),
        .init(name: "parts", value: .integer(volume.parts)), .init(name: "bytes", value: .integer(volume.bytes)),
        .init(name: "digest", value: .string(volume.digest.hexadecimal)),
      ]
    case .backup(let backup):
      [
        .init(name: "epoch", value: .string(backup.epoch.text)), .init(name: "cursor", value: .integer(backup.cursor.rawValue)),
      ]
    }
  }

  /// Reads a manifest, with the entries that it promises. Unknown members are passed over, unless `critical` names them.
  static func parse(_ bytes: [UInt8], limits: BundleLimits) throws(BundleError) -> (manifest: Manifest, entries: [Entry]) {
    let document: JSONValue
    do { document = try JSONValue.parse(bytes, limits: JSONLimits(maxDepth: limits.jsonDepth)) } catch {
      throw .manifest("it is not JSON (\(error.reason), at byte \(error.offset))")
    }
    let fields = ManifestFields(document)
    let format = try fields.natural("format")
    guard format == Self.format else {
      if format > Self.format { throw .newerFormat("its format is \(format), this version reads \(Self.format)") }
      throw .manifest("there is no format \(format)")
    }
    guard let critical = document["critical"]?.arrayValue else { throw .manifest("critical is missing or no list") }
    var understood: [Critical] = []
    for name in critical {
      guard let known = name.stringValue.flatMap({ Critical(rawValue: $0) }) else {
        throw .newerFormat("it cannot be read without understanding \"\(name.stringValue ?? "?")\"")
      }
      if understood.contains(known) { throw .manifest("critical names \(known.rawValue) twice") }
      understood.append(known)
    }
    let word = try fields.string("kind")
    guard let kind = BundleKind(rawValue: word) else { throw .newerFormat("its kind is \"\(word)\"") }
    let counts = ManifestFields(document["counts"] ?? .null)
    var manifest = Manifest(
      bundle: try fields.identifier("bundle"), dataset: try fields.safeName("dataset"),
      version: try fields.natural("version", from: 1),
      from: try Party(document["from"], "from"), to: try Party(document["to"], "to"), user: try fields.userName("user"),
      created: try fields.time("created"), stamp: try fields.stamp("stamp"), changes: try counts.natural("changes"),
      conflicts: try counts.natural("conflicts"), resolutions: try counts.natural("resolutions"), body: try Body(kind, fields))
    if counts.object["attachments"] != nil {
      (manifest.attachments, manifest.blobs) = (try counts.natural("attachments", from: 1), try counts.natural("blobs"))
    }
    manifest.critical = understood
    manifest.recipient = try fields.recipient("recipient")
    manifest.rotation = try fields.rotation()
    manifest.revoked = try fields.revocations()
    return (manifest, try fields.entries())
  }
}

extension Manifest.Body {
  fileprivate init(_ kind: BundleKind, _ fields: ManifestFields) throws(BundleError) {
    switch kind {
    case .changes:
      self = .changes(
        .init(
          epoch: try fields.identifier("epoch"), incarnation: try fields.identifier("incarnation"),
          received: EmissionNumber(try fields.natural("received")),
          sequence: SequenceNumber(try fields.natural("sequence", from: 1)),
          chain: try fields.chain(), lost: try fields.lost()))
    case .scope:
      guard let extent = Manifest.Scope.Extent(rawValue: try fields.string("extent")) else {
        throw .manifest("extent is neither full nor delta")
      }
      self = .scope(
        .init(
          epoch: try fields.identifier("epoch"), number: EmissionNumber(try fields.natural("number", from: 1)),
          after: EmissionNumber(try fields.natural("after")), extent: extent,
          acknowledged: SequenceNumber(try fields.natural("acknowledged")),
          acknowledgedDigest: try fields.digest("acknowledged_digest")))
    case .enrolment:
      guard let key = PublicKey(line: try fields.string("key")) else { throw .manifest("key is no minisign public key") }
      self = .enrolment(
        .init(incarnation: try fields.identifier("incarnation"), key: key, continues: try fields.continuation()))
    case .volume:
      guard let whole = BundleKind(rawValue: try fields.string("whole")),
        let digest = Digest(hexadecimal: try fields.string("digest"))
      else { throw .manifest("whole or digest is of another form") }
      self = .volume(
        .init(
          of: try fields.identifier("of"), whole: whole, number: try fields.natural("number"),
          part: try fields.natural("part", from: 1), parts: try fields.natural("parts", from: 1),
          bytes: try fields.natural("bytes", from: 1), digest: digest))
    case .backup:
      self = .backup(.init(epoch: try fields.identifier("epoch"), cursor: Cursor(try fields.natural("cursor"))))
    }
  }
}

extension Manifest.Party {
  fileprivate var json: JSONValue {
    .object([.init(name: "id", value: .string(id.text)), .init(name: "name", value: .string(name))])
  }

  fileprivate init(_ value: JSONValue?, _ place: String) throws(BundleError) {
    guard let value else { throw .manifest("\(place) is missing") }
    let fields = ManifestFields(value)
    id = try fields.identifier("id")
    name = try fields.safeName("name")
  }
}

/// The members of a manifest, read with errors that name them.
private struct ManifestFields {
  let object: JSONValue

  init(_ object: JSONValue) { self.object = object }

  func string(_ name: String) throws(BundleError) -> String {
    guard let text = object[name]?.stringValue else { throw .manifest("\(name) is missing or no text") }
    return text
  }

  private func integer(_ name: String) throws(BundleError) -> Int64 {
    guard let number = object[name]?.integerValue else { throw .manifest("\(name) is missing or no whole number") }
    return number
  }

  /// A number that counts something.
  func natural(_ name: String, from least: Int64 = 0) throws(BundleError) -> Int64 {
    let number = try integer(name)
    guard number >= least, number <= largestCount else { throw .manifest("\(name) is out of range") }
    return number
  }

  /// A user's name; empty where there is none yet.
  func userName(_ name: String) throws(BundleError) -> String {
    let text = try string(name)
    guard isUserName(text) else { throw .manifest("\(name) is no user's name") }
    return text
  }

  func time(_ name: String) throws(BundleError) -> String {
    let text = try string(name)
    guard UTCTime.isText(text) else { throw .manifest("\(name) is no time") }
    return text
  }

  func identifier<ID: Identifier>(_ name: String) throws(BundleError) -> ID {
    guard let id = ID(try string(name)) else { throw .manifest("\(name) is no lower-case UUID") }
    return id
  }

  func safeName(_ name: String) throws(BundleError) -> String {
    let text = try string(name)
    guard isSafeName(text) else { throw .manifest("\(name) cannot be part of a file name") }
    return text
  }

  func stamp(_ name: String) throws(BundleError) -> Stamp {
    guard let stamp = Stamp(hexadecimal: try string(name)) else { throw .manifest("\(name) is no stamp") }
    return stamp
  }

  /// nil: there is no such member.
  func digest(_ name: String) throws(BundleError) -> Digest? {
    if object[name] == nil { return nil }
    guard let digest = Digest(hexadecimal: try string(name)) else { throw .manifest("\(name) is no digest") }
    return digest
  }

  func continuation() throws(BundleError) -> Manifest.Continuation? {
    guard let value = object["continues"] else { return nil }
    let fields = ManifestFields(value)
    return .init(
      device: try fields.identifier("device"), acknowledged: SequenceNumber(try fields.natural("acknowledged")),
      received: EmissionNumber(try fields.natural("received")), chain: try fields.chain())
  }

  func recipient(_ name: String) throws(BundleError) -> AgeRecipient? {
    if object[name] == nil { return nil }
    guard let recipient = AgeRecipient(try string(name)) else { throw .manifest("\(name) is no recipient of age's") }
    return recipient
  }

  func rotation() throws(BundleError) -> Manifest.Rotation? {
    guard let value = object["rotation"] else { return nil }
    let fields = ManifestFields(value)
    guard let key = PublicKey(line: try fields.string("key")), let recipient = try fields.recipient("recipient") else {
      throw .manifest("rotation names no keys")
    }
    return .init(key: key, recipient: recipient)
  }

  func revocations() throws(BundleError) -> Manifest.Revocations? {
    guard let value = object["revoked"] else { return nil }
    guard let list = value["keys"]?.arrayValue else { throw .manifest("revoked has no list of keys") }
    var keys: [PublicKey] = []
    for item in list {
      guard let key = item.stringValue.flatMap({ PublicKey(line: $0) }) else { throw .manifest("revoked names what is no key") }
      if let last = keys.last, !last.line.utf8.lexicographicallyPrecedes(key.line.utf8) {
        throw .manifest("revoked keys are not in their order")
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
      guard let digest = Digest(hexadecimal: try fields.string("digest")) else { throw .manifest("digest is no digest") }
      chain.append(.init(sequence: SequenceNumber(try fields.natural("sequence", from: 1)), digest: digest))
    }
    return chain
  }

  func lost() throws(BundleError) -> [AttachmentPath] {
    guard let value = object["lost"] else { return [] }
    guard let list = value.arrayValue else { throw .manifest("lost is no list") }
    var paths: [AttachmentPath] = []
    for item in list {
      guard let path = item.stringValue.flatMap({ AttachmentPath($0) }) else {
        throw .manifest("lost names no place below files/")
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
      if let last = entries.last, last.name >= name { throw .manifest("entries are not in their order") }
      entries.append(.init(name: name, bytes: try fields.natural("bytes")))
    }
    return entries
  }
}
