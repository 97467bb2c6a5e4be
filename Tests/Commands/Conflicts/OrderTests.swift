import Foundation
import SatchelJSON
import Testing

/// A hub that was set back regains its lost rows unchanged, in whatever order the devices deliver them.
@Suite("Orders of delivery to a hub that was set back")
struct OrderTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE things (id INTEGER PRIMARY KEY, tags TEXT, words TEXT, n INTEGER NOT NULL DEFAULT 0);
      CREATE TABLE parts (id INTEGER PRIMARY KEY, thing INTEGER REFERENCES things (id), words TEXT);
      CREATE TABLE notes (id TEXT PRIMARY KEY, words TEXT);
      INSERT INTO things VALUES (1, '[]', 'one', 0);
      """,
      CommandLineFixture.definition(
        """
        { "things": { "columns": { "tags": "union", "n": "sum" }, "keys": "rekey", "conflict": "newest" },
          "parts": { "keys": "rekey", "conflict": "newest" }, "notes": {} }
        """), devices: ["a", "b"])
  }

  private static let all = "SELECT id, tags, words, n FROM things ORDER BY id"
  private static let parts = "SELECT id, thing, words FROM parts ORDER BY id"
  private static let notes = "SELECT id, words FROM notes ORDER BY id"

  private func rows(_ database: String) throws -> String {
    try [Self.all, Self.parts, Self.notes].map { try camp.rows(database, $0) }.filter { !$0.isEmpty }
      .joined(separator: "\n")
  }

  private func copyHub() throws {
    try camp.sql("office.sqlite", "PRAGMA wal_checkpoint(TRUNCATE)")
    try camp.keepHub()
  }

  /// Replaces the hub by its copy, begins a new epoch, and lets the devices deliver in this order.
  private func putBackHub(thenDeliver order: [String]) throws {
    try camp.putBackHub()
    #expect(camp.hub("restore", "--in-place").code == 0)
    for _ in 1...3 { for device in order { try camp.carry(device, rounds: 2) } }
  }

  /// Expects that the hub and both devices have these rows, and that no decision is open.
  private func expectEverywhere(_ truth: String) throws {
    for database in ["office.sqlite", "a/data.sqlite", "b/data.sqlite"] {
      let found = try rows(database)
      #expect(found == truth, "\(database)")
    }
    let open = try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_conflicts WHERE state IN ('open', 'held')")
    #expect(open == "0")
    #expect(camp.hub("doctor").code == 0)
  }

  @Test(
    """
    a counter counts once, a removed element stays removed, and a row keeps its key, whichever device delivers again \
    first
    """,
    arguments: [["a", "b"], ["b", "a"]])
  func orders(order: [String]) throws {
    try copyHub()
    try camp.sql(
      "b/data.sqlite",
      #"UPDATE things SET tags = '["red","blue"]', n = n + 3 WHERE id = 1; INSERT INTO things VALUES (2, '[]', 'made by b', 0)"#
    )
    try camp.carry("b")
    try camp.carry("a")
    try camp.sql(
      "a/data.sqlite",
      #"""
      UPDATE things SET tags = '["blue"]', n = n + 5 WHERE id = 1; UPDATE things SET words = 'edited by a' WHERE id = 2;
      INSERT INTO parts VALUES (1, 2, 'by a'); INSERT INTO things VALUES (3, '[]', 'by a', 0);
      """#)
    try camp.carry("a")
    try camp.carry("b")
    let truth = #"1|["blue"]|one|8"# + "\n2|[]|edited by a|0\n3|[]|by a|0\n1|2|by a"
    #expect(try rows("office.sqlite") == truth)
    try putBackHub(thenDeliver: order)
    try expectEverywhere(truth)
  }

  @Test("what people write at a hub that was put back stays, though the new epoch begins later")
  func writtenBeforeEpoch() throws {
    try copyHub()
    try camp.sql("office.sqlite", "UPDATE things SET words = 'of the lost time' WHERE id = 1")
    for device in ["a", "b"] { try camp.carry(device) }
    try camp.putBackHub()
    camp.awaitLaterTime()
    try camp.sql("office.sqlite", "UPDATE things SET words = 'written since' WHERE id = 1")
    #expect(camp.hub("restore", "--in-place").code == 0)
    for _ in 1...3 { for device in ["a", "b"] { try camp.carry(device, rounds: 2) } }
    try expectEverywhere("1|[]|written since|0")
    let lost = "SELECT count(*) FROM satchel_conflicts WHERE state = 'settled' AND device_values LIKE '%the lost time%'"
    #expect(try camp.rows("office.sqlite", lost) == "1")
  }

  @Test("a counter counts once, also if the operator does not wait for the device that counted")
  func countedByLateDevice() throws {
    try copyHub()
    try camp.sql("b/data.sqlite", "UPDATE things SET n = n + 5 WHERE id = 1")
    for device in ["b", "a"] { try camp.carry(device) }
    #expect(try rows("a/data.sqlite") == "1|[]|one|5")
    try putBackHub(thenDeliver: ["a"])
    #expect(camp.hub("restore", "--finish").code == 0)
    #expect(try rows("office.sqlite") == "1|[]|one|0")
    for device in ["b", "a"] { try camp.carry(device, rounds: 3) }
    try expectEverywhere("1|[]|one|5")
  }

  @Test(
    "a row that one device made and another one deleted stays deleted, whichever device delivers again first",
    arguments: [["a", "b"], ["b", "a"]])
  func deletedByAnother(order: [String]) throws {
    try copyHub()
    try camp.sql(
      "a/data.sqlite", "INSERT INTO notes VALUES ('n', 'by a'); INSERT INTO things VALUES (2, '[]', 'by a', 0)")
    for device in ["a", "b"] { try camp.carry(device) }
    camp.awaitLaterTime()
    try camp.sql("b/data.sqlite", "DELETE FROM notes; DELETE FROM things WHERE id = 2")
    for device in ["b", "a"] { try camp.carry(device) }
    let truth = "1|[]|one|0"
    #expect(try rows("office.sqlite") == truth)
    try putBackHub(thenDeliver: order)
    try expectEverywhere(truth)
  }
}
