import SatchelJSON
import TestSupport
import Testing

/// An attacker's changes become conflicts, and a person decides all conflicts at once.
@Suite("A decision about many conflicts")
struct BulkDecisionTests {
  private let lab: AttackFixture

  init() throws { lab = try AttackFixture() }

  private func send(_ change: JSONValue) throws {
    #expect(try lab.refusal(of: lab.forger.bundle { $0.add(change, to: .changes) }) == nil)
  }

  private func conflicts() throws -> [String] {
    try lab.atHub("SELECT kind, state FROM satchel_conflicts ORDER BY id")
  }

  private func write(_ sql: String) throws {
    try lab.write(sql, in: lab.hub.folder)
    lab.tick()
    // The hub records the office's change before it merges the attacker's bundle.
    #expect(lab.tool("emit", "--device", "victim").code == 0)
  }

  @Test("writes no row that the user could see but never write, after the row was hidden")
  func neverWritten() throws {
    try write("UPDATE prices SET tier = 9 WHERE id = 1")
    let before = try Protected(lab)
    try send(lab.forger.update("prices", 1, set: ["cents": 1], was: ["cents": 300]))
    #expect(try conflicts() == ["revoked|open"])
    lab.decideAll()
    #expect(try before.changedRows(in: Protected(lab)) == [])
    #expect(try conflicts() == ["revoked|open"])
  }

  @Test("writes no row that the device never had")
  func neverHeld() throws {
    let before = try Protected(lab)
    try send(lab.forger.update("prices", 3, set: ["cents": 1], was: ["cents": 99999]))
    try send(lab.forger.delete("tasks", 2, was: ["id": 2, "owner": "ben", "words": "x"]))
    lab.decideAll()
    #expect(try before.changedRows(in: Protected(lab)) == [])
    #expect(try !lab.tellsSecrets(to: "evil"))
  }

  @Test("makes no deleted row again that the user may not make")
  func deleted() throws {
    try write("DELETE FROM prices WHERE id = 3")
    let before = try Protected(lab)
    try send(lab.forger.update("prices", 3, set: ["cents": 1, "tier": 0], was: ["cents": 99999, "tier": 9]))
    lab.decideAll()
    #expect(try before.changedRows(in: Protected(lab)) == [])
    #expect(try !lab.tellsSecrets(to: "evil"))
  }

  @Test("believes no device that says that its user lost a right", arguments: ["revoked", "forbidden"])
  func reported(kind: String) throws {
    let before = try Protected(lab)
    for row in ["n3", "n9"] {
      let line = try lab.forger.conflict("notes", .string(row), was: ["body": "x"], now: ["body": "forged"]) {
        $0.set("kind", .string(kind))
      }
      #expect(try lab.refusal(of: lab.forger.bundle { $0.conflicts = [line] }) == nil)
    }
    #expect(try conflicts() == ["forbidden|open", "forbidden|open"])
    lab.decideAll()
    #expect(try before.changedRows(in: Protected(lab)) == [])
  }

  @Test("sends no file that the device names in a report and never had")
  func namedFile() throws {
    // In this round, a report about a note of ann names a file of the office.
    var attack = MutatedBundles()
    try attack.play(seed: 643_769_978_901, atMost: 1000)
  }

  @Test("takes the late work of a user who could write the row")
  func late() throws {
    try write("UPDATE tasks SET owner = 'ben' WHERE id = 1")
    try send(lab.forger.update("tasks", 1, set: ["words": "swept"], was: ["words": "sweep"]))
    #expect(try conflicts() == ["revoked|open"])
    lab.decideAll()
    #expect(try lab.atHub("SELECT owner, words FROM tasks WHERE id = 1") == ["ben|swept"])
  }

  @Test("does not take late work that gives the row away")
  func givenAway() throws {
    try write("UPDATE tasks SET owner = 'ben' WHERE id = 1")
    try send(
      lab.forger.update("tasks", 1, set: ["owner": "boss", "words": "x"], was: ["owner": "ann", "words": "sweep"]))
    lab.decideAll()
    #expect(try lab.atHub("SELECT owner, words FROM tasks WHERE id = 1") == ["ben|sweep"])
  }
}
