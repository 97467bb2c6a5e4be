import SatchelBundle
import SatchelCommands
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace
import TestSupport
import Testing

/// Bundles whose number is much larger than the number before. Apart from this one number, each forged bundle is
/// correct.
extension AttackTests {
  private static let bound = Manifest.Scope.longestJump

  /// All rows of a workspace's database, except the ledger of arrived bundles.
  private func state(of folder: WorkspaceFolder) throws -> [String: [String]] {
    try Database(path: folder.path("data.sqlite"), mode: .readOnly).dump(without: ["satchel_ledger"])
  }

  private func names(in folder: WorkspaceFolder) throws -> String? {
    try Database(path: folder.path("data.sqlite"), mode: .readOnly).first(
      "SELECT group_concat(name, ' ') FROM (SELECT name FROM camps WHERE id IN (1, 2) ORDER BY id)"
    ) { $0.text(0) }
  }

  private func received() throws -> Int64? { try tablet.status().current?.state.received.rawValue }

  /// An emission without rows for the tablet, with this number and signed with the hub's key.
  /// - Parameter emission: an emission of the hub in the same epoch.
  private func numbered(_ number: Int64, like emission: String) throws -> String {
    try forged(scope(emission, number: number), from: office, to: party(tablet), key: world.hub.keys.signing())
  }

  /// An export without changes from the tablet, with this number.
  /// - Parameter export: an earlier export of the tablet.
  private func numbered(_ number: Int64, after export: String) throws -> String {
    try forged(changes(export, sequence: number), from: party(tablet), to: office, key: tablet.keys.signing())
  }

  private func writeAtHub(_ name: String) throws {
    try world.write("UPDATE camps SET name = '\(name)' WHERE id = 2", in: world.hub.folder)
  }

  @Test(
    "a number that jumps: a device refuses a larger step than the longest, stays as it was, and takes the true bundle")
  func jumpAtDevice() throws {
    try writeAtHub("Great Elm")
    let next = try kept(world.emit(to: tablet), as: "next")
    let before = try state(of: tablet.folder)
    let last = try #require(try received())
    let far = try numbered(last + Self.bound + 1, like: next)
    #expect(try reason { _ = try tablet.importBundle(far) } == "number")
    #expect(try state(of: tablet.folder) == before)
    #expect(try tablet.importBundle(next).verdict == .imported)
    #expect(try received() == last + 1)
    #expect(try names(in: tablet.folder) == "Oak Great Elm")
  }

  @Test("a number that jumps: a device takes the longest step, and counts the next one from there")
  func longestStepAtDevice() throws {
    let emission = try kept(world.emit(to: tablet, full: true), as: "emission")
    let last = try #require(try received())
    for step in 1...2 as ClosedRange<Int64> {
      let number = last + step * Self.bound
      #expect(try reason { _ = try tablet.importBundle(numbered(number + 1, like: emission)) } == "number")
      #expect(try tablet.importBundle(numbered(number, like: emission)).verdict == .imported)
      #expect(try received() == number)
    }
  }

  /// The number of the tablet's last export that the hub has merged.
  private func merged() throws -> Int64 { try world.hub.device("tablet").merged.rawValue }

  @Test(
    "a number that jumps: the hub refuses a larger step than the longest, stays as it was, and takes the true export")
  func jumpAtHub() throws {
    try write("first", on: tablet)
    #expect(try world.hub.importBundle(world.export(tablet)).verdict == .imported)
    try write("second", on: tablet)
    let next = try kept(world.export(tablet), as: "next")
    let before = try state(of: world.hub.folder)
    #expect(try merged() == 1)
    let far = try numbered(1 + Self.bound + 1, after: next)
    #expect(try reason { _ = try world.hub.importBundle(far) } == "number")
    #expect(try state(of: world.hub.folder) == before)
    #expect(try world.hub.importBundle(next).verdict == .imported)
    #expect(try merged() == 2)
    #expect(try names(in: world.hub.folder) == "second Elm")
  }

  @Test("a number that jumps: the hub takes the longest step of an export, and counts the next one from there")
  func longestStepAtHub() throws {
    try write("first", on: tablet)
    let export = try kept(world.export(tablet), as: "export")
    #expect(try world.hub.importBundle(export).verdict == .imported)
    for step in 1...2 as ClosedRange<Int64> {
      let number = 1 + step * Self.bound
      #expect(try reason { _ = try world.hub.importBundle(numbered(number + 1, after: export)) } == "number")
      #expect(try world.hub.importBundle(numbered(number, after: export)).verdict == .imported)
      #expect(try merged() == number)
    }
  }

