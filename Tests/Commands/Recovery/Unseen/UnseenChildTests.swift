import SatchelJSON
import Testing

/// Rows that refer to other rows, and that capture did not record.
@Suite("Unseen rows below rows that leave")
struct UnseenChildTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.openWoods(
      """
      CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT);
      CREATE TABLE paths (id TEXT PRIMARY KEY, site TEXT REFERENCES sites (id), name TEXT);
      INSERT INTO sites VALUES ('lake', 'Lake'), ('hill', 'Hill');
      INSERT INTO paths VALUES ('ridge', 'hill', 'Ridge');
      """,
      as: """
        { "dataset": "camp", "version": 1, "attributes": { "tier": "integer" }, "tables": { "sites": {}, "paths": {} } }
        """)
  }

  private func onTablet(_ query: String) throws -> String { try camp.rows("tablet/data.sqlite", query) }

  @Test(
    "an unseen row is no reference to nothing after the hub deleted its parent: a person decides about it",
    arguments: [
      "INSERT INTO paths VALUES ('shore', 'lake', 'Shore')",
      "UPDATE paths SET site = 'lake', name = 'Shore' WHERE id = 'ridge'",
    ])
  func parentDeleted(write: String) throws {
    try camp.writeUnseen("tablet/data.sqlite", write)
    try camp.sql("office.sqlite", "DELETE FROM sites WHERE id = 'lake'")
    #expect(try camp.fetchForTablet()["taken_up"]?.integerValue == 1)
    #expect(try onTablet("SELECT count(*) FROM pragma_foreign_key_check") == "0")
    #expect(try onTablet("SELECT id || ' ' || site || ' ' || name FROM paths") == "ridge hill Ridge")
    #expect(try camp.keptUnseen() == ["foreign key"])
    #expect(camp.device("tablet", "doctor").code == 0)
    camp.deliver("tablet", 2)
    let atHub = try camp.listedConflicts()
    #expect(atHub.map { $0["kind"]?.stringValue } == ["foreign key"])
    #expect(atHub.map { $0["device_values"]?["name"]?.stringValue } == ["Shore"])
  }

  @Test("an unseen row stays unseen if its own parent stays")
  func otherParentDeleted() throws {
    try camp.writeUnseen("tablet/data.sqlite", "INSERT INTO paths VALUES ('crest', 'hill', 'Crest')")
    try camp.sql("office.sqlite", "DELETE FROM sites WHERE id = 'lake'")
    #expect(try camp.fetchForTablet()["taken_up"]?.integerValue == 0)
    #expect(try onTablet("SELECT name FROM paths ORDER BY id") == "Crest\nRidge")
  }
}
