import Testing

/// A device moves all pieces of one place to another place and deletes the first place. In this table, deleted rows
/// stay and are marked. Meanwhile another writer marked the first place.
@Suite("Units that delete rows which another writer marked as deleted")
struct UnitMarkTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE stock (id TEXT PRIMARY KEY, qty INTEGER CHECK (qty >= 0), gone INTEGER NOT NULL DEFAULT 0);
      INSERT INTO stock (id, qty) VALUES ('s1', 5), ('s2', 0), ('s3', 4);
      """,
      CommandLineFixture.definition(
        """
        { "stock": { "unit": "transaction", "conflict": "manual", "columns": { "qty": "sum" },
          "delete": "soft", "deleted": "gone" } }
        """), devices: ["a"])
    try camp.answer("a")
  }

  /// The two ways in which an app deletes a row of such a table.
  static let deletes = ["DELETE FROM stock", "UPDATE stock SET gone = 1"]

  private static let stock = "SELECT id, qty FROM stock WHERE NOT gone ORDER BY id"

  private func transfer(by delete: String = Self.deletes[0], in database: String = "a/data.sqlite") throws {
    try camp.sql(
      database, "BEGIN; \(delete) WHERE id = 's1'; UPDATE stock SET qty = qty + 5 WHERE id = 's2'; COMMIT")
  }

  private func mark(_ ids: String) throws {
    try camp.sql("office.sqlite", "UPDATE stock SET gone = 1 WHERE id IN (\(ids))")
  }

  private func conflicts(_ database: String) throws -> String {
    try camp.rows(database, "SELECT count(*), count(DISTINCT unit) FROM satchel_conflicts")
  }

  /// Expects these rows on both sides. Expects these numbers of conflicts, and of units that have conflicts.
  private func expect(_ rows: String, _ conflicts: String) throws {
    for database in ["a/data.sqlite", "office.sqlite"] {
      #expect(try camp.rows(database, Self.stock) == rows, "\(database)")
      #expect(try self.conflicts(database) == conflicts, "\(database)")
    }
  }

  @Test("a transfer that two people make counts once", arguments: deletes, [false, true])
  func twice(delete: String, importedFirst: Bool) throws {
    try transfer(by: delete)
    try transfer(by: Self.deletes[1], in: "office.sqlite")
    if importedFirst { try camp.answer("a") }
    try camp.deliver("a")
    try camp.answer("a")
    try expect("s2|5\ns3|4", "2|1")
    #expect(
      try camp.rows("office.sqlite", "SELECT key, kind, state FROM satchel_conflicts ORDER BY key")
        == "[\"s1\"]|update/delete|open\n[\"s2\"]|unit|open")
    let id = try camp.rows("office.sqlite", "SELECT id FROM satchel_conflicts WHERE id = unit")
    let decided = camp.hub("conflicts", "resolve", id, "--keep", "hub")
    #expect(decided.code == 0, "\(decided.error)")
    try camp.answer("a")
    try expect("s2|5\ns3|4", "2|1")
    #expect(camp.device("a", "doctor").code == 0)
  }

  @Test("a decision for the device's unit leaves a marked row in its table")
  func decidedForTheDevice() throws {
    try transfer()
    try transfer(by: Self.deletes[1], in: "office.sqlite")
    try camp.deliver("a")
    let id = try camp.rows("office.sqlite", "SELECT id FROM satchel_conflicts WHERE id = unit")
    let decided = camp.hub("conflicts", "resolve", id, "--keep", "device")
    #expect(decided.code == 0, "\(decided.error)")
    #expect(
      try camp.rows("office.sqlite", "SELECT id, qty, gone FROM stock ORDER BY id") == "s1|5|1\ns2|10|0\ns3|4|0")
  }

  @Test("a unit that only deletes rows which are marked is no conflict", arguments: deletes, [false, true])
  func onlyMarked(delete: String, importedFirst: Bool) throws {
    try camp.sql(
      "a/data.sqlite", "BEGIN; \(delete) WHERE id = 's1'; \(delete) WHERE id = 's3'; COMMIT")
    try mark("'s1', 's3'")
    if importedFirst { try camp.answer("a") }
    try camp.deliver("a")
    try camp.answer("a")
    try expect("s2|0", "0|0")
  }

  @Test("a transfer that waits is open when a row that it deletes is marked", arguments: deletes)
  func waiting(delete: String) throws {
    try camp.sql(
      "a/data.sqlite",
      """
      BEGIN; UPDATE stock SET qty = qty - 4 WHERE id = 's1'; UPDATE stock SET qty = qty + 8 WHERE id = 's2';
      \(delete) WHERE id = 's3'; COMMIT
      """)
    try camp.sql("office.sqlite", "UPDATE stock SET qty = qty - 3 WHERE id = 's1'")
    try camp.deliver("a")
    try camp.answer("a")
    #expect(try camp.rows("a/data.sqlite", "SELECT DISTINCT state FROM satchel_conflicts") == "held")
    try camp.sql("office.sqlite", "UPDATE stock SET qty = qty + 9 WHERE id = 's1'")
    try mark("'s3'")
    try camp.answer("a")
    try expect("s1|11\ns2|0", "3|1")
    #expect(
      try camp.rows("a/data.sqlite", "SELECT kind, state FROM satchel_conflicts WHERE key = '[\"s3\"]'")
        == "update/delete|open")
  }

  @Test("a transfer whose row the device itself marked before is no conflict, and neither is a bundle that comes twice")
  func own() throws {
    try camp.sql("a/data.sqlite", "UPDATE stock SET gone = 1 WHERE id = 's1'")
    try camp.deliver("a")
    try transfer()
    let export = try camp.export("a")
    for _ in 0..<2 { #expect(camp.hub("import", export).code == 0) }
    try camp.answer("a")
    try expect("s2|5\ns3|4", "0|0")
  }

  @Test("a database that is created again from an export has the same conflict")
  func rebuilt() throws {
    try transfer()
    _ = try camp.export("a")
    try mark("'s1'")
    try camp.answer("a", full: true)
    try camp.loseDatabase(of: "a")
    #expect(camp.device("a", "doctor", "--repair").code == 0)
    #expect(try camp.rows("a/data.sqlite", Self.stock) == "s2|0\ns3|4")
    #expect(try conflicts("a/data.sqlite") == "2|1")
    try camp.deliver("a")
    try camp.answer("a")
    try expect("s2|0\ns3|4", "2|1")
  }

  /// When the device writes the transfer: before another writer marks the row, or later in an old copy of its database.
  enum Writing: CaseIterable { case beforeTheMark, inTheCopy }

  @Test("an old copy in the database's place does not count a transfer again", arguments: Writing.allCases)
  func oldCopy(writing: Writing) throws {
    try camp.copy("a/data.sqlite", to: "old.sqlite")
    if writing == .beforeTheMark {
      try transfer()
    } else {
      try camp.sql("a/data.sqlite", "UPDATE stock SET qty = 3 WHERE id = 's3'")
    }
    _ = try camp.export("a")
    camp.awaitLaterTime()
    try mark("'s1'")
    try camp.answer("a")
    try camp.remove("a/data.sqlite")
    try camp.copy("old.sqlite", to: "a/data.sqlite")
    camp.awaitLaterTime()
    if writing == .inTheCopy { try transfer() }
    let repaired = camp.device("a", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.error)")
    #expect(try conflicts("a/data.sqlite") == "2|1")
    try camp.deliver("a")
    try camp.answer("a")
    try expect(writing == .beforeTheMark ? "s2|0\ns3|4" : "s2|0\ns3|3", "2|1")
  }
}
