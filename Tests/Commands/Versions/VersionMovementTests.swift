import Testing

/// A new version changes rules or tables, while a device has pending changes of exactly the rows concerned.
@Suite("Rows that another version moves")
struct VersionMovementTests {
  private let camp: VersionFixture

  init() throws {
    camp = try VersionFixture()
    try camp.write("tablet", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
  }

  private func definition(_ sites: String, _ reviews: String) -> String {
    VersionTests.definition(2, #""sites": { \#(sites) }, "reviews": { \#(reviews) }"#)
  }

  private static let write = #""write": "author = :user", "conflict": "manual""#

  @Test("a rule that hides rows takes them away, and the pending change of a hidden row is kept as a conflict")
  func narrower() throws {
    try camp.apply(definition(#""visible": "tier < :tier", "write": "none""#, Self.write))
    camp.camp.answer("tablet", 2)
    #expect(try camp.tablet("SELECT (SELECT count(*) FROM sites), (SELECT count(*) FROM reviews)") == "0|0")
    #expect(try camp.tablet("SELECT kind, device_values FROM satchel_conflicts").contains(#""words":"mine""#))
    try camp.settle(sites: "tier < 1")
    #expect(try camp.office("SELECT words FROM reviews WHERE id = 'r1'") == "quiet")
    #expect(try camp.office("SELECT count(*) FROM satchel_conflicts WHERE device_values LIKE '%mine%'") == "1")
  }

  @Test("a rule that shows more rows brings them, also where the device made one of the same key meanwhile")
  func wider() throws {
    try camp.write("tablet", "INSERT INTO reviews VALUES ('r2', 'hill', 'ann', 1, 'not that one')")
    try camp.apply(definition(#""visible": "tier <= :tier + 1", "write": "none""#, Self.write))
    camp.camp.answer("tablet", 2)
    #expect(try camp.tablet("SELECT id, words FROM reviews ORDER BY id") == "r1|mine\nr2|dark")
    #expect(try camp.tablet("SELECT kind FROM satchel_conflicts") == "insert/insert")
    try camp.settle(sites: "1")
    #expect(try camp.office("SELECT id, words FROM reviews ORDER BY id") == "r1|mine\nr2|dark")
  }

  @Test("a parent that is named no more lets its children be seen")
  func parents() throws {
    try camp.apply(
      definition(#""visible": "tier <= :tier", "write": "none""#, #""parents": [], "write": "author = :user""#))
    camp.camp.answer("tablet", 2)
    #expect(try camp.tablet("SELECT id, words FROM reviews ORDER BY id") == "r1|mine\nr2|dark")
  }

  @Test("a row that may not be written any more keeps the hub's values, and the pending change is held")
  func writing() throws {
    try camp.apply(definition(#""visible": "tier <= :tier", "write": "none""#, #""write": "none""#))
    camp.camp.answer("tablet", 2)
    #expect(try camp.tablet("SELECT words FROM reviews") == "mine")
    camp.camp.deliver("tablet", 1)
    #expect(try camp.office("SELECT kind, state FROM satchel_conflicts") == "forbidden|held")
    try camp.settle()
    #expect(try camp.tablet("SELECT words FROM reviews") == "quiet")
  }

  @Test("a policy that changes decides what was written under the one before")
  func policy() throws {
    try camp.write("office", "UPDATE reviews SET words = 'theirs' WHERE id = 'r1'")
    try camp.apply(
      definition(#""visible": "tier <= :tier", "write": "none""#, #""write": "author = :user", "conflict": "device""#))
    camp.camp.answer("tablet", 2)
    #expect(try camp.tablet("SELECT words FROM reviews") == "mine")
    try camp.settle()
    #expect(try camp.office("SELECT words FROM reviews WHERE id = 'r1'") == "mine")
    #expect(try camp.office("SELECT state FROM satchel_conflicts") == "settled")
  }

  private static let tools = "\(VersionTests.tables), \"tools\": {}"
  private static let makeTools = "CREATE TABLE IF NOT EXISTS tools (id TEXT PRIMARY KEY, name TEXT)"

  @Test(
    "a table that comes into the dataset brings the hub's rows, and rows that a device had in it are its own new ones")
  func added() throws {
    try camp.write("office", "\(Self.makeTools); INSERT INTO tools VALUES ('t1', 'axe'), ('t2', 'rope')")
    try camp.write("tablet", "\(Self.makeTools); INSERT INTO tools VALUES ('t1', 'saw'), ('t2', 'rope'), ('t9', 'map')")
    try camp.apply(VersionTests.definition(2, Self.tools), Self.makeTools)
    camp.camp.answer("tablet", 2)
    camp.camp.answer("phone", 2)
    #expect(try camp.camp.rows("phone/data.sqlite", "SELECT * FROM tools ORDER BY id") == "t1|axe\nt2|rope")
    #expect(try camp.tablet("SELECT * FROM tools ORDER BY id") == "t1|axe\nt2|rope\nt9|map")
    #expect(
      try camp.tablet("SELECT kind, device_values FROM satchel_conflicts") == #"insert/insert|{"id":"t1","name":"saw"}"#
    )
    try camp.settle()
    #expect(try camp.office("SELECT * FROM tools ORDER BY id") == "t1|axe\nt2|rope\nt9|map")
    try camp.write("phone", "UPDATE tools SET name = 'long rope' WHERE id = 't2'")
    try camp.settle("phone", sites: "tier <= 2")
    #expect(try camp.office("SELECT name FROM tools WHERE id = 't2'") == "long rope")
  }

  @Test("rows that a migration puts into a table of its making come from the hub, once")
  func seeded() throws {
    try camp.apply(
      VersionTests.definition(2, #"\#(VersionTests.tables), "tools": { "visible": "name <> 'axe'" }"#),
      "CREATE TABLE tools (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO tools (name) VALUES ('axe'), ('rope')")
    camp.camp.answer("tablet", 2)
    #expect(try camp.tablet("SELECT * FROM tools") == "2|rope")
    try camp.settle()
    #expect(try camp.office("SELECT count(*) FROM tools") == "2")
  }

  @Test(
    "a table that leaves the dataset stays in place on both sides; what was pending is kept once, and can be closed")
  func removed() throws {
    camp.camp.device("tablet", "export")
    try camp.write("tablet", "INSERT INTO reviews VALUES ('r3', 'hill', 'ann', 3, 'steep')")
    try camp.apply(VersionTests.definition(2, VersionTests.sites))
    let outcome = camp.camp.hub("import", camp.camp.path("tablet/bundles/outbox/camp-tablet-hub-1.satchel"))
    #expect(outcome.out.contains("1 change of tables that left the dataset cannot be merged"))
    #expect(try camp.office("SELECT words FROM reviews WHERE id = 'r1'") == "quiet")
    camp.camp.hub("emit", "--device", "tablet")
    let arrived = camp.camp.device("tablet", "import", camp.camp.path("hub/bundles/outbox/camp-hub-tablet-2.satchel"))
    #expect(arrived.code == 0, "\(arrived.error)")
    #expect(try camp.tablet("SELECT id, words FROM reviews ORDER BY id") == "r1|mine\nr3|steep")
    #expect(try camp.tablet("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'satchel%reviews'") == "0")
    try camp.write("tablet", "UPDATE reviews SET words = 'nobody captures this'")
    camp.camp.deliver("tablet", 2)
    for side in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(
        try camp.camp.rows(side, "SELECT key, kind, state FROM satchel_conflicts ORDER BY key")
          == #"["r1"]|revoked|open\#n["r3"]|revoked|open"#)
    }
    let id = try camp.office(#"SELECT id FROM satchel_conflicts WHERE key = '["r3"]'"#)
    #expect(camp.camp.hub("conflicts", "show", id).out.contains("The table reviews left the dataset with version 2."))
    let refused = camp.camp.hub("conflicts", "resolve", id, "--keep", "device")
    #expect(refused.code == 1 && refused.error.contains("--keep hub"))
    #expect(camp.camp.hub("conflicts", "resolve", id, "--keep", "hub").code == 0)
    camp.camp.answer("tablet", 3)
    #expect(try camp.tablet("SELECT count(*) FROM satchel_conflicts WHERE state = 'open'") == "1")
    #expect(camp.camp.device("tablet", "doctor").code == 0 && camp.camp.hub("doctor").code == 0)
    let back = try camp.tryToApply(VersionTests.definition(3))
    #expect(back.code == 1 && back.error.contains("it was in the dataset up to version 1"))
  }
}