  private func replaceLostKeys() throws {
    let console = CollectingConsole()
    let words = ["-C", world.hub.folder.root, "keys", "rotate", "--lost", "--yes"]
    #expect(runHubTool(words, platform: world.platform, console: console) == 0, "\(console.errorText)")
  }

  @Test(
    "a number that jumps: a number that a thief of the hub's key used is worth nothing after keys rotate --lost",
    arguments: [false, true])
  func thiefsNumber(isSeenByHub: Bool) throws {
    try writeAtHub("Great Elm")
    let next = try kept(world.emit(to: tablet), as: "next")
    let last = try #require(try received())
    #expect(try tablet.importBundle(numbered(last + Self.bound, like: next)).verdict == .imported)
    // The hub continues with its own lower number. So the tablet refuses all further bundles of the hub.
    #expect(try reason { _ = try tablet.importBundle(next) } == "other-history")
    try write("mine", on: tablet)
    let export = try kept(world.export(tablet), as: "export")
    if isSeenByHub { #expect(try reason { _ = try world.hub.importBundle(export) } == "set-back") }

    try replaceLostKeys()
    #expect(try world.hub.importBundle(export).verdict == .imported)
    let first = try kept(world.emit(to: tablet), as: "first")
    #expect(try reason { _ = try tablet.importBundle(first) } == "new-hub-key")
    let fingerprint = try world.hub.keys.ownKey().fingerprint
    #expect(try tablet.importBundle(first, fingerprint: fingerprint).verdict == .imported)
    #expect(try names(in: tablet.folder) == "mine Great Elm")
    let number = try #require(try received())
    // If the hub has seen the forged number before it replaces its key, its next number is above the forged one.
    if !isSeenByHub { #expect(number == last + 2) }
    try writeAtHub("Tall Elm")
    #expect(try tablet.importBundle(world.emit(to: tablet)).verdict == .imported)
    #expect(try received() == number + 1)
    try write("mine again", on: tablet)
    #expect(try world.hub.importBundle(world.export(tablet)).verdict == .imported)
    for folder in [tablet.folder, world.hub.folder] { #expect(try names(in: folder) == "mine again Tall Elm") }
  }

  @Test("a number that jumps: a thief's list of revoked keys holds back no list of the hub after keys rotate --lost")
  func thiefsRevocations() throws {
    let emission = try kept(world.emit(to: tablet, full: true), as: "emission")
    let number = try #require(try received()) + 1
    let id = try world.hub.keys.ownKey().id
    let revoked = SigningKey.generate(seed: world.platform.random.bytes(32), keyID: id).publicKey
    let list = try forged(
      scope(emission, number: number), from: office, to: party(tablet), key: world.hub.keys.signing(),
      revoked: .init(number: 1 << 50, keys: [revoked]))
    #expect(try tablet.importBundle(list).verdict == .imported)
    let phone = try world.hub.revoke("phone").key
    try writeAtHub("Great Elm")
    #expect(try reason { _ = try tablet.importBundle(world.emit(to: tablet)) } == "other-history")

    try replaceLostKeys()
    let first = try kept(world.emit(to: tablet), as: "first")
    let fingerprint = try world.hub.keys.ownKey().fingerprint
    #expect(try tablet.importBundle(first, fingerprint: fingerprint).verdict == .imported)
    #expect(try areRevoked() == [phone, revoked])
    let kiosk = try world.device("kiosk", user: "eve", tier: 1).device.keys.ownKey()
    _ = try world.hub.revoke("kiosk")
    #expect(try tablet.importBundle(world.emit(to: tablet)).verdict == .imported)
    #expect(try areRevoked() == [phone, revoked, kiosk])
  }

  /// The revoked keys that the tablet knows. Keys of the hub are left out.
  private func areRevoked() throws -> Set<PublicKey> {
    let keys = try Database(path: tablet.folder.path("data.sqlite"), mode: .readOnly)
      .all("SELECT key FROM satchel_revoked") { PublicKey(line: $0.text(0)) }
    return Set(keys.compactMap(\.self)).subtracting(try world.hub.keys.former())
  }
}
