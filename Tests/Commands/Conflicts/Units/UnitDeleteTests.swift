import SatchelJSON
import TestSupport
import Testing

/// A device moves all pieces of one place to another place and deletes the first place. Meanwhile the office deleted
/// the first place, or the user may no longer see it.
@Suite("Units that delete rows which are gone")
struct UnitDeleteTests {
  private let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture() }

  private static let transfer = """
    BEGIN; DELETE FROM stock WHERE id = 's1'; UPDATE stock SET qty = qty + 5 WHERE id = 's2'; COMMIT
    """
  private static let cleaning = "BEGIN; DELETE FROM stock WHERE id = 's1'; DELETE FROM stock WHERE id = 's3'; COMMIT"

  private func open(_ policy: String = "manual") throws {
    try camp.open(
      """
      CREATE TABLE stock (id TEXT PRIMARY KEY, place TEXT, qty INTEGER CHECK (qty >= 0));
      INSERT INTO stock VALUES ('s1', 'depot', 5), ('s2', 'clinic', 0), ('s3', 'store', 4);
      """,
      CommandLineFixture.definition(
        """
        { "stock": { "unit": "transaction", "conflict": "\(policy)", "columns": { "qty": "sum" },
          "visible": "place <> 'hidden'" } }
        """), devices: ["a"])
    try camp.answer("a")
  }

  /// Two statements of the office: one deletes the row, the other hides it from the user.
  private static func losses(of id: String) -> [String] {
    ["DELETE FROM stock WHERE id = '\(id)'", "UPDATE stock SET place = 'hidden' WHERE id = '\(id)'"]
  }

  private static let stock = "SELECT id, qty FROM stock WHERE place <> 'hidden' ORDER BY id"

  /// The lines and the conflicts in a bundle, as text.
  private func content(_ bundle: String, in camp: CommandLineFixture) throws -> String {
    let unpack = "mkdir content; zstd -dc '\(bundle)' | tar -x -C content; find content -name '*.jsonl' | sort"
    return try StockTool.bash("-euc", "rm -rf content; \(unpack) | xargs -r cat", in: camp.root).text
  }

  /// The device imports a bundle from the hub. Returns the bundle's content.
  private func answer(_ camp: CommandLineFixture) throws -> String {
    let file = try camp.emit("a")
    #expect(camp.device("a", "import", file).code == 0)
    return try content(file, in: camp)
  }

  private func conflicts(_ database: String, in camp: CommandLineFixture) throws -> String {
    try camp.rows(database, "SELECT count(*), count(DISTINCT unit) FROM satchel_conflicts")
  }

  /// Makes the hub decide. Returns everything that the device receives or shows afterwards.
  private func outcome(
    _ loss: String, keep side: String, importedFirst: Bool, in camp: CommandLineFixture
  ) throws -> [String] {
    try camp.sql("office.sqlite", loss)
    var seen: [String] = []
    if importedFirst {
      seen.append(try answer(camp))
      #expect(try camp.rows("a/data.sqlite", Self.stock) == "s2|0\ns3|4", "\(loss)")
      #expect(try conflicts("a/data.sqlite", in: camp) == "2|1", "\(loss)")
    }
    try camp.deliver("a")
    #expect(try camp.rows("office.sqlite", Self.stock) == "s2|0\ns3|4", "\(loss)")
    #expect(try conflicts("office.sqlite", in: camp) == "2|1", "\(loss)")
    seen.append(try answer(camp))
    #expect(try conflicts("a/data.sqlite", in: camp) == "2|1", "\(loss)")
    #expect(try camp.rows("a/data.sqlite", Self.stock) == "s2|0\ns3|4", "\(loss)")
    let columns = "key, operation, kind, state, base_values, hub_values, device_values, winners, winner, note, unit"
    seen.append(try camp.rows("a/data.sqlite", "SELECT \(columns) FROM satchel_conflicts ORDER BY key"))
    let id = try camp.rows("office.sqlite", "SELECT id FROM satchel_conflicts WHERE id = unit")
    let decided = camp.hub("conflicts", "resolve", id, "--keep", side)
    #expect(decided.code == 0, "\(decided.error)")
    // The stamps of decided rows show the time of the decision, so they are removed before the comparison.
    seen.append(try answer(camp).replacing(#/"stamp":"[0-9a-f]+"/#, with: ""))
    #expect(
      try camp.rows("a/data.sqlite", "SELECT DISTINCT state FROM satchel_conflicts") == "resolved", "\(loss)")
    seen.append(try camp.rows("office.sqlite", Self.stock))
    seen.append(try camp.rows("a/data.sqlite", Self.stock))
    #expect(camp.device("a", "doctor").code == 0, "\(loss)")
    return seen
  }

  @Test(
    "the whole unit is one conflict, and the device gets the same bytes for a deleted row and for a hidden row",
    arguments: ["manual", "hub", "newest", "device"], [false, true])
  func alike(policy: String, importedFirst: Bool) throws {
    try open(policy)
    try camp.sql("a/data.sqlite", Self.transfer)
    for (side, stock) in [("hub", "s2|0\ns3|4"), ("device", "s2|5\ns3|4")] {
      let seen = try Self.losses(of: "s1").map { loss in
        try outcome(loss, keep: side, importedFirst: importedFirst, in: CommandLineFixture(copyOf: camp))
      }
      #expect(seen[0] == seen[1])
      #expect(seen[0].suffix(2) == [stock, stock])
    }
  }

  @Test("a transfer that two people make counts once", arguments: [false, true])
  func twice(importedFirst: Bool) throws {
    try open()
    for database in ["a/data.sqlite", "office.sqlite"] { try camp.sql(database, Self.transfer) }
    if importedFirst { try camp.answer("a") }
    try camp.deliver("a")
    try camp.answer("a")
    for database in ["a/data.sqlite", "office.sqlite"] {
      #expect(try camp.rows(database, Self.stock) == "s2|5\ns3|4")
      #expect(try conflicts(database, in: camp) == "2|1")
    }
    let shown = camp.hub("conflicts", "show", try camp.rows("office.sqlite", "SELECT max(unit) FROM satchel_conflicts"))
    #expect(shown.out.contains("another side had deleted the row already"), "\(shown.out)")
  }

  @Test("a transfer that waits is open when a row that it deletes is gone")
  func waiting() throws {
    try open()
    try camp.sql(
      "a/data.sqlite",
      """
      BEGIN; UPDATE stock SET qty = qty - 4 WHERE id = 's1'; UPDATE stock SET qty = qty + 8 WHERE id = 's2';
      DELETE FROM stock WHERE id = 's3'; COMMIT
      """)
    try camp.sql("office.sqlite", "UPDATE stock SET qty = qty - 3 WHERE id = 's1'")
    try camp.deliver("a")
    _ = try answer(camp)
    #expect(try camp.rows("a/data.sqlite", "SELECT DISTINCT state FROM satchel_conflicts") == "held")
    let seen = try Self.losses(of: "s3").map { loss in
      let camp = try CommandLineFixture(copyOf: camp)
      try camp.sql("office.sqlite", "\(loss); UPDATE stock SET qty = qty + 9 WHERE id = 's1'")
      let lines = try answer(camp)
      #expect(try camp.rows("office.sqlite", Self.stock) == "s1|11\ns2|0", "\(loss)")
      return try [
        lines.split(separator: "\n").filter { $0.contains("conflict") }.joined(separator: "\n"),
        camp.rows("a/data.sqlite", "SELECT key, kind, state, note FROM satchel_conflicts ORDER BY key"),
        camp.rows("a/data.sqlite", Self.stock),
      ]
    }
    #expect(seen[0] == seen[1])
    #expect(seen[0][1].contains(#"["s3"]|update/delete|open|"#), "\(seen[0][1])")
    #expect(seen[0][2] == "s1|11\ns2|0")
  }

  @Test("a unit that only deletes rows which are deleted is no conflict", arguments: [false, true])
  func onlyDeleted(importedFirst: Bool) throws {
    try open()
    for database in ["a/data.sqlite", "office.sqlite"] { try camp.sql(database, Self.cleaning) }
    if importedFirst { try camp.answer("a") }
    try camp.deliver("a")
    try camp.answer("a")
    for database in ["a/data.sqlite", "office.sqlite"] {
      #expect(try camp.rows(database, Self.stock) == "s2|0")
      #expect(try conflicts(database, in: camp) == "0|0")
    }
  }

  @Test(
    "a unit that only deletes hidden rows is one conflict at the hub, and its device learns nothing of it",
    arguments: ["hub", "device"], [false, true])
  func onlyHidden(side: String, importedFirst: Bool) throws {
    try open()
    try camp.sql("a/data.sqlite", Self.cleaning)
    try camp.sql("office.sqlite", "UPDATE stock SET place = 'hidden' WHERE id <> 's2'")
    if importedFirst { try camp.answer("a") }
    try camp.deliver("a")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM stock") == "3")
    #expect(try conflicts("office.sqlite", in: camp) == "2|1")
    let id = try camp.rows("office.sqlite", "SELECT id FROM satchel_conflicts WHERE id = unit")
    #expect(camp.hub("conflicts", "resolve", id, "--keep", side).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM stock") == (side == "hub" ? "3" : "1"))
    #expect(try camp.rows("office.sqlite", "SELECT DISTINCT state FROM satchel_conflicts") == "resolved")
    try camp.answer("a")
    #expect(try conflicts("a/data.sqlite", in: camp) == "0|0")
  }

  @Test("a transfer that arrives twice, or again at a hub that was put back, is no conflict")
  func again() throws {
    try open()
    try camp.backUp()
    try camp.sql("a/data.sqlite", Self.transfer)
    let export = try camp.export("a")
    for _ in 0..<2 { camp.hub("import", export) }
    #expect(try camp.rows("office.sqlite", Self.stock) == "s2|5\ns3|4")
    #expect(try conflicts("office.sqlite", in: camp) == "0|0")
    try camp.answer("a")
    try camp.restore()
    for _ in 0..<3 { try camp.round(["a"]) }
    for database in ["hub/office.sqlite", "a/data.sqlite"] {
      #expect(try camp.rows(database, Self.stock) == "s2|5\ns3|4")
      #expect(try conflicts(database, in: camp) == "0|0")
    }
  }

  @Test("rows that the device itself made or deleted before are no conflict")
  func own() throws {
    try open()
    try camp.sql("a/data.sqlite", "DELETE FROM stock WHERE id = 's1'")
    try camp.deliver("a")
    try camp.sql("a/data.sqlite", "INSERT INTO stock VALUES ('s1', 'depot', 5)")
    _ = try camp.export("a")
    try camp.sql(
      "a/data.sqlite",
      """
      BEGIN; DELETE FROM stock WHERE id = 's1'; INSERT INTO stock VALUES ('s9', 'depot', 1);
      DELETE FROM stock WHERE id = 's9'; UPDATE stock SET qty = qty + 5 WHERE id = 's2'; COMMIT
      """)
    try camp.deliver("a")
    try camp.answer("a")
    for database in ["a/data.sqlite", "office.sqlite"] {
      #expect(try camp.rows(database, Self.stock) == "s2|5\ns3|4")
      #expect(try conflicts(database, in: camp) == "0|0")
    }
  }

  @Test("a database that is created again from an export has the same conflict")
  func rebuilt() throws {
    try open()
    try camp.answer("a", full: true)
    try camp.sql("a/data.sqlite", Self.transfer)
    _ = try camp.export("a")
    try camp.sql("office.sqlite", Self.losses(of: "s1")[0])
    try camp.answer("a")
    try camp.loseDatabase(of: "a")
    #expect(camp.device("a", "doctor", "--repair").code == 0)
    #expect(try camp.rows("a/data.sqlite", Self.stock) == "s2|0\ns3|4")
    #expect(try conflicts("a/data.sqlite", in: camp) == "2|1")
    try camp.deliver("a")
    try camp.answer("a")
    for database in ["a/data.sqlite", "office.sqlite"] {
      #expect(try camp.rows(database, Self.stock) == "s2|0\ns3|4")
      #expect(try conflicts(database, in: camp) == "2|1")
    }
  }
}

