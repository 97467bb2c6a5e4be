import Foundation
import SatchelJSON
import SatchelPlatform
import TestSupport
import Testing

/// Satchel must not reveal values that a user may not see, in whatever way.
@Suite("Sight")
struct SightTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.sql(
      "office.sqlite",
      """
      CREATE TABLE notes (id INTEGER PRIMARY KEY, tier INTEGER NOT NULL, words TEXT, likes INTEGER, code TEXT UNIQUE);
      INSERT INTO notes VALUES (1, 1, 'open', 5, 'a'), (2, 9, 'secret', 7, 'b');
      """)
  }

  private func open(_ rules: String = #""conflict": "manual""#) throws {
    try camp.write(
      "camp.json",
      """
      { "dataset": "camp", "version": 1, "attributes": { "tier": "integer" },
        "tables": { "notes": { "visible": "tier <= :tier", \(rules) } } }
      """)
    camp.makeHub("hub", over: "office.sqlite")
    camp.hub("user", "add", "ann", "tier=1")
    for name in ["tablet", "tablet-2"] { camp.provision(name) }
  }

  /// The content of a device's table of conflicts. Ids and stamps are left out.
  private func told(_ device: String) throws -> String {
    try camp.rows(
      "\(device)/data.sqlite",
      """
      SELECT kind, state, base_values, hub_values, device_values, winners, winner, note FROM satchel_conflicts ORDER \
      BY noted, id
      """
    )
  }

  private func entries(_ file: String) throws -> String {
    let tar = try StockTool.zstd("-dc", camp.path("hub/bundles/outbox/\(file)"), in: camp.root)
    return tar.text
  }

  @Test("a row that a device made just like the hub's leaves it when it leaves the user's sight")
  func madeAlike() throws {
    try open()
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      try camp.sql(database, "INSERT INTO notes VALUES (3, 1, 'of both', 0, 'c')")
    }
    camp.deliver("tablet", 1)
    try camp.sql("office.sqlite", "UPDATE notes SET tier = 9 WHERE id = 3")
    camp.answer("tablet", 2)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT id FROM notes") == "1")
    #expect(try camp.rows("office.sqlite", "SELECT tier FROM notes WHERE id = 3") == "9")
  }

  @Test(
    """
    who makes a row under the key of a hidden one learns that the key is not to be had, and not how near the guess was
    """,
    arguments: ["(2, 9, 'secret', 7, 'b')", "(2, 1, 'secret', 7, 'b')", "(2, 1, 'wrong', 0, 'x')"])
  func guesses(row: String) throws {
    try open(#""conflict": "manual", "columns": { "likes": "max" }"#)
    try camp.sql("tablet/data.sqlite", "INSERT INTO notes VALUES \(row)")
    camp.deliver("tablet", 1)
    camp.answer("tablet", 2)
    let shown = try told("tablet")
    #expect(shown.hasPrefix("forbidden|held|NULL|NULL|{"), "\(shown)")
    #expect(shown.hasSuffix("|{}|hub|The user may not change this row."), "\(shown)")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT id FROM notes") == "1")
    #expect(try camp.rows("office.sqlite", "SELECT tier, words, likes FROM notes WHERE id = 2") == "9|secret|7")
    // A person who decides at the hub sees both values.
    #expect(
      camp.hub("conflicts", "show", try camp.rows("office.sqlite", "SELECT id FROM satchel_conflicts")).out.contains(
        "secret"))
  }

  @Test("keys that the hub assigns again are assigned for every guess", arguments: ["'secret', 7", "'wrong', 0"])
  func guessesWithNewKeys(values: String) throws {
    try open(#""keys": "rekey""#)
    try camp.sql("tablet/data.sqlite", "INSERT INTO notes VALUES (2, 9, \(values), NULL), (3, 1, 'mine', 0, NULL)")
    try camp.sql("office.sqlite", "UPDATE notes SET code = NULL WHERE id = 2")
    camp.deliver("tablet", 1)
    #expect(try camp.rows("office.sqlite", "SELECT old_key, new_key FROM satchel_rekeyed") == "2|4")
  }

  @Test("values that a row had while it was hidden are not revealed when the row is visible again")
  func meanwhile() throws {
    try open()
    try camp.sql("tablet/data.sqlite", "UPDATE notes SET words = 'mine' WHERE id = 1")
    try camp.sql("office.sqlite", "UPDATE notes SET tier = 9, words = 'confidential' WHERE id = 1")
    camp.deliver("tablet", 1)
    try camp.sql("office.sqlite", "UPDATE notes SET tier = 1, words = 'published' WHERE id = 1")
    camp.hub("emit", "--device", "tablet")
    #expect(try entries("camp-hub-tablet-2.satchel").contains("published"))
    #expect(try !entries("camp-hub-tablet-2.satchel").contains("confidential"))
    camp.device("tablet", "import", camp.path("hub/bundles/outbox/camp-hub-tablet-2.satchel"))
    #expect(try camp.rows("tablet/data.sqlite", "SELECT words FROM notes") == "published")
    #expect(try told("tablet").contains(#"|NULL|{"words":"mine"}|"#))
    #expect(try camp.rows("office.sqlite", "SELECT hub_values FROM satchel_conflicts").contains("confidential"))
  }

  @Test("a value that a hidden row has, and only one may have, is named with its column and nothing else")
  func unique() throws {
    try open()
    try camp.sql("tablet/data.sqlite", "INSERT INTO notes VALUES (3, 1, 'mine', 0, 'b')")
    camp.deliver("tablet", 1)
    camp.answer("tablet", 2)
    let shown = try told("tablet")
    #expect(shown.hasPrefix("unique|open|NULL|NULL|{"), "\(shown)")
    #expect(shown.hasSuffix("|{}|hub|UNIQUE constraint failed: notes.code"), "\(shown)")
  }

  @Test("what another device delivers, whose name begins alike, makes nothing new")
  func names() throws {
    try open()
    // The tablet and the hub exchange bundles once.
    try camp.sql("tablet/data.sqlite", "UPDATE notes SET likes = 1 WHERE id = 1")
    camp.deliver("tablet", 1)
    camp.answer("tablet", 2)
    camp.hub("emit", "--device", "tablet-2")
    camp.device("tablet-2", "import", camp.path("hub/bundles/outbox/camp-hub-tablet-2-2.satchel"))
    try camp.sql("office.sqlite", "UPDATE notes SET likes = 2 WHERE id = 1")
    camp.answer("tablet", 3)
    // This bundle of the tablet only acknowledges. The hub does not answer it, whatever other devices deliver.
    camp.deliver("tablet", 2)
    #expect(
      try camp.hub("emit", "--device", "tablet", "--json").json["emissions"]?.arrayValue?.first?["new"]?.boolValue
        == false)
    try camp.sql("tablet-2/data.sqlite", "INSERT INTO notes VALUES (4, 9, 'hidden at once', 0, NULL)")
    camp.deliver("tablet-2", 1)
    #expect(
      try camp.hub("emit", "--device", "tablet", "--json").json["emissions"]?.arrayValue?.first?["new"]?.boolValue
        == false)
  }
}
