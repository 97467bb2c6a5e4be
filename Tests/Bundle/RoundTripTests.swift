import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import TestSupport
import Testing

/// Values in every spelling, and values at the limits of each spelling.
let everyValue: [Value] = [
  .null, .integer(0), .integer(-1), .integer((1 << 53) - 1), .integer(1 - (1 << 53)), .integer(1 << 53),
  .integer(-(1 << 53)),
  .integer(.max), .integer(.min), .real(0), .real(-0.0), .real(1), .real(0.1), .real(-1e300),
  .real(.leastNonzeroMagnitude),
  .real(.greatestFiniteMagnitude), .real(.infinity), .real(-.infinity), .real(1e16), .text([]), .string("plain"),
  .string("\"quoted\" \\ / \u{1}\t\n\u{7f}\u{2028} \u{1f333}"), .string("\u{e9}"), .string("e\u{301}"), .text([0]),
  .text([0x61, 0, 0x62]), .text([0xff, 0xfe]), .text([0xed, 0xa0, 0x80]), .text([0xc0, 0x80]), .blob([]), .blob([0]),
  .blob([1, 2, 3, 4]), .blob(Array("text".utf8)),
]

@Suite("Bundles are read as they were written")
struct RoundTripTests {
  let folder: TemporaryFolder
  let staging: String
  let platform = Platform.still()
  let key = SigningKey.testKey().publicKey

  init() throws {
    folder = try TemporaryFolder()
    staging = try folder.folder("staging")
  }

  func manifest(changes: Int64 = 0, conflicts: Int64 = 0, resolutions: Int64 = 0, chain: [Manifest.Changes.Link] = [])
    -> Manifest
  {
    Manifest(
      bundle: platform.random.identifier(), dataset: "d", version: 3,
      from: .init(id: platform.random.identifier(), name: "tablet"),
      to: .init(id: platform.random.identifier(), name: "hub"), user: "Zo\u{eb}", created: "2026-01-31T08:05:09Z",
      stamp: Stamp(rawValue: .max), changes: changes, conflicts: conflicts, resolutions: resolutions,
      body: .changes(
        .init(
          epoch: platform.random.identifier(), incarnation: platform.random.identifier(), received: EmissionNumber(7),
          sequence: SequenceNumber(9_007_199_254_740_991), chain: chain)))
  }

  var changes: [ChangeLine] {
    let fields =
      everyValue.enumerated().map { Field(Name("c\($0) \"\u{e9}\""), $1) } + [
        Field("e\u{301}", .null), Field("\u{e9}", .null),
      ]
    let key = RowKey(everyValue.filter { $0 != .null })
    let all: [ChangeLine.Content] = [
      .insert(fields), .update(set: fields, was: fields.map { Field($0.name, .null) }), .delete(was: fields),
      .row(fields), .gone,
      .rekey(to: key, number: EmissionNumber(7)),
      .block(last: RowKey([.integer(9)]), number: EmissionNumber(8)),
    ]
    return all.map { content in
      let isHubs = if case .row = content { true } else { content == .gone || content.isAboutKeys }
      return ChangeLine(
        table: "T \u{1}\u{1f333}", key: key, generation: isHubs ? nil : Generation(0),
        stamp: content == .gone || content.isAboutKeys ? .zero : Stamp(rawValue: 1), content: content)
    }
  }

  var conflicts: [ConflictRecord] {
    ConflictKind.allCases.enumerated().map { i, kind in
      ConflictRecord(
        id: ConflictID(String(repeating: String(i), count: 32)) ?? id, device: platform.random.identifier(), user: "u",
        table: "t",
        key: RowKey([.integer(1), .string("")]), generation: Generation(5), stamp: .zero,
        operation: Operation.allCases[i % 3],
        kind: kind, state: ConflictState.allCases[i % 4],
        baseValues: i % 3 == Operation.allCases.firstIndex(of: .insert)
          ? nil : everyValue.enumerated().map { Field(Name("\($0)"), $1) },
        hubValues: i == 1 ? nil : [],
        deviceValues: i % 3 == Operation.allCases.firstIndex(of: .delete) ? nil : [Field("a", .real(-0.0))],
        winners: [ColumnWinner("e\u{301}", .hub), ColumnWinner("\u{e9}", .device)], rowWinner: i == 3 ? .device : .hub,
        note: i == 4 ? nil : "n\u{0}\"\n",
        decision: ConflictState.allCases[i % 4] == .resolved
          ? .init(made: Resolution.Decision.allCases[i % 3], by: "Zo\u{eb}") : nil)
    }
  }

  var id: ConflictID { ConflictID("0123456789abcdef0123456789abcdef")! }

  var resolutions: [Resolution] {
    Resolution.Decision.allCases.map {
      Resolution(
        conflict: id, decision: $0, user: "", stamp: Stamp(rawValue: 2), generation: Generation(1),
        note: $0 == .hub ? nil : "")
    }
  }

