import SatchelJSON
import Testing

/// Rows that refer to a value which the hub replaces, and that the hub does not know.
@Suite("Rows below rows whose values change")
struct ChangedParentTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.openWoods(
      """
      CREATE TABLE sites (id TEXT PRIMARY KEY, code TEXT UNIQUE);
      CREATE TABLE paths (id TEXT PRIMARY KEY, site TEXT REFERENCES sites (code) ON UPDATE CASCADE, name TEXT);
      INSERT INTO sites VALUES ('lake', 'L'), ('hill', 'H');
      INSERT INTO paths VALUES ('ridge', 'H', 'Ridge');
      """,
      as: """
        { "dataset": "camp", "version": 1, "attributes": { "tier": "integer" }, "tables": { "sites": {}, "paths": {} } }
        """)
  }

  private func onTablet(_ query: String) throws -> String { try camp.rows("tablet/data.sqlite", query) }

  private func renameAtHub() throws { try camp.sql("office.sqlite", "UPDATE sites SET code = 'N' WHERE id = 'lake'") }

  @Test(
    "an unseen row below a value that the hub replaced goes to the hub, like a row that capture recorded",
    arguments: [
      "INSERT INTO paths VALUES ('shore', 'L', 'Shore')",
      "UPDATE paths SET site = 'L', name = 'Shore' WHERE id = 'ridge'",
    ])
  func unseen(write: String) throws {
    try camp.writeUnseen("tablet/data.sqlite", write)
    try renameAtHub()
    #expect(try camp.fetchForTablet()["taken_up"]?.integerValue == 1)
    camp.deliver("tablet", 2)
    let atHub = try camp.listedConflicts()
    #expect(atHub.map { $0["kind"]?.stringValue } == ["foreign key"])
    #expect(atHub.map { $0["device_values"]?["name"]?.stringValue } == ["Shore"])
    _ = try camp.fetchForTablet()
    #expect(try onTablet("SELECT count(*) FROM pragma_foreign_key_check") == "0")
    #expect(try onTablet("SELECT id || ' ' || site || ' ' || name FROM paths") == "ridge H Ridge")
    #expect(camp.device("tablet", "doctor").code == 0)
  }

  @Test("a recorded row below a value that the hub replaced stays for the export, and makes no unseen row pending")
  func captured() throws {
    try camp.sql("tablet/data.sqlite", "INSERT INTO paths VALUES ('shore', 'L', 'Shore')")
    try camp.writeUnseen("tablet/data.sqlite", "INSERT INTO paths VALUES ('crest', 'H', 'Crest')")
    try renameAtHub()
    #expect(try camp.fetchForTablet()["taken_up"]?.integerValue == 0)
    #expect(try onTablet("SELECT name FROM paths ORDER BY id") == "Crest\nRidge\nShore")
  }
}
