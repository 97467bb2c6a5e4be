import SatchelCrypto
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace
import TestSupport
import Testing

@testable import SatchelBundle

/// Attacks that need no broken cipher. The tests use real keys and files. `docs/SECURITY.md` lists these attacks.
@Suite("Attacks")
struct AttackTests {
  let world: ExchangeFixture
  let tablet: DeviceWorkspace
  private let phone: DeviceWorkspace

  init() throws {
    world = try ExchangeFixture(random: SystemRandom())
    tablet = try world.device("tablet", user: "ana", tier: 1).device
    phone = try world.device("phone", user: "ben", tier: 1).device
    _ = try tablet.importBundle(world.emit(to: tablet))
    _ = try phone.importBundle(world.emit(to: phone))
  }

  /// The reason of the refusal; nil: `body` was accepted.
  func reason(_ body: () throws -> Void) throws -> String? {
    do {
      try body()
      return nil
    } catch let error as any ExplainedError { return error.reason }
  }

  func kept(_ path: String, as name: String) throws -> String {
    try world.platform.files.copy(path, to: world.folder("\(name).satchel"), mode: 0o644)
    return world.folder("\(name).satchel")
  }

  func write(_ name: String, on device: DeviceWorkspace) throws {
    try world.write("UPDATE camps SET name = '\(name)' WHERE id = 1", in: device.folder)
  }

  func name(in folder: WorkspaceFolder) throws -> String? {
    try Database(path: folder.path("data.sqlite"), mode: .readOnly).first("SELECT name FROM camps WHERE id = 1") {
      $0.text(0)
    }
  }

  /// A bundle without rows. It may have any manifest, and any key may sign it.
  func forged(
    _ body: Manifest.Body, dataset: String = "world", from: Manifest.Party, to: Manifest.Party,
    key: borrowing SigningKey,
    revoked: Manifest.Revocations? = nil, stamp: Stamp? = nil, user: String = "ana"
  ) throws -> String {
    var draft = try BundleDraft(in: world.folder.path, platform: world.platform)
    var manifest = Manifest(
      bundle: BundleID(random: world.platform.random.bytes(16)), dataset: dataset, version: 2, from: from, to: to,
      user: user,
      created: "2026-01-31T08:05:09Z", stamp: stamp ?? Stamp(milliseconds: world.clock.milliseconds()), body: body)
    manifest.revoked = revoked
    let sealed = try draft.seal(manifest, with: key)
    return try kept(draft.write(sealed), as: "forged")
  }

  func party(_ device: DeviceWorkspace) -> Manifest.Party {
    .init(id: device.configuration.id, name: device.configuration.name)
  }

  var office: Manifest.Party { .init(id: world.hub.configuration.id, name: world.hub.configuration.name) }

  private func manifest(_ path: String) throws -> Manifest {
    try BundleReader(platform: world.platform).manifest(of: path, trust: .firstContact)
  }

  func changes(_ path: String, sequence: Int64) throws -> Manifest.Body {
    guard case .changes(let real) = try manifest(path).body else { throw ToolFailure("no export") }
    var forged = Manifest.Changes(
      epoch: real.epoch, incarnation: real.incarnation, received: real.received, sequence: SequenceNumber(sequence),
      chain: [])
    (forged.base, forged.proof) = (real.base, real.proof)
    return .changes(forged)
  }

  func scope(_ path: String, number: Int64) throws -> Manifest.Body {
    guard case .scope(let real) = try manifest(path).body else { throw ToolFailure("no emission") }
    return .scope(
      .init(
        epoch: real.epoch, number: EmissionNumber(number), after: EmissionNumber(1), extent: .delta,
        acknowledged: real.acknowledged))
  }

  // MARK: replay, rollback, freeze

