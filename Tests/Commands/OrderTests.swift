import Foundation
import SatchelJSON
import Testing

/// What a hub that was set back lost is the same again in whatever order the devices deliver it.
@Suite("Orders of delivery to a hub that was set back")
struct OrderTests {
  let camp: Camp

  init() throws {
    camp = try Camp()
    try camp.open(
      """
      CREATE TABLE things (id INTEGER PRIMARY KEY, tags TEXT, words TEXT, n INTEGER NOT NULL DEFAULT 0);
      CREATE TABLE parts (id INTEGER PRIMARY KEY, thing INTEGER REFERENCES things (id), words TEXT);
      INSERT INTO things VALUES (1, '[]', 'one', 0);
      """,
      Camp.definition(
        """
        { "things": { "columns": { "tags": "union", "n": "sum" }, "keys": "rekey", "conflict": "newest" },
          "parts": { "keys": "rekey", "conflict": "newest" } }
        """), devices: ["a", "b"])
  }

  private static let all = "SELECT id, tags, words, n FROM things ORDER BY id"
  private static let parts = "SELECT id, thing, words FROM parts ORDER BY id"

  private func rows(_ database: String) throws -> String {
    try camp.rows(database, Self.all) + "\n" + camp.rows(database, Self.parts)
  }

  @Test(
    "a counter counts once, a removed element stays removed, and a row keeps its key, whichever device delivers again first",
    arguments: [["a", "b"], ["b", "a"]])
  func orders(order: [String]) throws {
    try camp.sql("office.sqlite", "PRAGMA wal_checkpoint(TRUNCATE)")
    try camp.copy("hub", to: "hub-before")
    try camp.copy("office.sqlite", to: "office-before.sqlite")
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
    for file in ["hub", "office.sqlite"] { try camp.remove(file) }
    for file in ["office.sqlite-wal", "office.sqlite-shm"] { try camp.removeIfThere(file) }
    try camp.copy("hub-before", to: "hub")
    try camp.copy("office-before.sqlite", to: "office.sqlite")
    #expect(camp.hub("restore", "--in-place").code == 0)
    for _ in 1...3 { for device in order { try camp.carry(device, rounds: 2) } }
    for database in ["office.sqlite", "a/data.sqlite", "b/data.sqlite"] {
      let found = try rows(database)
      #expect(found == truth, "\(database)")
    }
    let open = try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_conflicts WHERE state IN ('open', 'held')")
    #expect(open == "0")
    #expect(camp.hub("doctor").code == 0)
  }
}
