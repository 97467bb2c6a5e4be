import SatchelHub
import SatchelJSON
import SatchelValues
import TestSupport
import Testing

@testable import SatchelHub

/// The rights that a decision about many conflicts gives to the user of late work.
@Suite("Former rights")
struct FormerRightTests {
  private let lab: AttackFixture

  init() throws {
    // A person decides about trips.
    lab = try AttackFixture(
      definition: AttackFixture.definition.replacing(#""late": "accept","#, with: #""conflict": "manual","#))
  }

  private func send(_ change: JSONValue) throws {
    #expect(try lab.refusal(of: lab.forger.bundle { $0.add(change, to: .changes) }) == nil)
  }

  @Test("a change that waited when its row left the user's sight is still the user's work")
  func waited() throws {
    // The kind of the tree is missing, so the whole unit waits.
    let forger = try lab.forger
    let bundle = try forger.bundle {
      let changes = [
        forger.update("trips", "t1", set: ["words": "mine"], was: ["words": "there"]),
        forger.insert("trees", "u9", ["uuid": "u9", "owner": "ann", "kind": 99]),
      ]
      for change in changes {
        var members = change.objectValue ?? []
        members.set("unit", 1)
        $0.add(.object(members), to: .changes)
      }
    }
    #expect(try lab.refusal(of: bundle) == nil)
    #expect(try Set(lab.atHub("SELECT state FROM satchel_conflicts")) == ["held"])
    try lab.write("UPDATE trips SET owner = 'ben' WHERE id = 't1'", in: lab.hub.folder)
    try send(lab.forger.update("notes", "n1", set: ["body": "other"], was: ["body": "mine"]))
    #expect(try lab.atHub("SELECT kind, state FROM satchel_conflicts WHERE table_name = 'trips'") == ["revoked|open"])
    try lab.write("INSERT INTO kinds VALUES (99, 'ann', 'elm')", in: lab.hub.folder)
    lab.tool("conflicts", "resolve", "--all", "--policy", "device")
    #expect(try lab.atHub("SELECT owner, words FROM trips WHERE id = 't1'") == ["ben|mine"])
    #expect(try lab.atHub("SELECT kind FROM trees WHERE uuid = 'u9'") == ["99"])
  }

  @Test("a device has the rows of the device that it continues until it receives its own first bundle")
  func heir() throws {
    try lab.write(
      """
      UPDATE satchel_devices
      SET user = 'ann', proved = 0, continues = (SELECT id FROM satchel_devices WHERE name = 'evil')
      WHERE name = 'victim'
      """, in: lab.hub.folder)
    let store = try lab.hub.store()
    var heir = try #require(store.devices().first { $0.name == "victim" })
    let place = try #require(store.place(of: "tasks"))
    let held = try EverHeldRows(store, heir, user: "ann").contains(RowKey([.integer(1)]), in: place)
    #expect(held)
    heir.proved = EmissionNumber(1)
    let isStillHeld = try EverHeldRows(store, heir, user: "ann").contains(RowKey([.integer(1)]), in: place)
    #expect(!isStillHeld)
  }
}