  @Test("replay: a device's bundle that is carried twice, or after a later one, changes nothing")
  func replayToHub() throws {
    try write("first", on: tablet)
    let first = try kept(world.export(tablet), as: "first")
    try write("second", on: tablet)
    let second = try kept(world.export(tablet), as: "second")
    #expect(try world.hub.importBundle(second).verdict == .imported)
    try world.write("UPDATE camps SET name = 'third' WHERE id = 1", in: world.hub.folder)
    for path in [first, second, first, second] { #expect(try world.hub.importBundle(path).taken == 0) }
    #expect(try name(in: world.hub.folder) == "third")
  }

  @Test("replay: a hub's bundle that is carried twice changes nothing")
  func replayToDevice() throws {
    try world.write("UPDATE camps SET name = 'first' WHERE id = 1", in: world.hub.folder)
    let delta = try kept(world.emit(to: tablet), as: "delta")
    _ = try tablet.importBundle(delta)
    try write("mine", on: tablet)
    #expect(try tablet.importBundle(delta).verdict == .repeated)
    #expect(try name(in: tablet.folder) == "mine")
  }

  @Test("rollback: an older bundle from the hub, full or delta, does not bring old rows back")
  func rollback() throws {
    try world.write("UPDATE camps SET name = 'old' WHERE id = 1", in: world.hub.folder)
    let old = try kept(world.emit(to: tablet, full: true), as: "old")
    try world.write("UPDATE camps SET name = 'new' WHERE id = 1", in: world.hub.folder)
    _ = try tablet.importBundle(world.emit(to: tablet))
    #expect(try tablet.importBundle(old).verdict == .repeated)
    #expect(try name(in: tablet.folder) == "new")
  }

  @Test("rollback: a bundle with an older list of revoked keys is refused, whatever its number")
  func olderRevocations() throws {
    _ = try world.hub.revoke("phone")
    let path = try kept(world.emit(to: tablet), as: "told")
    _ = try tablet.importBundle(path)
    let forged = try forged(
      scope(path, number: 9), from: office, to: party(tablet), key: world.hub.keys.signing())
    #expect(try reason { _ = try tablet.importBundle(forged) } == "older-revocations")
    #expect(try tablet.status().current?.state.received == EmissionNumber(2))
  }

  @Test(
    "rollback: a bundle that acknowledges less than an earlier one is refused, whether it says what it follows or not",
    arguments: [true, false])
  func lessAcknowledged(saysWhatItFollows: Bool) throws {
    try write("mine", on: tablet)
    _ = try world.hub.importBundle(world.export(tablet))
    let path = try kept(world.emit(to: tablet), as: "told")
    _ = try tablet.importBundle(path)
    guard case .scope(let told) = try manifest(path).body else { throw ToolFailure("no emission") }
    var less = Manifest.Scope(
      epoch: told.epoch, number: told.number.next, after: told.number, extent: .delta, acknowledged: .zero)
    // A hub of release 0.1 does not name the emission that a bundle follows, even if the hub was set back.
    if saysWhatItFollows { less.follows = [.init(number: told.number, digest: try digest(onWhich: tablet))] }
    let forged = try forged(.scope(less), from: office, to: party(tablet), key: world.hub.keys.signing())
    #expect(try reason { _ = try tablet.importBundle(forged) } == "other-history")
    let state = try #require(try tablet.status().current?.state)
    #expect(state.received == told.number && state.acknowledged == told.acknowledged)
    #expect(told.acknowledged > .zero)
  }

  /// The digest of the newest emission that a device has imported.
  private func digest(onWhich device: DeviceWorkspace) throws -> Digest {
    let database = try Database(path: device.folder.path("data.sqlite"), mode: .readOnly)
    let text = try database.first("SELECT received_digest FROM satchel_device") { $0.text(0) }
    return try #require(text.flatMap { Digest(hexadecimal: $0) })
  }

  @Test("freeze: if bundles are held back, both sides show the age of the last contact, and nothing is lost")
  func freeze() throws {
    let heard = try tablet.status().current?.state.heard
    try world.write("UPDATE camps SET name = 'held back' WHERE id = 1", in: world.hub.folder)
    let late = try kept(world.emit(to: tablet), as: "late")
    try write("kept", on: tablet)
    let export = try kept(world.export(tablet), as: "export")
    world.clock.advance(by: 40 * 86_400_000)
    #expect(try tablet.status().current?.state.heard == heard)
    #expect(try world.hub.status().devices.first { $0.device.name == "tablet" }?.device.heard == nil)
    #expect(try world.hub.importBundle(export).verdict == .imported)
    #expect(try tablet.importBundle(late).verdict == .imported)
    #expect(
      try world.hub.status().devices.first { $0.device.name == "tablet" }?.device.heard == world.clock.milliseconds())
    #expect(try tablet.status().current?.state.heard == world.clock.milliseconds())
  }

  // MARK: mix and match

