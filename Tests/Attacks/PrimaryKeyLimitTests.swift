import SatchelJSON
import TestSupport
import Testing

/// A device must not use up a table's primary keys by one row with a very large key.
@Suite("Keys at the end of all numbers")
struct PrimaryKeyLimitTests {
  private let lab: AttackFixture

  init() throws { lab = try AttackFixture() }

  private static let end: JSONValue = ["integer": "9223372036854775807"]

  /// Expects that all replicas can still make rows, with keys near the existing ones.
  private func goesOn() throws {
    try lab.write(
      "INSERT INTO visits (owner) VALUES ('ben'); INSERT INTO tasks (owner) VALUES ('ben')", in: lab.hub.folder)
    lab.tick()
    _ = try lab.victim.importBundle(lab.hub.emit(to: "victim").file)
    try lab.write(
      "INSERT INTO visits (owner) VALUES ('ben'); INSERT INTO tasks (owner) VALUES ('ben')", in: lab.victim.folder)
    lab.tick()
    let report = try lab.hub.importBundle(lab.victim.export().file)
    #expect(report.taken == 2 && report.conflicts == 0)
    #expect(try lab.atHub("SELECT max(id) < 10000 FROM visits") == ["1"])
    #expect(try lab.atHub("SELECT max(id) < 10000 FROM tasks") == ["1"])
  }

  @Test(
    "a row with the last of all keys waits, and everybody else goes on making rows", arguments: ["visits", "tasks"])
  func lastKey(table: String) throws {
    let forger = try lab.forger
    let row: JSONValue =
      table == "visits"
      ? ["id": Self.end, "owner": "ann"] : ["id": Self.end, "owner": "ann", "words": "x"]
    #expect(try lab.refusal(of: forger.bundle { $0.changes = [forger.insert(table, Self.end, row)] }) == nil)
    #expect(try lab.atHub("SELECT kind, state FROM satchel_conflicts") == ["constraint|held"])
    #expect(try lab.atHub("SELECT count(*) FROM \(table) WHERE id > 1000000") == ["0"])
    try goesOn()
  }

  @Test("a row with the last exact key of a JSON reader does not move new keys above it")
  func lastExactKey() throws {
    let forger = try lab.forger
    let last: JSONValue = .integer((1 << 53) - 1)
    let colliding: JSONValue = ["id": 2, "owner": "ann", "words": "mine"]
    #expect(
      try lab.refusal(
        of: forger.bundle {
          $0.changes = [
            forger.insert("tasks", last, ["id": last, "owner": "ann", "words": "x"]),
            forger.insert("tasks", 2, colliding),
          ]
        }) == nil)
    #expect(try lab.atHub("SELECT count(*) FROM tasks WHERE words = 'mine'") == ["1"])
    try goesOn()
  }

  @Test("a key far above that a line only names does not raise the keys of new rows", arguments: ["visits", "tasks"])
  func namedKey(table: String) throws {
    let forger = try lab.forger
    let column = table == "visits" ? "owner" : "words"
    let update = forger.update(
      table, Self.end, set: .object([.init(name: column, value: "ann")]),
      was: .object([.init(name: column, value: "x")]))
    // A row whose key is in use gets a new key above all known keys.
    let colliding: JSONValue =
      table == "visits" ? ["id": 2, "owner": "ann"] : ["id": 2, "owner": "ann", "words": "mine"]
    #expect(
      try lab.refusal(of: forger.bundle { $0.changes = [update, forger.insert(table, 2, colliding)] }) == nil)
    try goesOn()
  }
}
