import Foundation
import SatchelJSON
import Testing

/// Two devices and a hub. In each database, SQLite assigns the keys 1, 2, 3, ...
@Suite("A row whose key was taken gets another one, and its children follow")
struct RekeyTests {
  let camp: CommandLineFixture

  private static let definition = """
    { "dataset": "camp", "version": 1, "attributes": { "tier": "integer" },
      "tables": {
        "orders": { "visible": "tier <= :tier", "write": "1", "keys": "rekey" },
        "lines": { "keys": "rekey" },
        "marks": {} } }
    """

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(as: [#fileID]) {
      try camp.sql(
        "office.sqlite",
        """
        CREATE TABLE orders (id INTEGER PRIMARY KEY, name TEXT, tier INTEGER DEFAULT 1, note TEXT);
        CREATE TABLE lines (
          id INTEGER PRIMARY KEY, of INTEGER REFERENCES orders (id), name TEXT, after INTEGER REFERENCES lines (id));
        CREATE TABLE marks (of INTEGER REFERENCES orders (id), line INTEGER REFERENCES lines (id), name TEXT, PRIMARY KEY (of, line));
        INSERT INTO orders (name) VALUES ('first');
        """)
      try camp.write("camp.json", Self.definition)
      let made = camp.hubAnywhere(
        "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
      #expect(made.code == 0, "\(made.error)")
      camp.hub("user", "add", "ann", "tier=1")
      camp.hub("user", "add", "ben", "tier=1")
      camp.hub("device", "provision", "tablet", "--user", "ann", "--into", camp.path("tablet"))
      camp.hub("device", "provision", "phone", "--user", "ben", "--into", camp.path("phone"))
    }
  }

  /// Inserts an order with two lines and a mark. The second line refers to the first. SQLite assigns the keys.
  private func order(_ database: String, _ name: String) throws {
    try camp.sql(
      database,
      """
      INSERT INTO orders (name) VALUES ('\(name)');
      INSERT INTO lines (of, name) SELECT max(id), '\(name) a' FROM orders;
      INSERT INTO lines (of, name, after) SELECT (SELECT max(id) FROM orders), '\(name) b', max(id) FROM lines;
      INSERT INTO marks SELECT (SELECT max(id) FROM orders), max(id), '\(name)' FROM lines;
      """)
  }

  /// All rows, each with its own text and the texts of the rows to which it refers. The result contains no keys.
  private func story(_ database: String) throws -> String {
    try camp.rows(
      database,
      """
      SELECT o.id, o.name, o.note, (SELECT group_concat(l.name || coalesce('<' || p.name, ''), ' ' )
          FROM (SELECT * FROM lines ORDER BY name) AS l LEFT JOIN lines AS p ON p.id = l.after WHERE l.of = o.id),
        (SELECT group_concat(m.name || ' ' || l.name) FROM marks AS m JOIN lines AS l ON l.id = m.line WHERE m.of = o.id)
      FROM orders AS o ORDER BY o.id
      """)
  }

  private func expectPeace(_ names: String...) throws {
    let conflicts = try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue ?? []
    #expect(conflicts.isEmpty, "\(conflicts)")
    for name in names {
      #expect(try story("\(name)/data.sqlite") == story("office.sqlite"), "\(name)")
      #expect(try camp.rows("\(name)/data.sqlite", "PRAGMA foreign_key_check").isEmpty)
      #expect(try camp.device(name, "status", "--json").json["pending"] == .object([]))
    }
  }

  @Test("two devices make the same keys offline, and both rows live, each with its own children, everywhere")
  func collision() throws {
    try order("tablet/data.sqlite", "anns")
    try order("phone/data.sqlite", "bens")
    camp.deliver("tablet", 1)
    camp.device("phone", "export")
    let imported = camp.hub("import", camp.path("phone/bundles/outbox/camp-phone-hub-1.satchel"), "--json")
    let wanted: JSONValue = [
      ["table": "orders", "key": 2, "to": 3], ["table": "lines", "key": 1, "to": 3],
      ["table": "lines", "key": 2, "to": 4],
    ]
    #expect(try imported.json["bundles"]?.arrayValue?.first?["rekeyed"] == wanted)
    #expect(
      try story("office.sqlite") == """
        1|first|NULL|NULL|NULL
        2|anns|NULL|anns a anns b<anns a|anns anns b
        3|bens|NULL|bens a bens b<bens a|bens bens b
        """)
    camp.hub("emit", "--all")
    let learned = camp.device("phone", "import", camp.path("hub/bundles/outbox/camp-hub-phone-2.satchel"))
    #expect(learned.out.contains("3 rows of yours got new keys: another row has the old key"), "\(learned.out)")
    camp.device("tablet", "import", camp.path("hub/bundles/outbox/camp-hub-tablet-2.satchel"))
    try expectPeace("tablet", "phone")
    #expect(
      try camp.rows("office.sqlite", "SELECT table_name, old_key, new_key, told FROM satchel_rekeyed ORDER BY 1, 2")
        == "lines|1|3|2\nlines|2|4|2\norders|2|3|2")
  }

  @Test(
    "an undelivered row gives way to the hub's row, and its children follow before any bundle names the new key")
  func yields() throws {
    try order("office.sqlite", "office")
    try order("phone/data.sqlite", "bens")
    camp.answer("phone", 2)
    #expect(
      try story("phone/data.sqlite") == """
        1|first|NULL|NULL|NULL
        2|office|NULL|office a office b<office a|office office b
        3|bens|NULL|bens a bens b<bens a|bens bens b
        """)
    try camp.sql("phone/data.sqlite", "UPDATE orders SET note = 'mine' WHERE id = 3")
    camp.deliver("phone", 1)
    camp.answer("phone", 3)
    try expectPeace("phone")
    #expect(try story("office.sqlite").contains("3|bens|mine|bens a bens b<bens a|bens bens b"))
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_rekeyed") == "0")
  }

  @Test("a row that yields here after the hub took it under a third key is still one row")
  func yieldsLate() throws {
    try order("office.sqlite", "office")
    camp.hub("emit", "--device", "phone")
    try order("phone/data.sqlite", "bens")
    try order("office.sqlite", "office again")
    // The hub has merged the row under another key than the device will choose. The device imports an older bundle,
    // which does not contain the hub's key yet.
    camp.deliver("phone", 1)
    camp.device("phone", "import", camp.path("hub/bundles/outbox/camp-hub-phone-2.satchel"))
    try camp.sql("phone/data.sqlite", "UPDATE orders SET note = 'mine' WHERE name = 'bens'")
    try camp.sql(
      "phone/data.sqlite", "INSERT INTO lines (of, name) SELECT id, 'bens c' FROM orders WHERE name = 'bens'")
    camp.deliver("phone", 2)
    camp.answer("phone", 3)
    try expectPeace("phone")
    #expect(try story("office.sqlite").contains("|bens|mine|bens a bens b<bens a bens c|bens bens b"))
  }

  @Test("what was changed after a row was sent, and its children that came later, are the renamed row's")
  func pendingEdits() throws {
    try order("tablet/data.sqlite", "anns")
    try order("phone/data.sqlite", "bens")
    camp.deliver("tablet", 1)
    camp.deliver("phone", 1)
    try camp.sql("phone/data.sqlite", "UPDATE orders SET note = 'once' WHERE name = 'bens'")
    camp.deliver("phone", 2)
    try camp.sql(
      "phone/data.sqlite",
      """
      UPDATE orders SET note = 'twice' WHERE name = 'bens';
      INSERT INTO lines (of, name) SELECT id, 'bens c' FROM orders WHERE name = 'bens';
      DELETE FROM marks WHERE name = 'bens';
      """)
    camp.answer("phone", 2)
    #expect(try story("phone/data.sqlite").contains("3|bens|twice|bens a bens b<bens a bens c|NULL"))
    camp.deliver("phone", 3)
    camp.answer("phone", 3)
    camp.answer("tablet", 2)
    try expectPeace("tablet", "phone")
    #expect(try story("office.sqlite").contains("3|bens|twice|bens a bens b<bens a bens c|NULL"))
  }

  @Test("the bundle with the new keys may be lost, and come twice")
  func lostAndRepeated() throws {
    try order("tablet/data.sqlite", "anns")
    try order("phone/data.sqlite", "bens")
    camp.deliver("tablet", 1)
    camp.deliver("phone", 1)
    camp.hub("emit", "--device", "phone")
    try camp.sql("phone/data.sqlite", "UPDATE lines SET name = 'bens A' WHERE name = 'bens a'")
    camp.deliver("phone", 2)
    camp.answer("phone", 3)
    let twice = camp.device("phone", "import", camp.path("hub/bundles/outbox/camp-hub-phone-3.satchel"), "--json")
    #expect(try twice.json["bundles"]?.arrayValue?.first?["verdict"] == "repeated")
    camp.device("phone", "import", camp.path("hub/bundles/sent/camp-hub-phone-2.satchel"))
    camp.hub("import", camp.path("phone/bundles/sent/camp-phone-hub-1.satchel"))
    camp.answer("tablet", 2)
    try expectPeace("tablet", "phone")
    #expect(try story("office.sqlite").contains("3|bens|NULL|bens A bens b<bens A|bens bens b"))
    // The phone has imported the emission with the new key, so the hub does not send this key again.
    camp.deliver("phone", 3)
    try camp.sql("office.sqlite", "UPDATE orders SET note = 'x' WHERE id = 1")
    camp.answer("phone", 4)
    #expect(try camp.rows("phone/data.sqlite", "SELECT count(*) FROM satchel_rekeyed") == "3")
    try expectPeace("phone")
  }

  @Test("a full bundle contains new keys too")
  func full() throws {
    try order("tablet/data.sqlite", "anns")
    try order("phone/data.sqlite", "bens")
    camp.deliver("tablet", 1)
    camp.deliver("phone", 1)
    try camp.sql("phone/data.sqlite", "UPDATE orders SET note = 'mine' WHERE name = 'bens'")
    camp.hub("emit", "--device", "phone", "--full")
    let file = camp.path("hub/bundles/outbox/camp-hub-phone-2.satchel")
    #expect(camp.device("phone", "inspect", file).out.contains("NEW KEYS"))
    #expect(camp.device("phone", "import", file).code == 0)
    #expect(try story("phone/data.sqlite").contains("3|bens|mine|bens a bens b<bens a|bens bens b"))
    camp.deliver("phone", 2)
    camp.answer("phone", 3)
    try expectPeace("phone")
  }

  @Test("where the app gave the key out meanwhile that the hub gave, the app's newest row gives way")
  func chain() throws {
    try order("tablet/data.sqlite", "anns")
    try order("phone/data.sqlite", "bens")
    camp.deliver("tablet", 1)
    camp.deliver("phone", 1)
    // The hub has renamed the phone's order 2 to 3. Before the phone knows it, the phone makes an order 3.
    try order("phone/data.sqlite", "bens next")
    camp.answer("phone", 2)
    #expect(
      try camp.rows("phone/data.sqlite", "SELECT id, name FROM orders ORDER BY id")
        == "1|first\n2|anns\n3|bens\n4|bens next")
    camp.deliver("phone", 2)
    camp.answer("phone", 3)
    camp.answer("tablet", 2)
    try expectPeace("tablet", "phone")
  }

  @Test("a key that is taken by a row which the device's user may not see is taken all the same")
  func unseen() throws {
    camp.hub("user", "set", "ben", "tier=0")
    camp.hub("emit", "--device", "phone")
    camp.device("phone", "import", camp.path("hub/bundles/outbox/camp-hub-phone-2.satchel"))
    try camp.sql("phone/data.sqlite", "INSERT INTO orders (name, tier) VALUES ('bens', 0)")
    #expect(try camp.rows("phone/data.sqlite", "SELECT id, name FROM orders") == "1|bens")
    camp.deliver("phone", 1)
    camp.answer("phone", 3)
    #expect(try camp.rows("phone/data.sqlite", "SELECT id, name FROM orders") == "2|bens")
    #expect(try camp.rows("office.sqlite", "SELECT id, name FROM orders") == "1|first\n2|bens")
  }

  @Test("a row from the hub that was deleted and inserted again under its key is the same row")
  func madeAnew() throws {
    try camp.sql(
      "phone/data.sqlite", "DELETE FROM orders WHERE id = 1; INSERT INTO orders (id, name) VALUES (1, 'anew')")
    camp.deliver("phone", 1)
    try camp.sql("phone/data.sqlite", "DELETE FROM orders WHERE id = 1")
    camp.device("phone", "export")
    try camp.sql("phone/data.sqlite", "INSERT INTO orders (id, name) VALUES (1, 'again')")
    camp.deliver("phone", 3)
    camp.answer("phone", 2)
    try expectPeace("phone")
    #expect(try camp.rows("office.sqlite", "SELECT id, name FROM orders") == "1|again")
  }

  @Test("the same row made alike on two devices is one row")
  func alike() throws {
    for database in ["tablet/data.sqlite", "phone/data.sqlite"] {
      try camp.sql(database, "INSERT INTO orders (id, name) VALUES (7, 'seed')")
    }
    camp.deliver("tablet", 1)
    camp.deliver("phone", 1)
    camp.answer("phone", 2)
    try expectPeace("phone")
    #expect(try camp.rows("office.sqlite", "SELECT id, name FROM orders WHERE name = 'seed'") == "7|seed")
  }

  @Test("a row that waits for its parent gets another key if its own was taken while it waited")
  func held() throws {
    // With foreign keys off, an app can write a child before its parent.
    try camp.sql("phone/data.sqlite", "INSERT INTO lines (id, of, name) VALUES (1, 50, 'bens')")
    camp.deliver("phone", 1)
    #expect(try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue?.first?["state"] == "held")
    try camp.sql(
      "office.sqlite",
      "INSERT INTO lines (of, name) VALUES (1, 'office'); INSERT INTO orders (id, name) VALUES (50, 'late')")
    camp.answer("phone", 2)
    #expect(try camp.rows("office.sqlite", "SELECT id, of, name FROM lines ORDER BY id") == "1|1|office\n2|50|bens")
    #expect(try story("phone/data.sqlite") == story("office.sqlite"))
  }

  @Test("a table whose keys SQLite does not hand out cannot be given new ones, and init says so at its place")
  func refused() throws {
    let other = try CommandLineFixture()
    try other.sql(
      "office.sqlite",
      """
      CREATE TABLE people (id INTEGER PRIMARY KEY);
      CREATE TABLE texts (id TEXT PRIMARY KEY);
      CREATE TABLE pairs (a INTEGER, b INTEGER, PRIMARY KEY (a, b));
      CREATE TABLE tight (id INTEGER PRIMARY KEY) WITHOUT ROWID;
      CREATE TABLE more (id INTEGER PRIMARY KEY REFERENCES people (id));
      CREATE TABLE either (id INTEGER PRIMARY KEY, who INTEGER REFERENCES people (id) REFERENCES others (id));
      CREATE TABLE others (id INTEGER PRIMARY KEY);
      """)
    func refusal(_ tables: String) throws -> String {
      try other.write("camp.json", #"{ "dataset": "camp", "version": 1, "tables": \#(tables) }"#)
      let made = other.hubAnywhere(
        "init", other.path("hub"), "--dataset", other.path("camp.json"), "--database", other.path("office.sqlite"))
      #expect(made.code != 0)
      return made.error
    }
    for table in ["texts", "pairs", "tight"] {
      let words = try refusal(#"{ "\#(table)": { "keys": "rekey" } }"#)
      #expect(words.contains("tables.\(table).keys") && words.contains("INTEGER PRIMARY KEY"), "\(words)")
    }
    #expect(
      try refusal(#"{ "people": {}, "more": { "keys": "rekey" } }"#).contains("a reference to another table's row"))
    let both = try refusal(#"{ "people": { "keys": "rekey" }, "others": { "keys": "rekey" }, "either": {} }"#)
    #expect(both.contains("the column who of either refers to keys of"))
    #expect(try refusal(#"{ "people": { "keys": "blocks" } }"#).contains("AUTOINCREMENT"))
  }

  @Test("in a hub that was restored, no row takes another's key, and no change meets another's row in silence")
  func restored() throws {
    try camp.backUp()
    try order("tablet/data.sqlite", "anns")
    try order("phone/data.sqlite", "bens")
    for device in ["tablet", "phone"] { camp.deliver(device, 1) }
    for device in ["tablet", "phone"] { camp.answer(device, 2) }
    // The phone's row now has a new key. The phone writes to this row, and later to the row that got its old key.
    try camp.sql("phone/data.sqlite", "UPDATE orders SET note = 'mine' WHERE name = 'bens'")
    camp.deliver("phone", 2)
    camp.answer("phone", 3)
    try camp.restore()
    try camp.carry("tablet", rounds: 2)
    #expect(camp.device("phone", "sync", camp.path("stick")).out.contains("restored"))
    camp.hub("sync", camp.path("stick"))
    // The phone has not exported these changes yet. They are about the row with the old key. They must stay with this
    // row when the phone's own row gets its next key.
    try camp.sql("phone/data.sqlite", "UPDATE orders SET note = 'hers' WHERE name = 'anns'")
    let imported = camp.device("phone", "import", try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-phone-"))
    #expect(imported.code == 0 && imported.out.contains("written"), "\(imported.out)\(imported.error)")
    #expect(try camp.rows("phone/data.sqlite", "SELECT name FROM orders WHERE note = 'hers'") == "anns")
    for _ in 0..<2 {
      try camp.carry("phone", rounds: 2)
      try camp.carry("tablet", rounds: 2)
    }
    try camp.carry("phone")
    let names = try camp.rows(
      "office.sqlite", "SELECT name, (SELECT count(*) FROM lines WHERE of = orders.id) FROM orders ORDER BY name")
    #expect(names == "anns|2\nbens|2\nfirst|0")
    #expect(
      try camp.rows(
        "office.sqlite",
        "SELECT count(*) FROM lines JOIN orders ON orders.id = of WHERE substr(lines.name, 1, 4) <> orders.name")
        == "0")
    for name in ["tablet", "phone"] {
      #expect(try story("\(name)/data.sqlite") == story("office.sqlite"), "\(name)")
      #expect(try camp.device(name, "status", "--json").json["not_exported"] == 0)
    }
    // Each note is in its own row, or a conflict about it is open.
    for (owner, note) in [("bens", "mine"), ("anns", "hers")] {
      let stands = try camp.rows("office.sqlite", "SELECT note IS '\(note)' FROM orders WHERE name = '\(owner)'") == "1"
      let isAsked =
        try camp.rows(
          "office.sqlite",
          "SELECT count(*) FROM satchel_conflicts WHERE device_values LIKE '%\(note)%' AND state = 'open'")
        != "0"
      #expect(stands || isAsked, "\(note)")
    }
  }

  @Test("a new row with a column that the hub has not waits where it is, and both get their keys when the hub has it")
  func otherColumns() throws {
    let column = "ALTER TABLE orders ADD COLUMN mood TEXT DEFAULT 'calm'"
    try camp.sql("tablet/data.sqlite", column)
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    try order("tablet/data.sqlite", "theirs")
    try camp.sql("office.sqlite", "INSERT INTO orders (name) VALUES ('office''s')")
    #expect(camp.device("tablet", "export").code == 0)
    let bundle = camp.path("tablet/bundles/outbox/camp-tablet-hub-1.satchel")
    let refused = camp.hub("import", bundle)
    #expect(refused.code == 3)
    #expect(refused.error.contains("mood"), "\(refused.error)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: camp.path("hub/bundles/quarantine")).isEmpty)
    try camp.sql("office.sqlite", column)
    #expect(camp.hub("doctor", "--repair").code == 0)
    #expect(camp.hub("import", bundle).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT name FROM orders ORDER BY id") == "first\noffice's\ntheirs")
  }
}