  @Test("mix and match: entries, sums and signatures of two bundles of one sender make no third")
  func mixedEntries() throws {
    // Only the first bundle has a snapshot.
    try write("zero", on: tablet)
    _ = try world.export(tablet)
    try write("one", on: tablet)
    let one = try kept(world.export(tablet), as: "one")
    try write("two", on: tablet)
    let two = try kept(world.export(tablet), as: "two")
    let folders = try ["one", "two"].map { try world.folder.folder("unpacked-\($0)") }
    try StockTool.tar("--zstd", "-xf", one, in: folders[0])
    try StockTool.tar("--zstd", "-xf", two, in: folders[1])
    let names = try StockTool.tar("--zstd", "-tf", one, in: folders[0]).lines
    #expect(try StockTool.tar("--zstd", "-tf", two, in: folders[1]).lines == names)
    for name in names {
      let mixed = try world.folder.folder("mixed-\(name)")
      for other in names {
        try world.platform.files.copy(
          Paths.join(other == name ? folders[1] : folders[0], other), to: Paths.join(mixed, other), mode: 0o644)
      }
      try StockTool.tar(["--format=ustar", "--zstd", "-cf", "mixed.satchel"] + names, in: mixed)
      let why = try reason { _ = try world.hub.importBundle(Paths.join(mixed, "mixed.satchel")) }
      #expect(why == "bad-digest" || why == "bad-signature" || why == "bad-entry", "\(name): \(why ?? "taken")")
    }
    #expect(try name(in: world.hub.folder) == "Oak")
  }

  @Test("mix and match: volumes of two bundles make none")
  func mixedVolumes() throws {
    var paths: [[String]] = []
    for round in ["one", "two"] {
      let noise = Hexadecimal.text(of: world.platform.random.bytes(60 << 10))
      try world.write("UPDATE reviews SET photo = x'\(noise)' WHERE camp = 1", in: tablet.folder)
      world.clock.advance(by: 1000)
      paths.append(try tablet.cut(tablet.export(), size: 64 << 10, into: world.folder.folder(round)))
    }
    #expect(paths[0].count > 1 && paths[1].count > 1)
    var last: HubImportReport?
    for (place, path) in paths[0].enumerated() { last = try world.hub.importBundle(place == 0 ? paths[1][0] : path) }
    #expect(last?.verdict == .part && last?.waiting?.missing == [1])
    #expect(try name(in: world.hub.folder) == "Oak")
  }

  // MARK: wrong ends

  @Test("wrong recipient: a bundle for another replica is left alone, even if it was encrypted again for this one")
  func wrongRecipient() throws {
    try world.write("UPDATE camps SET name = 'for the phone' WHERE id = 1", in: world.hub.folder)
    let theirs = try kept(world.emit(to: phone), as: "theirs")
    #expect(try reason { _ = try tablet.importBundle(theirs) } == "not-for-us")
    try encryptInPlace(theirs, for: [tablet.keys.recipient()], platform: world.platform)
    #expect(try reason { _ = try tablet.importBundle(theirs) } == "not-for-us")
    #expect(try name(in: tablet.folder) == "Oak")
    try encryptInPlace(kept(world.export(tablet), as: "mine"), for: [phone.keys.recipient()], platform: world.platform)
    #expect(try reason { _ = try world.hub.importBundle(world.folder("mine.satchel")) } == "age-not-for-us")
  }

  @Test("wrong dataset: a bundle of the right sender for another dataset is refused on both sides")
  func wrongDataset() throws {
    let emitted = try kept(world.emit(to: tablet, full: true), as: "real")
    let toDevice = try forged(
      scope(emitted, number: 9), dataset: "other", from: office, to: party(tablet), key: world.hub.keys.signing())
    #expect(try reason { _ = try tablet.importBundle(toDevice) } == "wrong-dataset")
    try write("x", on: tablet)
    let exported = try kept(world.export(tablet), as: "export")
    let toHub = try forged(
      changes(exported, sequence: 9), dataset: "other", from: party(tablet), to: office, key: tablet.keys.signing())
    #expect(try reason { _ = try world.hub.importBundle(toHub) } == "wrong-dataset")
  }

  @Test("another's name: a device refuses a bundle with its hub's key that gives the hub another name or id")
  func otherHubName() throws {
    let emitted = try kept(world.emit(to: tablet, full: true), as: "real")
    let stranger = try #require(ReplicaID("6f1c2a9b-7d3e-4f50-8a61-b2c3d4e5f607"))
    for other in [Manifest.Party(id: office.id, name: "ministry"), .init(id: stranger, name: office.name)] {
      let made = try forged(
        scope(emitted, number: 9), from: other, to: party(tablet), key: world.hub.keys.signing())
      #expect(try reason { _ = try tablet.importBundle(made) } == "other-name")
    }
    #expect(try tablet.status().current?.state.received == EmissionNumber(1))
    _ = try tablet.importBundle(emitted)
  }

