import SatchelHub
import SatchelJSON
import SatchelValues
import TestSupport
import Testing

@testable import SatchelHub

/// The rights that the user of late work has in a decision about many conflicts.
@Suite("Former rights")
struct FormerRightTests {
  private let lab: AttackFixture

  init() throws {
    lab = try AttackFixture(
      definition: AttackFixture.definition.replacing(
        #""prices":"#,
        with: """
          "plots": { "visible": "owner = :user", "parents": [], "conflict": "manual" },
          "areas": { "visible": "owner = :user", "conflict": "manual" }, "prices":
          """,
        maxReplacements: 1),
      schema: AttackFixture.schema + """
        CREATE TABLE plots (
          id INTEGER PRIMARY KEY, owner TEXT NOT NULL, words TEXT, kind INTEGER REFERENCES kinds (id));
        CREATE TABLE areas (
          id INTEGER PRIMARY KEY, owner TEXT NOT NULL, words TEXT, above INTEGER REFERENCES areas (id));
        INSERT INTO areas VALUES (1, 'ann', 'all', NULL), (2, 'ann', 'north', 1);
        INSERT INTO plots VALUES (1, 'ann', 'there', 1);
        """)
  }

  private func send(_ change: JSONValue) throws {
    #expect(try lab.refusal(of: lab.forger.bundle { $0.add(change, to: .changes) }) == nil)
  }

  @Test("in a tree, only the columns that rules and references read decide about rights")
  func tree() throws {
    try lab.write("UPDATE areas SET owner = 'ben' WHERE id = 2", in: lab.hub.folder)
    try send(lab.forger.update("areas", 2, set: ["words": "mine"], was: ["words": "north"]))
    try send(lab.forger.update("areas", 2, set: ["above": nil], was: ["above": 1]))
    lab.tool("conflicts", "resolve", "--all", "--policy", "device")
    #expect(try lab.atHub("SELECT owner, words, above FROM areas WHERE id = 2") == ["ben|mine|1"])
  }

  @Test("a change that waited when its row left the user's sight is still the user's work")
  func waited() throws {
    // The kind 99 does not exist, so the change waits at the hub.
    try send(lab.forger.update("plots", 1, set: ["words": "mine", "kind": 99], was: ["words": "there", "kind": 1]))
    #expect(try lab.atHub("SELECT kind, state FROM satchel_conflicts") == ["foreign key|held"])
    try lab.write("UPDATE plots SET owner = 'ben' WHERE id = 1", in: lab.hub.folder)
    try send(lab.forger.update("notes", "n1", set: ["body": "other"], was: ["body": "mine"]))
    #expect(try lab.atHub("SELECT kind, state FROM satchel_conflicts") == ["revoked|open"])
    try lab.write("INSERT INTO kinds VALUES (99, 'ann', 'elm')", in: lab.hub.folder)
    lab.tool("conflicts", "resolve", "--all", "--policy", "device")
    #expect(try lab.atHub("SELECT owner, words, kind FROM plots") == ["ben|mine|99"])
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

  @Test("a device that had a row never had the row that another user made later under its key")
  func madeAgain() throws {
    func isHeld() throws -> Bool {
      let store = try lab.hub.store()
      let device = try #require(store.devices().first { $0.name == "evil" })
      let place = try #require(store.place(of: "plots"))
      return try EverHeldRows(store, device, user: "ann").contains(RowKey([.integer(1)]), in: place)
    }
    let before = try isHeld()
    #expect(before)
    func logAtHub(_ body: String) throws {
      try send(lab.forger.update("notes", "n1", set: ["body": .string(body)], was: ["body": "mine"]))
    }
    try lab.write("DELETE FROM plots WHERE id = 1", in: lab.hub.folder)
    try logAtHub("other")
    try lab.write("INSERT INTO plots VALUES (1, 'ben', 'another', 1)", in: lab.hub.folder)
    try logAtHub("later")
    let after = try isHeld()
    #expect(!after)
  }
}