/// A device deletes an order together with its lines. Meanwhile the user may no longer see them.
@Suite("Units that delete a row with its children")
struct UnitFamilyDeleteTests {
  private static let rows = "SELECT id FROM orders UNION ALL SELECT id FROM lines ORDER BY id"

  private func open() throws -> CommandLineFixture {
    let camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE orders (id TEXT PRIMARY KEY, note TEXT);
      CREATE TABLE lines (id TEXT PRIMARY KEY, "order" TEXT REFERENCES orders (id) ON DELETE CASCADE, note TEXT);
      INSERT INTO orders VALUES ('o', '');
      INSERT INTO lines VALUES ('l', 'o', ''), ('m', 'o', '');
      """,
      CommandLineFixture.definition(
        """
        { "orders": { "visible": "note <> 'hidden'" },
          "lines": { "unit": "parent", "visible": "note <> 'hidden'" } }
        """), devices: ["a"])
    try camp.sql("a/data.sqlite", "PRAGMA foreign_keys = ON; DELETE FROM orders")
    #expect(try camp.rows("a/data.sqlite", Self.rows) == "")
    return camp
  }

  @Test("a hidden order and its lines are one conflict that is decided as one", arguments: [false, true])
  func hidden(importedFirst: Bool) throws {
    let camp = try open()
    try camp.sql("office.sqlite", "UPDATE orders SET note = 'hidden'")
    if importedFirst { try camp.answer("a") }
    try camp.deliver("a")
    #expect(try camp.rows("office.sqlite", Self.rows) == "l\nm\no")
    #expect(try camp.rows("office.sqlite", "SELECT count(*), count(DISTINCT unit) FROM satchel_conflicts") == "3|1")
    #expect(
      try camp.rows("office.sqlite", "SELECT table_name, note FROM satchel_conflicts WHERE id = unit")
        == "orders|The device deleted other rows with this row: 2 of lines. All are decided together.")
    try camp.answer("a")
    #expect(try camp.rows("a/data.sqlite", "SELECT count(*) FROM satchel_conflicts") == "0")
    let id = try camp.rows("office.sqlite", "SELECT id FROM satchel_conflicts WHERE table_name = 'orders'")
    #expect(camp.hub("conflicts", "resolve", id, "--keep", "device").code == 0)
    #expect(try camp.rows("office.sqlite", Self.rows) == "")
  }

  @Test("an order and its lines that both sides delete are no conflict", arguments: [false, true])
  func deleted(importedFirst: Bool) throws {
    let camp = try open()
    try camp.sql("office.sqlite", "PRAGMA foreign_keys = ON; DELETE FROM orders")
    if importedFirst { try camp.answer("a") }
    try camp.deliver("a")
    try camp.answer("a")
    for database in ["a/data.sqlite", "office.sqlite"] {
      #expect(try camp.rows(database, Self.rows) == "")
      #expect(try camp.rows(database, "SELECT count(*) FROM satchel_conflicts") == "0")
    }
  }

  @Test("if one line is hidden or deleted, the unit names all of its rows and stays whole", arguments: [false, true])
  func mixed(isHidden: Bool) throws {
    let camp = try open()
    let loss = isHidden ? "UPDATE lines SET note = 'hidden'" : "DELETE FROM lines"
    try camp.sql("office.sqlite", "\(loss) WHERE id = 'l'")
    try camp.deliver("a")
    try camp.answer("a")
    #expect(try camp.rows("office.sqlite", Self.rows) == (isHidden ? "l\nm\no" : "m\no"))
    #expect(try camp.rows("a/data.sqlite", Self.rows) == "m\no")
    for database in ["a/data.sqlite", "office.sqlite"] {
      #expect(try camp.rows(database, "SELECT count(*), count(DISTINCT unit) FROM satchel_conflicts") == "3|1")
    }
    #expect(
      try camp.rows("a/data.sqlite", "SELECT key, kind FROM satchel_conflicts ORDER BY key")
        == "[\"l\"]|update/delete\n[\"m\"]|unit\n[\"o\"]|unit")
  }
}
