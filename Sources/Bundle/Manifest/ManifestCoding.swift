import SatchelCrypto
import SatchelJSON
import SatchelPlatform
import SatchelValues

/// The manifest as JSON, which `docs/FORMAT.md` describes.
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
            .object([
              .init(name: "name", value: .string($0.name.rawValue)), .init(name: "bytes", value: .integer($0.bytes)),
            ])
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
      members += [
        .init(name: "attachments", value: .integer(attachments)), .init(name: "blobs", value: .integer(blobs)),
      ]
    }
    return members
  }

  private var keyMembers: [JSONValue.Member] {
    var members: [JSONValue.Member] = []
    if !understands.isEmpty {
      members.append(
        .init(name: "understands", value: .array(understands.map(\.rawValue).sorted().map { .string($0) })))
    }
    if let recipient { members.append(.init(name: "recipient", value: .string(recipient.text))) }
    if let rotation {
      members.append(.init(name: "rotation", value: rotation.json))
    }
    if let revoked {
      let value: JSONValue = [
        "number": .integer(revoked.number), "keys": .array(revoked.keys.map { .string($0.line) }),
      ]
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
        + changes.historyMembers + changes.renamedMembers + changes.healthMembers
    case .scope(let scope):
      [
        .init(name: "epoch", value: .string(scope.epoch.text)),
        .init(name: "number", value: .integer(scope.number.rawValue)),
        .init(name: "after", value: .integer(scope.after.rawValue)),
        .init(name: "extent", value: .string(scope.extent.rawValue)),
        .init(name: "acknowledged", value: .integer(scope.acknowledged.rawValue)),
      ]
        + (scope.acknowledgedDigest.map { [.init(name: "acknowledged_digest", value: .string($0.hexadecimal))] } ?? [])
        + scope.historyMembers
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
      ] + (volume.parity > 0 ? [.init(name: "parity", value: .integer(volume.parity))] : [])
    case .backup(let backup):
      [
        .init(name: "epoch", value: .string(backup.epoch.text)),
        .init(name: "cursor", value: .integer(backup.cursor.rawValue)),
      ]
    }
  }

  /// Parses a manifest and the list of its entries. Unknown members are skipped. Throws if `critical` names an
  /// unknown feature.
  static func parse(_ bytes: [UInt8], limits: BundleLimits) throws(BundleError) -> (
    manifest: Manifest, entries: [Entry]
  ) {
    let document: JSONValue
    do { document = try JSONValue.parse(bytes, limits: JSONLimits(maxDepth: limits.jsonDepth)) } catch {
      throw .manifest("it is not JSON (\(error.reason), at byte \(error.offset))")
    }
    let fields = ManifestFields(document)
    let format = try fields.natural("format")
    guard format == Self.format else {
      if format > Self.format { throw .newerFormat("its format is \(format), this version reads \(Self.format)") }
      throw .manifest("its format is \(format), which no version of Satchel has")
    }
    guard let critical = document["critical"]?.arrayValue else { throw .manifest("critical is missing or not a list") }
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
      conflicts: try counts.natural("conflicts"), resolutions: try counts.natural("resolutions"),
      body: try Body(kind, fields))
    if counts.object["attachments"] != nil {
      (manifest.attachments, manifest.blobs) = (try counts.natural("attachments", from: 1), try counts.natural("blobs"))
    }
    manifest.critical = understood
    manifest.understands = try fields.understood()
    manifest.recipient = try fields.recipient("recipient")
    manifest.rotation = try fields.rotation()
    manifest.revoked = try fields.revocations()
    return (manifest, try fields.entries())
  }
}

extension Manifest.Body {
  fileprivate init(_ kind: BundleKind, _ fields: ManifestFields) throws(BundleError) {
    switch kind {
    case .changes: self = .changes(try Manifest.Changes(fields))
    case .scope: self = .scope(try Manifest.Scope(fields))
    case .enrolment:
      guard let key = PublicKey(line: try fields.string("key")) else {
        throw .manifest("key is not a public key of minisign")
      }
      self = .enrolment(
        .init(incarnation: try fields.identifier("incarnation"), key: key, continues: try fields.continuation()))
    case .volume:
      guard let whole = BundleKind(rawValue: try fields.string("whole")),
        let digest = Digest(hexadecimal: try fields.string("digest"))
      else { throw .manifest("whole or digest is malformed") }
      self = .volume(
        .init(
          of: try fields.identifier("of"), whole: whole, number: try fields.natural("number"),
          part: try fields.natural("part", from: 1), parts: try fields.natural("parts", from: 1),
          bytes: try fields.natural("bytes", from: 1), digest: digest,
          parity: fields.object["parity"] == nil ? 0 : try fields.natural("parity", from: 1)))
    case .backup:
      self = .backup(.init(epoch: try fields.identifier("epoch"), cursor: Cursor(try fields.natural("cursor"))))
    }
  }
}

extension Manifest.Changes {
  fileprivate init(_ fields: ManifestFields) throws(BundleError) {
    self.init(
      epoch: try fields.identifier("epoch"), incarnation: try fields.identifier("incarnation"),
      received: EmissionNumber(try fields.natural("received")),
      sequence: SequenceNumber(try fields.natural("sequence", from: 1)),
      chain: try fields.chain(), lost: try fields.lost())
    base = try fields.export("base")
    formerExports = try fields.export("former_exports")
    former = try fields.formerEpochs() ?? []
    proof = try fields.emissionProof()
    brings = try fields.digests("brings")
    renamed = try fields.renamedColumns()
    health = try fields.health()
    original = try fields.digest("original")
  }
}

extension Manifest.Scope {
  fileprivate init(_ fields: ManifestFields) throws(BundleError) {
    guard let extent = Extent(rawValue: try fields.string("extent")) else {
      throw .manifest("extent is neither full nor delta")
    }
    self.init(
      epoch: try fields.identifier("epoch"), number: EmissionNumber(try fields.natural("number", from: 1)),
      after: EmissionNumber(try fields.natural("after")), extent: extent,
      acknowledged: SequenceNumber(try fields.natural("acknowledged")),
      acknowledgedDigest: try fields.digest("acknowledged_digest"))
    backedUp = try fields.export("backed_up")
    follows = try fields.follows()
    former = try fields.formerEpochs()
    collected = try fields.digests("collected")
    known = try fields.digests("known")
    compare = try fields.questions()
  }
}

extension Manifest.Rotation {
  fileprivate var json: JSONValue {
    .object(
      [
        .init(name: "key", value: .string(key.line)), .init(name: "recipient", value: .string(recipient.text)),
      ] + (proof.map { [$0.member] } ?? []))
  }
}

extension Signature {
  /// The member `proof` with this signature, for statements about keys.
  var member: JSONValue.Member { .init(name: "proof", value: .string(String(decoding: fileBytes, as: UTF8.self))) }
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
