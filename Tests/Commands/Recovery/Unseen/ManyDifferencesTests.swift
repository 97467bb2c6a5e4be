import SatchelJSON
import Testing

/// A device has more rows that differ from the hub's record than one bundle can name.
@Suite("More differences than fit into a bundle")
struct ManyDifferencesTests {
  /// The rows have long keys, so that few keys fill the bundle.
  @Test("compare names the rows in parts, and --repair sends them again, part by part")
  func inParts() throws {
    let camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE points (id TEXT PRIMARY KEY, z INTEGER);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 6000)
      INSERT INTO points SELECT printf('%01000d', i), 0 FROM n
      """, CommandLineFixture.definition(#"{ "points": {} }"#), devices: ["tablet"])
    try camp.carry("tablet", rounds: 2)
    try camp.writeUnseen("tablet/data.sqlite", "UPDATE points SET z = 1")
    var named = 0
    for _ in 1...2 {
      _ = camp.device("tablet", "export", "--prove")
      try camp.carry("tablet")
      #expect(camp.hub("compare", "tablet").code == 0)
      try camp.carry("tablet", rounds: 2)
      let found = try #require(try camp.hub("compare", "tablet", "--json").json["rows"]?.arrayValue?.count)
      #expect(found > 0)
      named += found
      #expect(camp.hub("compare", "tablet", "--repair").code == 0)
      try camp.carry("tablet", rounds: 2)
    }
    #expect(named == 6000)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM points WHERE z = 0") == "6000")
  }
}
