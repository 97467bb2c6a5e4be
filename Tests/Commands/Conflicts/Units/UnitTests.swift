import SatchelJSON
import Testing

/// A device moves stock from place to place. The hub accepts all writes of one transaction together, or none of them.
@Suite("Changes of one transaction are one unit")
struct TransactionUnitTests {
  private let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture() }

  private static let schema = """
    CREATE TABLE stock (id TEXT PRIMARY KEY, place TEXT, qty INTEGER CHECK (qty >= 0), note TEXT);
    INSERT INTO stock VALUES ('s1', 'depot', 10, ''), ('s2', 'clinic', 0, ''), ('s3', 'store', 4, '');
    """
  private static let transfer = """
    BEGIN;
    UPDATE stock SET qty = qty - 8 WHERE id = 's1';
    UPDATE stock SET qty = qty + 8 WHERE id = 's2';
    COMMIT
    """

  private func open(_ rules: String = "", devices: [String] = ["a"]) throws {
    let more = rules.isEmpty ? "" : ", \(rules)"
    try camp.open(
      Self.schema,
      CommandLineFixture.definition(#"{ "stock": { "unit": "transaction", "columns": { "qty": "sum" }\#(more) } }"#),
      devices: devices)
  }

  private func stock(_ place: String = "office.sqlite") throws -> String {
    try camp.rows(place, "SELECT qty FROM stock ORDER BY id").split(separator: "\n").joined(separator: " ")
  }

  private func waiting(hub: Bool = true) throws -> [JSONValue] {
    let outcome = hub ? camp.hub("conflicts", "--json") : camp.device("a", "conflicts", "--json")
    return try #require(try outcome.json["conflicts"]?.arrayValue)
  }

  private func states() throws -> String {
    try camp.rows("office.sqlite", "SELECT key, kind, state FROM satchel_conflicts ORDER BY key, generation")
  }

  private func resolve(_ words: String...) throws -> CommandLineFixture.Outcome {
    let id = try #require(try waiting().first?["id"]?.stringValue)
    return camp.hubAnywhere(["-C", camp.path("hub"), "conflicts", "resolve", id] + words)
  }

  /// The device takes eight from a place, and the office takes five from the same place. Together this is too much.
  private func takeTooMuch(importedFirst: Bool) throws {
    try open()
    try camp.sql("a/data.sqlite", Self.transfer)
    try camp.sql("office.sqlite", "UPDATE stock SET qty = qty - 5 WHERE id = 's1'")
    if importedFirst { try camp.answer("a") }
    try camp.deliver("a")
    try camp.answer("a")
  }

  @Test("half of a transfer is never merged, whichever side learns of the other first", arguments: [false, true])
  func transfer(importedFirst: Bool) throws {
    try takeTooMuch(importedFirst: importedFirst)
    #expect(try stock() == "5 0 4")
    #expect(try stock("a/data.sqlite") == "5 0 4")
    for isHub in [true, false] {
      let conflicts = try waiting(hub: isHub)
      #expect(conflicts.count == 1)
      #expect(conflicts.first?["changes"]?.arrayValue?.count == 2)
      #expect(conflicts.first?["kind"]?.stringValue == "constraint")
    }
    let id = try #require(try waiting().first?["id"]?.stringValue)
    let shown = camp.hub("conflicts", "show", id)
    #expect(shown.out.contains("A unit of 2 changes, decided as one."), "\(shown.out)")
    #expect(shown.out.contains("stock [s1]") && shown.out.contains("stock [s2]"), "\(shown.out)")
    #expect(camp.hub("conflicts").out.contains("and 1 more of"))
    #expect(camp.hub("conflicts", "export").out.contains(",unit,label\r\n"))
  }

  @Test("a unit that the database does not allow is not taken by a decision, and the answer says why")
  func notAllowed() throws {
    try takeTooMuch(importedFirst: false)
    let decided = try resolve("--keep", "device")
    #expect(decided.code == 1)
    #expect(decided.error.contains("No change of the unit is taken, because of stock [\"s1\"]"), "\(decided.error)")
    #expect(try stock() == "5 0 4")
    #expect(try waiting().count == 1)
    let set = try resolve("--set", "qty=3")
    #expect(set.code == 1 && set.error.contains("decided as one"), "\(set.error)")
  }

  @Test("a decision for the hub drops all of a unit, and is known on both sides", arguments: [false, true])
  func keepHub(importedFirst: Bool) throws {
    try takeTooMuch(importedFirst: importedFirst)
    let decided = try resolve("--keep", "hub")
    #expect(decided.code == 0, "\(decided.error)")
    #expect(try waiting().isEmpty)
    try camp.answer("a")
    #expect(try waiting(hub: false).isEmpty)
    try camp.deliver("a")
    #expect(try stock() == "5 0 4")
    #expect(try stock("a/data.sqlite") == "5 0 4")
    #expect(try camp.rows("office.sqlite", "SELECT DISTINCT decision FROM satchel_conflicts") == "hub")
  }

  @Test("a decision for the device takes all of a unit")
  func keepDevice() throws {
    try takeTooMuch(importedFirst: true)
    try camp.sql("office.sqlite", "UPDATE stock SET qty = qty + 10 WHERE id = 's1'")
    let refused = try resolve("--keep", "device")
    #expect(refused.error.contains("was changed since"), "\(refused.error)")
    let id = try #require(try waiting().first?["id"]?.stringValue)
    let mark = try camp.hub("conflicts", "show", id, "--json").json["conflict"]?["row_mark"]?.stringValue
    let decided = try resolve("--keep", "device", "--row", try #require(mark))
    #expect(decided.code == 0, "\(decided.error)")
    #expect(try stock() == "7 8 4")
    try camp.answer("a")
    #expect(try stock("a/data.sqlite") == "7 8 4")
  }

  @Test("the device's user decides about a unit as about any conflict")
  func keepDeviceThere() throws {
    try takeTooMuch(importedFirst: true)
    try camp.sql("office.sqlite", "UPDATE stock SET qty = qty + 10 WHERE id = 's1'")
    try camp.answer("a")
    #expect(try stock("a/data.sqlite") == "15 0 4")
    let all = camp.device("a", "conflicts", "resolve", "--all", "--policy", "device", "--json")
    #expect(try all.json["left"]?.arrayValue?.count == 1, "a row was changed since: \(all.out) \(all.error)")
    let id = try #require(try waiting(hub: false).first?["id"]?.stringValue)
    let shown = try camp.device("a", "conflicts", "show", id, "--json").json["conflict"]
    let mark = try #require(shown?["row_mark"]?.stringValue)
    let decided = camp.device("a", "conflicts", "resolve", id, "--keep", "device", "--row", mark)
    #expect(decided.code == 0, "\(decided.error)")
    #expect(try stock("a/data.sqlite") == "7 8 4")
    try camp.deliver("a")
    #expect(try waiting().isEmpty)
    #expect(try stock() == "7 8 4")
  }

  @Test("a unit that waits enters as a whole when its rows allow it")
  func enters() throws {
    try takeTooMuch(importedFirst: false)
    #expect(try states() == "[\"s1\"]|constraint|held\n[\"s2\"]|unit|held")
    try camp.sql("office.sqlite", "UPDATE stock SET qty = qty + 10 WHERE id = 's1'")
    try camp.answer("a")
    #expect(try stock() == "7 8 4")
    #expect(try waiting().isEmpty)
    try camp.deliver("a")
    try camp.answer("a")
    #expect(try stock("a/data.sqlite") == "7 8 4")
  }

  @Test("a later change of a row waits behind the unit that waits, and enters after it")
  func behind() throws {
    try open()
    try camp.sql("a/data.sqlite", Self.transfer)
    _ = try camp.export("a")
    // The hub could accept this change alone. It waits only because the unit before it waits.
    try camp.sql("a/data.sqlite", "UPDATE stock SET qty = qty + 3 WHERE id = 's2'")
    try camp.sql("office.sqlite", "UPDATE stock SET qty = qty - 5 WHERE id = 's1'")
    try camp.deliver("a")
    #expect(try stock() == "5 0 4")
    #expect(
      try camp.rows("office.sqlite", "SELECT key, state FROM satchel_conflicts WHERE unit IS NULL") == "[\"s2\"]|held")
    try camp.sql("office.sqlite", "UPDATE stock SET qty = qty + 10 WHERE id = 's1'")
    camp.hub("emit", "--all")
    #expect(try stock() == "7 11 4")
    #expect(try waiting().isEmpty)
  }

  @Test("what waits behind a unit that is decided for the hub is open")
  func behindDecision() throws {
    try open()
    try camp.sql("a/data.sqlite", Self.transfer)
    _ = try camp.export("a")
    try camp.sql(
      "a/data.sqlite",
      "BEGIN; UPDATE stock SET qty = qty - 3 WHERE id = 's2'; UPDATE stock SET qty = qty + 3 WHERE id = 's3'; COMMIT")
    try camp.sql("office.sqlite", "UPDATE stock SET qty = qty - 5 WHERE id = 's1'")
    try camp.deliver("a")
    #expect(try stock() == "5 0 4")
    #expect(try waiting().count == 2)
    let first = try waiting().first { $0["kind"]?.stringValue == "constraint" }
    let id = try #require(first?["id"]?.stringValue)
    #expect(camp.hub("conflicts", "resolve", id, "--keep", "hub").code == 0)
    #expect(
      try camp.rows("office.sqlite", "SELECT key, state FROM satchel_conflicts WHERE state <> 'resolved' ORDER BY key")
        == "[\"s2\"]|open\n[\"s3\"]|open")
  }

  @Test("columns that are put together without a disagreement take nothing from a unit")
  func merged() throws {
    try open()
    try camp.sql("a/data.sqlite", Self.transfer)
    try camp.sql("office.sqlite", "UPDATE stock SET qty = qty + 1; UPDATE stock SET note = 'counted' WHERE id = 's1'")
    try camp.answer("a")
    try camp.deliver("a")
    #expect(try stock() == "3 9 5")
    #expect(try stock("a/data.sqlite") == "3 9 5")
    #expect(try waiting().isEmpty)
  }

  @Test(
    "a disagreement that the hub wins, or that a person decides, keeps a whole unit out; a win of the device does not",
    arguments: ["manual", "hub", "newest", "device"], [false, true])
  func policies(policy: String, importedFirst: Bool) throws {
    try open(#""conflict": "\#(policy)""#)
    try camp.sql(
      "a/data.sqlite",
      """
      BEGIN; UPDATE stock SET note = 'a', qty = qty - 2 WHERE id = 's1';
      UPDATE stock SET qty = qty + 2 WHERE id = 's2'; COMMIT
      """)
    try camp.sql("office.sqlite", "UPDATE stock SET note = 'office' WHERE id = 's1'")
    if importedFirst { try camp.answer("a") }
    try camp.deliver("a")
    try camp.answer("a")
    let isTaken = policy == "device"
    let note = "SELECT note FROM stock WHERE id = 's1'"
    for place in ["office.sqlite", "a/data.sqlite"] {
      #expect(try stock(place) == (isTaken ? "8 2 4" : "10 0 4"))
      #expect(try camp.rows(place, note) == (isTaken ? "a" : "office"))
    }
    let state = policy == "manual" ? "open" : "settled"
    let found = try camp.rows("office.sqlite", "SELECT DISTINCT state FROM satchel_conflicts")
    #expect(found == state)
    let count = try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_conflicts WHERE unit IS NOT NULL")
    #expect(count == (isTaken ? "0" : "2"))
  }

  @Test("a change that the user may not make keeps its whole unit out until a person decides")
  func forbidden() throws {
    try open(#""write": "place <> 'store'""#)
    try camp.sql(
      "a/data.sqlite",
      "BEGIN; UPDATE stock SET qty = qty - 2 WHERE id = 's1'; UPDATE stock SET qty = qty + 2 WHERE id = 's3'; COMMIT")
    try camp.deliver("a")
    #expect(try stock() == "10 0 4")
    #expect(try states() == "[\"s1\"]|unit|held\n[\"s3\"]|forbidden|held")
    camp.hub("emit", "--all")
    #expect(try stock() == "10 0 4", "nor later")
    #expect(try resolve("--keep", "device").code == 0)
    #expect(try stock() == "8 0 6")
  }

  /// A device marks the beginning of two units: a transfer, and the writes `sql`. The office takes too much for the
  /// transfer.
  private func meetTransfer(andMarked sql: String) throws {
    let mark = "INSERT INTO satchel_unit DEFAULT VALUES;"
    try camp.sql("a/data.sqlite", mark + Self.transfer)
    try camp.sql("a/data.sqlite", "BEGIN; \(mark) \(sql); COMMIT")
    try camp.sql("office.sqlite", "UPDATE stock SET qty = qty - 5 WHERE id = 's1'")
    try camp.deliver("a")
  }

  @Test("an app's marks part what one pause holds together")
  func marks() throws {
    try open()
    try meetTransfer(
      andMarked: "UPDATE stock SET qty = qty + 1 WHERE id = 's3'; UPDATE stock SET note = 'x' WHERE id = 's3'")
    #expect(try stock() == "5 0 5", "the second unit is taken")
    #expect(try waiting().count == 1)
  }

  @Test("a row that two units of one generation wrote makes one of them")
  func joined() throws {
    try open()
    try meetTransfer(
      andMarked: "UPDATE stock SET qty = qty - 4 WHERE id = 's2'; UPDATE stock SET qty = qty + 4 WHERE id = 's3'")
    #expect(try stock() == "5 0 4")
    #expect(try waiting().count == 1)
    #expect(try waiting().first?["changes"]?.arrayValue?.count == 3)
  }

  @Test("writes with a longer pause between them are two units")
  func pause() throws {
    try open()
    try camp.sql("a/data.sqlite", Self.transfer)
    try camp.sql("a/data.sqlite", "UPDATE satchel_writes_stock SET satchel_written = satchel_written - 5 / 86400.0")
    try camp.sql("a/data.sqlite", "UPDATE stock SET qty = qty + 1 WHERE id = 's3'")
    try camp.sql("office.sqlite", "UPDATE stock SET qty = qty - 5 WHERE id = 's1'")
    try camp.deliver("a")
    #expect(try stock() == "5 0 5")
  }

  @Test("a unit of two rows that trade a UNIQUE value is taken")
  func trade() throws {
    try camp.open(
      "CREATE TABLE seats (id TEXT PRIMARY KEY, name TEXT UNIQUE); INSERT INTO seats VALUES ('1', 'a'), ('2', 'b')",
      CommandLineFixture.definition(#"{ "seats": { "unit": "transaction" } }"#), devices: ["a"])
    try camp.sql(
      "a/data.sqlite",
      """
      BEGIN; UPDATE seats SET name = 'x' WHERE id = '1'; UPDATE seats SET name = 'a' WHERE id = '2';
      UPDATE seats SET name = 'b' WHERE id = '1'; COMMIT
      """)
    try camp.deliver("a")
    #expect(try camp.rows("office.sqlite", "SELECT id, name FROM seats ORDER BY id") == "1|b\n2|a")
    #expect(try waiting().isEmpty)
  }

  @Test("a dataset that begins to say so has units from its next version on")
  func nextVersion() throws {
    try camp.open(
      Self.schema, CommandLineFixture.definition(#"{ "stock": { "columns": { "qty": "sum" } } }"#), devices: ["a"])
    try camp.sql("a/data.sqlite", "UPDATE stock SET note = 'pending' WHERE id = 's3'")
    let next = #"{ "stock": { "unit": "transaction", "columns": { "qty": "sum" } } }"#
    try camp.write("next.json", CommandLineFixture.definition(next).replacing("\"version\": 1", with: "\"version\": 2"))
    #expect(camp.hub("dataset", "apply", camp.path("next.json")).code == 0)
    try camp.answer("a")
    try camp.sql("a/data.sqlite", Self.transfer)
    try camp.sql("office.sqlite", "UPDATE stock SET qty = qty - 5 WHERE id = 's1'")
    try camp.deliver("a")
    #expect(try stock() == "5 0 4")
    #expect(try camp.rows("office.sqlite", "SELECT note FROM stock WHERE id = 's3'") == "pending")
    #expect(try waiting().count == 1)
    #expect(camp.device("a", "doctor").code == 0)
    let last = CommandLineFixture.definition(#"{ "stock": { "columns": { "qty": "sum" } } }"#)
    try camp.write("last.json", last.replacing("\"version\": 1", with: "\"version\": 3"))
    #expect(camp.hub("dataset", "apply", camp.path("last.json")).code == 0)
    try camp.answer("a")
    try camp.sql("a/data.sqlite", "UPDATE stock SET qty = qty + 1 WHERE id = 's2'")
    try camp.deliver("a")
    #expect(camp.device("a", "doctor").code == 0)
  }

  @Test("capture that lost its numbers of units is repaired")
  func repaired() throws {
    try open()
    try camp.sql("a/data.sqlite", "DROP TABLE satchel_unit; DROP TABLE satchel_unit_joins")
    #expect(camp.device("a", "export").error.contains("satchel_unit"), "the damage is named")
    #expect(camp.device("a", "doctor", "--repair").code == 0)
    try camp.sql("a/data.sqlite", Self.transfer)
    try camp.sql("office.sqlite", "UPDATE stock SET qty = qty - 5 WHERE id = 's1'")
    try camp.deliver("a")
    #expect(try stock() == "5 0 4")
  }

  @Test("a database that is rebuilt from its exports has the same units")
  func rebuilt() throws {
    try open()
    try camp.answer("a", full: true)
    try camp.sql("a/data.sqlite", Self.transfer)
    _ = try camp.export("a")
    try camp.loseDatabase(of: "a")
    try camp.sql("office.sqlite", "UPDATE stock SET qty = qty - 5 WHERE id = 's1'")
    try camp.answer("a")
    #expect(try stock("a/data.sqlite") == "5 0 4")
    try camp.deliver("a")
    #expect(try stock() == "5 0 4")
    #expect(try waiting().count == 1)
  }
}

/// An order with its lines. The hub accepts a row and its children together, or none of them.
@Suite("A row and its children are one unit")
struct ParentUnitTests {
  private let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture() }

  private func open() throws {
    try camp.open(
      """
      CREATE TABLE products (id TEXT PRIMARY KEY, kind TEXT);
      CREATE TABLE orders (id TEXT PRIMARY KEY, note TEXT);
      CREATE TABLE lines (
        id TEXT PRIMARY KEY, "order" TEXT REFERENCES orders (id) ON DELETE CASCADE,
        product TEXT REFERENCES products (id), count INTEGER CHECK (count > 0));
      INSERT INTO products VALUES ('tea', 'open'), ('gin', 'open');
      INSERT INTO orders VALUES ('o0', '');
      """,
      CommandLineFixture.definition(
        """
        { "products": { "visible": "kind = 'open'" }, "orders": {},
          "lines": { "parents": ["orders", "products"], "unit": { "parent": "orders" } } }
        """),
      devices: ["a"])
  }

  private func rows(_ place: String = "office.sqlite") throws -> String {
    try camp.rows(place, "SELECT id FROM orders UNION ALL SELECT id FROM lines ORDER BY id")
      .split(separator: "\n").joined(separator: " ")
  }

  private func waiting() throws -> Int? {
    try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.count
  }

  private static let order = """
    INSERT INTO orders VALUES ('o1', '');
    INSERT INTO lines VALUES ('l1', 'o1', 'tea', 2), ('l2', 'o1', 'gin', 3);
    """

  @Test("the parent must be said where there are several")
  func several() throws {
    try camp.sql("office.sqlite", "CREATE TABLE a (id TEXT PRIMARY KEY); CREATE TABLE b (id TEXT PRIMARY KEY)")
    try camp.sql(
      "office.sqlite", "CREATE TABLE c (id TEXT PRIMARY KEY, a TEXT REFERENCES a (id), b TEXT REFERENCES b (id))")
    try camp.write("camp.json", CommandLineFixture.definition(#"{ "a": {}, "b": {}, "c": { "unit": "parent" } }"#))
    let made = camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
    #expect(made.code != 0)
    #expect(made.error.contains("which parent: a, b?"), "\(made.error)")
    try camp.write(
      "camp.json", CommandLineFixture.definition(#"{ "a": {}, "b": {}, "c": { "unit": { "parent": "b" } } }"#))
    camp.makeHub("hub", over: "office.sqlite")
  }

  @Test("an order whose one line breaks a rule of the database is not taken at all", arguments: [false, true])
  func brokenLine(importedFirst: Bool) throws {
    try open()
    try camp.sql("a/data.sqlite", Self.order)
    try camp.sql(
      "a/data.sqlite", "INSERT INTO orders VALUES ('o2', ''); INSERT INTO lines VALUES ('l9', 'o2', 'tea', 1)")
    try camp.sql("a/data.sqlite", "PRAGMA ignore_check_constraints = ON; UPDATE lines SET count = 0 WHERE id = 'l2'")
    if importedFirst {
      try camp.sql("office.sqlite", "UPDATE orders SET note = 'x' WHERE id = 'o0'")
      try camp.answer("a")
    }
    try camp.deliver("a")
    #expect(try rows() == "l9 o0 o2", "the other order is taken")
    #expect(try waiting() == 1)
    try camp.answer("a")
    #expect(try rows("a/data.sqlite") == "l9 o0 o2")
  }

  @Test("an order that names a product which its user no longer sees is not taken at all", arguments: [false, true])
  func hiddenProduct(importedFirst: Bool) throws {
    try open()
    try camp.sql("a/data.sqlite", Self.order)
    try camp.sql("office.sqlite", "UPDATE products SET kind = 'locked' WHERE id = 'gin'")
    if importedFirst { try camp.answer("a") }
    try camp.deliver("a")
    #expect(try rows() == "o0")
    #expect(try waiting() == 1)
    try camp.answer("a")
    #expect(try rows("a/data.sqlite") == "o0")
    let id = try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.first?["id"]?.stringValue
    let decided = camp.hub("conflicts", "resolve", try #require(id), "--keep", "device")
    #expect(decided.code == 0, "\(decided.error)")
    #expect(try rows() == "l1 l2 o0 o1")
  }

  @Test("an order that waits for a product enters as a whole when the product comes")
  func laterProduct() throws {
    try open()
    camp.hub("user", "add", "ben")
    camp.provision("b", for: "ben")
    try camp.sql("a/data.sqlite", Self.order + "UPDATE lines SET product = 'rum' WHERE id = 'l1'")
    try camp.deliver("a")
    #expect(try rows() == "o0")
    #expect(try waiting() == 1)
    try camp.sql("b/data.sqlite", "INSERT INTO products VALUES ('rum', 'open')")
    try camp.deliver("b")
    #expect(try rows() == "l1 l2 o0 o1")
    #expect(try waiting() == 0)
  }

  @Test("lines of one order are one unit, also if the order itself is not written")
  func siblings() throws {
    try open()
    try camp.sql("a/data.sqlite", "INSERT INTO lines VALUES ('l1', 'o0', 'tea', 2), ('l2', 'o0', 'rum', 3)")
    try camp.deliver("a")
    #expect(try rows() == "o0")
    #expect(try waiting() == 1)
  }

  @Test("an order that is deleted with its lines while a line is changed stays whole", arguments: [false, true])
  func deletedOrder(importedFirst: Bool) throws {
    try open()
    try camp.sql("a/data.sqlite", Self.order)
    try camp.deliver("a")
    try camp.answer("a")
    try camp.sql("a/data.sqlite", "PRAGMA foreign_keys = ON; DELETE FROM orders WHERE id = 'o1'")
    try camp.sql("office.sqlite", "UPDATE lines SET count = 7 WHERE id = 'l1'")
    if importedFirst { try camp.answer("a") }
    try camp.deliver("a")
    #expect(try rows() == "l1 l2 o0 o1")
    #expect(try waiting() == 1)
    try camp.answer("a")
    #expect(try rows("a/data.sqlite") == "l1 l2 o0 o1")
    let id = try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.first?["id"]?.stringValue
    #expect(camp.hub("conflicts", "resolve", try #require(id), "--keep", "device").code == 0)
    #expect(try rows() == "o0")
  }
}
