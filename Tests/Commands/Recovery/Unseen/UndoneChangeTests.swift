import Testing

/// An import undid an exported change before the hub acknowledged it. Each such change is a conflict, and the hub's row
/// is in the table.
@Suite("An exported change that an import undid is no unseen write")
struct UndoneChangeTests {
  private let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture() }

  private func open(_ rules: String) throws {
    try camp.open(
      """
      CREATE TABLE stock (id TEXT PRIMARY KEY, place TEXT, qty INTEGER CHECK (qty >= 0), note TEXT);
      INSERT INTO stock VALUES ('s1', 'depot', 10, ''), ('s2', 'clinic', 0, ''), ('s3', 'store', 4, '');
      """, CommandLineFixture.definition(#"{ "stock": { \#(rules) } }"#), devices: ["a"])
  }

  /// The hub writes twice, and the device imports a bundle after each write. Neither bundle acknowledges the export.
  private func importTwice(_ sql: String, full: Bool) throws {
    for sql in [sql, "UPDATE stock SET note = 'counted'"] {
      try camp.sql("office.sqlite", sql)
      let outcome = camp.device("a", "import", try camp.emit("a", full: full))
      #expect(outcome.code == 0, "\(outcome.error)")
    }
  }

  /// - Parameter kinds: the expected kinds of all conflicts on the device.
  private func expectUndone(_ kinds: String) throws {
    #expect(try camp.rows("a/data.sqlite", "SELECT qty FROM stock ORDER BY id") == "5\n0\n4")
    #expect(try camp.rows("a/data.sqlite", "SELECT DISTINCT kind FROM satchel_conflicts ORDER BY kind") == kinds)
    let doctor = camp.device("a", "doctor")
    #expect(doctor.code == 0, "\(doctor.out)")
  }

  @Test("a change that a CHECK forbids on the hub's row", arguments: [false, true])
  func forbiddenByCheck(full: Bool) throws {
    try open(#""columns": { "qty": "sum" }"#)
    try camp.sql("a/data.sqlite", "UPDATE stock SET qty = qty - 8 WHERE id = 's1'")
    _ = try camp.export("a")
    try importTwice("UPDATE stock SET qty = qty - 5 WHERE id = 's1'", full: full)
    try expectUndone("constraint")
  }

  @Test("a change whose unit has another change that cannot be made", arguments: [false, true])
  func ofUnit(full: Bool) throws {
    try open(#""unit": "transaction", "columns": { "qty": "sum" }"#)
    try camp.sql(
      "a/data.sqlite",
      """
      BEGIN;
      UPDATE stock SET qty = qty - 8 WHERE id = 's1';
      UPDATE stock SET qty = qty + 8 WHERE id = 's2';
      COMMIT
      """)
    _ = try camp.export("a")
    try importTwice("UPDATE stock SET qty = qty - 5 WHERE id = 's1'", full: full)
    try expectUndone("constraint\nunit")
  }

  @Test("a change that lost in one column, and was undone as a whole because of its unit", arguments: [false, true])
  func ofUnitThatLost(full: Bool) throws {
    try open(#""unit": "transaction", "conflict": "hub", "columns": { "qty": "sum" }"#)
    try camp.sql(
      "a/data.sqlite",
      """
      BEGIN;
      UPDATE stock SET qty = qty - 1, place = 'van' WHERE id = 's1';
      UPDATE stock SET qty = qty + 1 WHERE id = 's2';
      COMMIT
      """)
    _ = try camp.export("a")
    try importTwice("UPDATE stock SET qty = qty - 5, place = 'cellar' WHERE id = 's1'", full: full)
    try expectUndone("unit\nupdate/update")
  }

  @Test("what is written unseen into a row whose change was undone is found, and reaches the hub")
  func writtenUnseen() throws {
    try open(#""columns": { "qty": "sum" }"#)
    try camp.sql("a/data.sqlite", "UPDATE stock SET qty = qty - 8 WHERE id = 's1'")
    _ = try camp.export("a")
    try importTwice("UPDATE stock SET qty = qty - 5 WHERE id = 's1'", full: false)
    try camp.writeUnseen("a/data.sqlite", "UPDATE stock SET note = 'unseen' WHERE id = 's1'")
    #expect(camp.device("a", "doctor").code == 1)
    #expect(camp.device("a", "doctor", "--repair").code == 0)
    try camp.carry("a", rounds: 2)
    for database in ["office.sqlite", "a/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT qty, note FROM stock WHERE id = 's1'") == "5|unseen", "\(database)")
    }
  }

  @Test(
    "a row that was deleted with its parent, and came back with its parent", arguments: [false, true],
    ["INSERT INTO tents VALUES ('blue', 'c', '')", "UPDATE camps SET name = 'by the hub'"])
  func deletedWithParent(full: Bool, sql: String) throws {
    try camp.open(
      """
      CREATE TABLE camps (id TEXT PRIMARY KEY, name TEXT);
      CREATE TABLE tents (id TEXT PRIMARY KEY, camp TEXT REFERENCES camps (id) ON DELETE CASCADE, name TEXT);
      INSERT INTO camps VALUES ('c', '');
      INSERT INTO tents VALUES ('red', 'c', '');
      """, CommandLineFixture.definition(#"{ "camps": { "conflict": "hub" }, "tents": {} }"#), devices: ["a"])
    try camp.sql("a/data.sqlite", "PRAGMA foreign_keys = ON; DELETE FROM camps")
    _ = try camp.export("a")
    for sql in [sql, "UPDATE tents SET name = 'old' WHERE id = 'red'"] {
      try camp.sql("office.sqlite", sql)
      #expect(camp.device("a", "import", try camp.emit("a", full: full)).code == 0)
    }
    #expect(try camp.rows("a/data.sqlite", "SELECT name FROM tents WHERE id = 'red'") == "old")
    #expect(!camp.device("a", "conflicts").out.contains("unseen"))
    let doctor = camp.device("a", "doctor")
    #expect(doctor.code == 0, "\(doctor.out)")
  }
}
