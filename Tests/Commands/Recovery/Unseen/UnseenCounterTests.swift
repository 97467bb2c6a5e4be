import SatchelJSON
import Testing

@Suite("A counter that a device counted on after an unseen write")
struct UnseenCounterTests {
  @Test("the device gets the hub's sum, and its own number is kept as a conflict")
  func countedOn() throws {
    let camp = try CommandLineFixture()
    try camp.openWoods(
      """
      CREATE TABLE trees (id TEXT PRIMARY KEY, visits INTEGER);
      INSERT INTO trees VALUES ('oak', 0);
      """,
      as: """
        { "dataset": "camp", "version": 1, "attributes": { "tier": "integer" },
          "tables": { "trees": { "columns": { "visits": "sum" } } } }
        """)
    try camp.writeUnseen("tablet/data.sqlite", "UPDATE trees SET visits = 6")
    try camp.sql("tablet/data.sqlite", "UPDATE trees SET visits = 8")
    camp.deliver("tablet", 2)
    _ = try camp.fetchForTablet()
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT visits FROM trees") == "2")
    }
    let conflicts = try camp.listedConflicts(of: "tablet")
    #expect(conflicts.map { $0["kind"]?.stringValue } == ["unseen"])
    #expect(conflicts.map { $0["device_values"]?["visits"]?.integerValue } == [8])
  }
}