  @Test("a device goes to another user by a full bundle alone: a delta for another user is refused")
  func deltaForOtherUser() throws {
    try write("x", on: tablet)
    let emitted = try kept(world.emit(to: tablet, full: true), as: "real")
    let made = try forged(
      scope(emitted, number: 9), from: office, to: party(tablet), key: world.hub.keys.signing(), user: "ben")
    #expect(try reason { _ = try tablet.importBundle(made) } == "other-user")
    #expect(try tablet.status().current?.state.user == "ana")
    #expect(try name(in: tablet.folder) == "x")
    _ = try tablet.importBundle(emitted)
  }

  @Test("another's name: a device that signs a bundle in another device's name is refused")
  func otherSender() throws {
    try write("x", on: tablet)
    let exported = try kept(world.export(tablet), as: "export")
    let forgery = try forged(changes(exported, sequence: 2), from: party(tablet), to: office, key: phone.keys.signing())
    #expect(try reason { _ = try world.hub.importBundle(forgery) } == "other-key")
    let emitted = try kept(world.emit(to: tablet, full: true), as: "emitted")
    let fromPhone = try forged(scope(emitted, number: 9), from: office, to: party(tablet), key: phone.keys.signing())
    // The device asks a person to confirm the key, because the hub may have lost its key.
    #expect(try reason { _ = try tablet.importBundle(fromPhone) } == "new-hub-key")
    let fromItself = try forged(scope(emitted, number: 9), from: office, to: party(tablet), key: tablet.keys.signing())
    #expect(try reason { _ = try tablet.importBundle(fromItself) } == "other-key")
  }

  @Test("a stranger: no refusal shows the signing key's fingerprint, because a person could paste it")
  func strangersFingerprint() throws {
    let emitted = try kept(world.emit(to: tablet, full: true), as: "emitted")
    let fingerprint = try phone.keys.ownKey().fingerprint
    let fresh = try DeviceWorkspace.create(
      world.folder("fresh"), dataset: "world", name: "fresh", platform: world.platform)
    let other = try world.hub.keys.ownKey().fingerprint
    let tries: [(DeviceWorkspace, String?)] = [(tablet, nil), (tablet, other), (fresh, nil), (fresh, other)]
    for (device, given) in tries {
      let forgery = try forged(scope(emitted, number: 9), from: office, to: party(device), key: phone.keys.signing())
      do {
        _ = try device.importBundle(forgery, fingerprint: given)
        Issue.record("it was taken")
      } catch let error as any ExplainedError {
        #expect(["new-hub-key", "untrusted-hub", "other-fingerprint"].contains(error.reason), "\(error)")
        #expect(!"\(error.message) \(error.hint ?? "")".contains(fingerprint), "\(error)")
      }
    }
  }

  @Test("a hub's time that is far ahead of all that a device knows is not followed before a person has looked")
  func farFuture() throws {
    let emitted = try kept(world.emit(to: tablet, full: true), as: "emitted")
    let day: Int64 = 86_400_000
    func bundle(at stamp: Stamp) throws -> String {
      try forged(
        scope(emitted, number: 2), from: office, to: party(tablet), key: world.hub.keys.signing(), stamp: stamp)
    }
    let known = try newestStamp()
    let now = world.clock.milliseconds()
    for stamp in [Stamp(rawValue: .max), Stamp(milliseconds: now + 181 * day)] {
      #expect(try reason { _ = try tablet.importBundle(bundle(at: stamp)) } == "clock")
      #expect(try newestStamp() == known)
    }
    // The device's own clock may be wrong. When it has been corrected, the device accepts the same file.
    let late = try bundle(at: Stamp(milliseconds: now + 181 * day))
    world.clock.advance(by: 2 * day)
    #expect(try tablet.importBundle(late).verdict == .imported)
    #expect(try newestStamp() == Stamp(milliseconds: now + 181 * day))
  }

  private func newestStamp() throws -> Stamp? {
    let database = try Database(path: tablet.folder.path("data.sqlite"), mode: .readOnly)
    return try database.first("SELECT stamp FROM satchel_capture") { Stamp($0.integer(0)) }
  }

  @Test("a stranger: no replica takes a bundle whose signer is not known")
  func stranger() throws {
    let elsewhere = try ExchangeFixture(random: SystemRandom())
    let theirs = try elsewhere.device("tablet", user: "eve", tier: 1).device
    _ = try theirs.importBundle(elsewhere.emit(to: theirs))
    try elsewhere.write("UPDATE camps SET name = 'evil' WHERE id = 1", in: theirs.folder)
    #expect(try reason { _ = try world.hub.importBundle(elsewhere.export(theirs)) } == "unknown-key")
    #expect(try reason { _ = try tablet.importBundle(elsewhere.emit(to: theirs, full: true)) } == "not-for-us")
    #expect(try world.platform.files.list(world.hub.folder.inbox).isEmpty)
  }

