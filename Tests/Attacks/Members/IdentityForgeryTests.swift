import SatchelBundle
import SatchelJSON
import TestSupport
import Testing

/// Bundles with a false sender or a false id.
@Suite("Forged identities")
struct IdentityForgeryTests {
  private let lab: AttackFixture
  private let before: Protected

  init() throws {
    lab = try AttackFixture()
    before = try Protected(lab)
  }

  private func theirBundle() throws -> (path: String, id: String) {
    try lab.write("UPDATE notes SET body = 'bens' WHERE id = 'n5'", in: lab.victim.folder)
    lab.tick()
    let path = try lab.victim.export().file
    return (path, try BundleReader(platform: lab.platform).manifest(of: path, trust: .firstContact).bundle.text)
  }

  @Test("the id of another device's bundle, used ahead of it, does not make that bundle a repeated one")
  func takenBundleID() throws {
    let theirs = try theirBundle()
    #expect(try lab.refusal(of: lab.forger.bundle { $0.set("bundle", .string(theirs.id)) }) == nil)
    #expect(try lab.hub.importBundle(theirs.path).verdict == .imported)
    #expect(try lab.hub.importBundle(theirs.path).verdict == .repeated)
    #expect(try lab.atHub("SELECT body FROM notes WHERE id = 'n5'") == ["bens"])
    #expect(lab.tool("audit").code == 0)
  }

  @Test("a second bundle with an id that its sender has used is refused by name")
  func usedTwice() throws {
    let forger = try lab.forger
    let id = JSONValue.string("0d6a9f4e-3c1b-4a52-9a7e-5b0f6c2d1e88")
    #expect(try lab.refusal(of: forger.bundle { $0.set("bundle", id) }) == nil)
    let second = try lab.forger.bundle {
      $0.set("bundle", id)
      $0.changes = [forger.update("notes", "n1", set: ["body": "x"], was: ["body": "mine"])]
    }
    #expect(try lab.refusal(of: second) == "same-id")
    #expect(try lab.atHub("SELECT body FROM notes WHERE id = 'n1'") == ["mine"])
  }

  @Test("what one device changed is taken back without what another one changed by a bundle of the same id")
  func revertOfOne() throws {
    let theirs = try theirBundle()
    let forger = try lab.forger
    let change = forger.update("notes", "n1", set: ["body": "anns"], was: ["body": "mine"])
    #expect(
      try lab.refusal(
        of: forger.bundle {
          $0.set("bundle", .string(theirs.id))
          $0.changes = [change]
        }) == nil)
    _ = try lab.hub.importBundle(theirs.path)
    #expect(lab.tool("revert", theirs.id).code == 1)
    #expect(lab.tool("revert", "evil/\(forger.sequence + 1)").code == 0)
    #expect(try lab.atHub("SELECT body FROM notes WHERE id IN ('n1', 'n5') ORDER BY id") == ["mine", "bens"])
  }

  @Test(
    "a bundle that calls its sender, or this hub, by another name is refused", arguments: ["victim", "hub", "other"])
  func otherNames(name: String) throws {
    let forger = try lab.forger
    #expect(try lab.refusal(of: forger.bundle { $0.set("from", forger.party(forger.id, name)) }) == "other-name")
    if name != "hub" {
      #expect(try lab.refusal(of: forger.bundle { $0.set("to", forger.party(forger.hubID, name)) }) == "other-name")
    }
    #expect(try before.differences(to: Protected(lab)) == [])
    #expect(try lab.atHub("SELECT count(*) FROM satchel_ledger WHERE peer = 'other'") == ["0"])
  }

  @Test("a device that was let in under another name than it asked for is known by the hub's name for it")
  func askedForAnotherName() throws {
    let device = try lab.newDevice("ferry")
    _ = try lab.hub.enrol(
      device.configuration.id, name: "ferry-2", user: "ben", key: device.keys.ownKey(), recipient: nil,
      incarnation: #require(device.configuration.incarnation), asked: "ferry")
    try device.keys.trust(lab.hub.keys.ownKey(), as: "hub")
    lab.tick()
    _ = try device.importBundle(lab.hub.emit(to: "ferry-2").file)
    #expect(try lab.hub.importBundle(device.export().file).manifest.from.name == "ferry-2")
    #expect(try lab.atHub("SELECT count(*) FROM satchel_ledger WHERE peer = 'ferry'") == ["0"])
    #expect(lab.tool("audit").code == 0)
  }
}