  @Test("lines with every kind of value, conflicts, resolutions, a snapshot and the manifest")
  func all() throws {
    let (changes, conflicts, resolutions) = (changes, conflicts, resolutions)
    var draft = try BundleDraft(in: folder.folder("outbox"), platform: platform)
    try draft.addChanges { line in for change in changes { try line(change) } }
    try draft.addConflicts(conflicts)
    try draft.addResolutions(resolutions)
    let snapshot = [UInt8]((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
    try folder.write(snapshot, to: "built")
    try draft.addSnapshot(at: folder("built"))
    let written = manifest(
      changes: Int64(changes.count), conflicts: Int64(conflicts.count), resolutions: Int64(resolutions.count),
      chain: (1...256).map { .init(sequence: SequenceNumber($0 * 3), digest: .of([UInt8($0 & 255)])) })
    let sealed = try draft.seal(written, with: .testKey())

    let bundle = try BundleReader(platform: platform).read(draft.write(sealed), trust: .keys([key]), staging: staging)
    let (manifest, digest, signer, entries) = (bundle.manifest, bundle.digest, bundle.signer, bundle.entryList)
    #expect(manifest == sealed.manifest)
    #expect(manifest.critical == [.keys, .unseen])
    #expect(manifest.bundle == written.bundle && manifest.body == written.body)
    #expect(digest == sealed.digest)
    #expect(signer == key)
    #expect(entries.map(\.name) == [.changes, .resolutions, .conflicts, .snapshot])
    var read: [ChangeLine] = []
    try bundle.eachChange { read.append($0) }
    #expect(read == changes)
    var readConflicts: [ConflictRecord] = []
    try bundle.eachConflict { readConflicts.append($0) }
    #expect(readConflicts == conflicts)
    var readResolutions: [Resolution] = []
    try bundle.eachResolution { readResolutions.append($0) }
    #expect(readResolutions == resolutions)
    let staged = bundle.path(of: .snapshot)
    let path = try #require(staged)
    #expect(try platform.files.read(path, limit: 1 << 30) == snapshot)
    let none = bundle.path(of: .dataset)
    #expect(none == nil)
  }

  @Test("the staging folder goes with the bundle")
  func staged() throws {
    var draft = try BundleDraft(in: folder.folder("outbox"), platform: platform)
    let sealed = try draft.seal(manifest(), with: .testKey())
    func look() throws -> Int {
      let bundle = try BundleReader(platform: platform).read(draft.write(sealed), trust: .keys([key]), staging: staging)
      let count = bundle.manifest.changes
      #expect(count == 0)
      return try platform.files.list(staging).count
    }
    #expect(try look() == 1)
    #expect(try platform.files.list(staging) == [])
  }

  @Test("the same state gives the same bytes")
  func deterministic() throws {
    func make() throws -> [UInt8] {
      var draft = try BundleDraft(in: folder.folder("outbox"), platform: platform)
      let lines = changes
      try draft.addChanges { line in for change in lines { try line(change) } }
      let fixed = Platform.still(seed: 4)
      let manifest = Manifest(
        bundle: fixed.random.identifier(), dataset: "d", version: 1,
        from: .init(id: fixed.random.identifier(), name: "a"),
        to: .init(id: fixed.random.identifier(), name: "b"), user: "u", created: "2026-01-31T08:05:09Z", stamp: .zero,
        changes: Int64(lines.count),
        body: .changes(
          .init(
            epoch: fixed.random.identifier(), incarnation: fixed.random.identifier(), received: .zero,
            sequence: SequenceNumber(1),
            chain: [])))
      let sealed = try draft.seal(manifest, with: .testKey())
      return try platform.files.read(draft.write(sealed), limit: 1 << 20)
    }
    #expect(try make() == make())
  }

  @Test("a writer makes no bundle that a reader would refuse, and a draft that fails leaves nothing")
  func drafts() throws {
    struct Stop: Error {}
    let outbox = try folder.folder("outbox")
    #expect(throws: BundleError.self) {
      var draft = try BundleDraft(in: outbox, platform: platform)
      _ = try draft.seal(manifest(changes: 1), with: .testKey())
    }
    #expect(throws: BundleError.self) {
      var draft = try BundleDraft(in: outbox, platform: platform)
      try draft.addDataset([0x7b, 0x7d])
      _ = try draft.seal(manifest(), with: .testKey())
    }
    #expect(throws: BundleError.self) {
      var draft = try BundleDraft(in: outbox, platform: platform)
      let link = Manifest.Changes.Link(sequence: SequenceNumber(1), digest: .of([1]))
      _ = try draft.seal(manifest(chain: [link, link]), with: .testKey())
    }
    #expect(throws: Stop.self) {
      var draft = try BundleDraft(in: outbox, platform: platform)
      try draft.addChanges { _ in throw Stop() }
    }
    #expect(try platform.files.list(outbox) == [])
  }
}
