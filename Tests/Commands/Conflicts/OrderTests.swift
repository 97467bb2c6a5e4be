import Foundation
import SatchelJSON
import Testing

/// A hub that was set back gets its lost rows back unchanged, in whatever order the devices deliver them.
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
    try camp.putBackHub()
    try camp.deliverAgain(order)
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
    try camp.deliverAgain(["a", "b"])
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
    try camp.putBackHub()
    try camp.deliverAgain(["a"])
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
    try camp.putBackHub()
    try camp.deliverAgain(order)
    try expectEverywhere(truth)
  }

  @Test(
    "a row that was changed in another export before it was deleted stays deleted",
    arguments: [["a", "b"], ["b", "a"]])
  func changedAndDeleted(order: [String]) throws {
    try copyHub()
    try camp.sql("a/data.sqlite", "INSERT INTO things VALUES (2, '[]', 'by a', 0)")
    try camp.carry("a")
    camp.awaitLaterTime()
    try camp.sql("a/data.sqlite", "UPDATE things SET words = 'edited' WHERE id = 2")
    for device in ["a", "b"] { try camp.carry(device) }
    camp.awaitLaterTime()
    try camp.sql("b/data.sqlite", "DELETE FROM things WHERE id = 2")
    for device in ["b", "a"] { try camp.carry(device) }
    try camp.putBackHub()
    try camp.deliverAgain(order)
    for database in ["office.sqlite", "a/data.sqlite", "b/data.sqlite"] { #expect(try rows(database) == "1|[]|one|0") }
    // If the delete arrived first, the hub cannot know whether the new row is the deleted row. Then a person decides.
    let open = "SELECT kind FROM satchel_conflicts WHERE state IN ('open', 'held')"
    #expect(try camp.rows("office.sqlite", open) == (order[0] == "a" ? "" : "update/delete"))
  }

  @Test(
    "an element that was removed stays removed, also if the removal waited for its row",
    arguments: [["b", "c", "a"], ["a", "b", "c"], ["c", "b", "a"]])
  func removalThatWaited(order: [String]) throws {
    let camp = try CommandLineFixture()
    try camp.open(
      "CREATE TABLE counts (id TEXT PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0, tags TEXT);",
      CommandLineFixture.definition(#"{ "counts": { "columns": { "n": "sum", "tags": "union" } } }"#),
      devices: ["a", "b", "c"])
    try camp.keepHub()
    let writes = [
      ("c", "INSERT INTO counts VALUES ('two', 0, '[]')"), ("a", #"UPDATE counts SET tags = '["a"]'"#),
      ("b", #"UPDATE counts SET tags = '["b"]'"#),
    ]
    for (device, statement) in writes {
      camp.awaitLaterTime()
      try camp.sql("\(device)/data.sqlite", statement)
      for name in [device, "a", "b", "c"] { try camp.carry(name) }
    }
    try camp.putBackHub()
    try camp.deliverAgain(order)
    for database in ["office.sqlite", "a/data.sqlite", "b/data.sqlite", "c/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT tags FROM counts") == #"["b"]"#, "\(database)")
    }
  }

  @Test(
    "a row that is only marked as deleted is there and marked, whichever device delivers again first",
    arguments: [["a", "b"], ["b", "a"]])
  func marked(order: [String]) throws {
    let camp = try CommandLineFixture()
    try camp.open(
      "CREATE TABLE marks (id TEXT PRIMARY KEY, name TEXT, gone INTEGER);",
      CommandLineFixture.definition(#"{ "marks": { "delete": "soft", "deleted": "gone" } }"#), devices: ["a", "b"])
    try camp.keepHub()
    try camp.sql("a/data.sqlite", "INSERT INTO marks VALUES ('n', 'by a', NULL)")
    for device in ["a", "b"] { try camp.carry(device) }
    camp.awaitLaterTime()
    try camp.sql("b/data.sqlite", "DELETE FROM marks")
    for device in ["b", "a"] { try camp.carry(device) }
    try camp.putBackHub()
    try camp.deliverAgain(order)
    for database in ["office.sqlite", "a/data.sqlite", "b/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT id, name, gone FROM marks") == "n|by a|1", "\(database)")
    }
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_conflicts WHERE state <> 'settled'") == "0")
  }

  @Test(
    "after a lost key, an update of a row that another device deleted does not wait for the row",
    arguments: [["a", "b"], ["b", "a"]])
  func deletedBeforeLostKey(order: [String]) throws {
    let camp = try CommandLineFixture()
    try camp.open(
      "CREATE TABLE notes (id TEXT PRIMARY KEY, words TEXT); INSERT INTO notes VALUES ('n', '');",
      CommandLineFixture.definition(#"{ "notes": { "conflict": "manual" } }"#), devices: ["a", "b"])
    try camp.sql("a/data.sqlite", "DELETE FROM notes")
    camp.awaitLaterTime()
    try camp.sql("b/data.sqlite", "UPDATE notes SET words = 'by b'")
    #expect(camp.hub("keys", "rotate", "--lost", "--yes").code == 0)
    for device in order { try camp.deliver(device) }
    let found = try camp.rows("office.sqlite", "SELECT kind, state FROM satchel_conflicts")
    #expect(found == (order == ["a", "b"] ? "update/delete|open" : "delete/update|settled"))
  }

  @Test(
    "a row whose delete is not allowed stays, whichever device delivers again first",
    arguments: [["a", "b"], ["b", "a"]],
    [#""write": "owner = :user""#, #""delete": "never""#])
  func forbiddenDelete(order: [String], rule: String) throws {
    let camp = try deleteOfOthersRow(rule: rule, deliveredIn: order)
    #expect(try camp.rows("office.sqlite", "SELECT DISTINCT kind FROM satchel_conflicts") == "forbidden")
  }

  @Test(
    "a device that lies about the row that it deletes deletes no row of another user",
    arguments: [["a", "b"], ["b", "a"]], [true, false])
  func forgedDelete(order: [String], deliversFirst: Bool) throws {
    // The device forges its record: it says that the row belonged to its own user.
    let camp = try deleteOfOthersRow(
      rule: #""write": "owner = :user""#, saying: "UPDATE satchel_writes_notes SET owner = 'ann' WHERE id = 'n'",
      deliveredIn: order, deliversFirst: deliversFirst)
    #expect(try !camp.rows("office.sqlite", "SELECT kind FROM satchel_conflicts").contains("update/delete"))
  }

  /// Ann's device a deletes a row of ben. Only ben's device b delivers this row again. Expects that the row stays
  /// everywhere.
  /// - Parameters:
  ///   - lie: a statement that changes what the device has recorded about the row.
  ///   - deliversFirst: whether a also delivers the delete before the hub is set back, and gets the row back.
  private func deleteOfOthersRow(
    rule: String, saying lie: String = "", deliveredIn order: [String], deliversFirst: Bool = true
  ) throws -> CommandLineFixture {
    let camp = try CommandLineFixture()
    try camp.open(
      "CREATE TABLE notes (id TEXT PRIMARY KEY, owner TEXT);",
      CommandLineFixture.definition(#"{ "notes": { \#(rule) } }"#), devices: ["a"])
    camp.hub("user", "add", "ben")
    camp.provision("b", for: "ben")
    try camp.keepHub()
    try camp.sql("b/data.sqlite", "INSERT INTO notes VALUES ('n', 'ben')")
    for device in ["b", "a"] { try camp.carry(device) }
    camp.awaitLaterTime()
    try camp.sql("a/data.sqlite", "DELETE FROM notes WHERE id = 'n'; \(lie)")
    for device in deliversFirst ? ["a", "b"] : ["b"] { try camp.carry(device) }
    try camp.putBackHub()
    try camp.deliverAgain(order)
    for database in ["office.sqlite", "a/data.sqlite", "b/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT id, owner FROM notes") == "n|ben", "\(database)")
    }
    return camp
  }
}