  @Test("fork: of two copies of a device that both go on, the second is refused at the latest with its second bundle")
  func fork() throws {
    try StockTool.bash("-c", "cp -a tablet copy", in: world.folder.path)
    let copy = try DeviceWorkspace.open(world.folder("copy"), platform: world.platform)
    try write("original", on: tablet)
    try world.write("UPDATE camps SET name = 'copy' WHERE id = 1", in: copy.folder)
    #expect(try world.hub.importBundle(kept(world.export(tablet), as: "original")).verdict == .imported)
    #expect(try reason { _ = try world.hub.importBundle(kept(world.export(copy), as: "copy")) } == "fork")
    #expect(try name(in: world.hub.folder) == "original")
    // From now on, the hub refuses both copies, until a person has decided.
    try write("original again", on: tablet)
    #expect(try reason { _ = try world.hub.importBundle(world.export(tablet)) } == "flagged")
  }

  @Test("an insider: a device's lines cannot name tables, keys or rights that it does not have")
  func insider() throws {
    try world.write("CREATE TABLE satchel_fake (id INTEGER PRIMARY KEY)", in: world.hub.folder)
    try write("x", on: tablet)
    let exported = try kept(world.export(tablet), as: "export")
    for table in ["satchel_devices", "sqlite_schema", "satchel_fake", "reviews; DROP TABLE camps"] {
      var draft = try BundleDraft(in: world.folder.path, platform: world.platform)
      try draft.addChanges { line in
        try line(
          ChangeLine(
            table: Name(table), key: RowKey([.integer(1)]), generation: .zero, stamp: .zero,
            content: .insert([Field(Name("id"), .integer(1))])))
      }
      let manifest = Manifest(
        bundle: BundleID(random: world.platform.random.bytes(16)), dataset: "world", version: 2, from: party(tablet),
        to: office,
        user: "ana", created: "2026-01-31T08:05:09Z", stamp: Stamp(milliseconds: world.clock.milliseconds()),
        changes: 1,
        body: try changes(exported, sequence: 2))
      let sealed = try draft.seal(manifest, with: tablet.keys.signing())
      let path = try kept(draft.write(sealed), as: "insider")
      #expect(try reason { _ = try world.hub.importBundle(path) } == "bad-line", "\(table)")
    }
    #expect(try world.hub.importBundle(exported).verdict == .imported)
  }

  // MARK: disks that fill

  /// Produces zeros, which need almost no room when they are compressed.
  private final class Zeros: ByteSource {
    func read(into buffer: inout [UInt8]) -> Int {
      buffer = [UInt8](repeating: 0, count: buffer.count)
      return buffer.count
    }
  }

  @Test("an insider: a volume whose piece is much larger than its file is refused, and nothing of it stays")
  func grownPieces() throws {
    let exported = try kept(world.export(tablet), as: "export")
    let whole = try manifest(exported)
    for part in 1...3 as ClosedRange<Int64> {
      var draft = try BundleDraft(in: world.folder.path, platform: world.platform)
      try draft.addPart(20 << 20, of: Zeros())
      let volume = Manifest.Volume(
        of: whole.bundle, whole: .changes, number: 2, part: part, parts: 9_999, bytes: 9_999 * 20 << 20,
        digest: Digest.of([]))
      let manifest = Manifest(
        bundle: BundleID(random: world.platform.random.bytes(16)), dataset: "world", version: 2, from: party(tablet),
        to: office, user: "ana", created: whole.created, stamp: whole.stamp, body: .volume(volume))
      let path = try kept(draft.write(draft.seal(manifest, with: tablet.keys.signing())), as: "volume-\(part)")
      #expect(try world.platform.files.size(path) < 10_000)
      #expect(try reason { _ = try world.hub.importBundle(path) } == "too-large")
    }
    #expect(try world.platform.files.list(world.hub.folder.inbox).isEmpty)
  }

  @Test("a courier: the bytes before a manifest take no more memory than a manifest can need")
  func endlessBeginning() throws {
    // A zstd frame with very many blocks that have no content.
    let empty = [UInt8](repeating: 0, count: 3 * 3_000_000)
    let path = world.folder("endless.satchel")
    try world.platform.files.replace(path, mode: 0o644, contents: [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58] + empty)
    #expect(try reason { _ = try world.hub.importBundle(path) } == "too-large")
  }
}
