import Foundation
import SatchelJSON
import TestSupport
import Testing

/// Rows enter and leave a user's sight, while the user's device has pending changes of exactly these rows.
///
/// Ann's tablet has the north: a region, a site in it, and the visits to the site. Ben has the south. The value that
/// decides about a row's visibility is never in the row itself.
@Suite("Movements")
struct MovementTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(as: [#fileID]) {
      try camp.sql(
        "office.sqlite",
        """
        CREATE TABLE posts (person TEXT, region TEXT, PRIMARY KEY (person, region));
        CREATE TABLE regions (id TEXT PRIMARY KEY, name TEXT, tier INTEGER NOT NULL);
        CREATE TABLE sites (id TEXT PRIMARY KEY, region TEXT REFERENCES regions (id), name TEXT);
        CREATE TABLE visits (id TEXT PRIMARY KEY, site TEXT REFERENCES sites (id), words TEXT, stars INTEGER);
        INSERT INTO posts VALUES ('ann', 'north'), ('ben', 'south');
        INSERT INTO regions VALUES ('north', 'North', 5), ('south', 'South', 5), ('coast', 'Coast', 2);
        INSERT INTO sites VALUES ('hill', 'north', 'Hill'), ('lake', 'south', 'Lake'), ('reef', 'coast', 'Reef');
        INSERT INTO visits VALUES ('h1', 'hill', 'windy', 3), ('l1', 'lake', 'calm', 4), ('r1', 'reef', 'deep', 5);
        """)
      try camp.write(
        "camp.json",
        """
        { "dataset": "camp", "version": 1, "attributes": { "tier": "integer" },
          "tables": {
            "posts": { "visible": "person = :user", "write": "none" },
            "regions": { "visible": "tier <= :tier OR EXISTS (SELECT 1 FROM posts WHERE person = :user AND region = regions.id)" },
            "sites": {}, "visits": {} } }
        """)
      camp.makeHub("hub", over: "office.sqlite")
      for user in ["ann", "ben"] { camp.hub("user", "add", user, "tier=1") }
      camp.provision("tablet")
    }
  }

  /// The hub emits, and the tablet imports the bundle.
  private func answer() throws {
    let emission = try #require(
      try camp.hub("emit", "--device", "tablet", "--json").json["emissions"]?.arrayValue?.first)
    guard emission["new"] == true else { return }
    let outcome = camp.device("tablet", "import", try #require(emission["file"]?.stringValue))
    #expect(outcome.code == 0, "\(outcome.error)")
  }

  private func deliver() throws { try camp.deliver("tablet") }

  private func onTablet(_ sql: String) throws { try camp.sql("tablet/data.sqlite", sql) }
  private func atOffice(_ sql: String) throws { try camp.sql("office.sqlite", sql) }

  private static let all = """
    SELECT id FROM regions UNION ALL SELECT id FROM sites UNION ALL SELECT id || ':' || coalesce(words, '') || stars FROM visits ORDER BY 1
    """

  /// All rows on the tablet, in one line.
  private var rows: String { get throws { try camp.rows("tablet/data.sqlite", Self.all).replacing("\n", with: " ") } }

  /// The device's values in the conflicts that Ann's change lost, at one side.
  private func kept(_ database: String) throws -> String {
    try camp.rows(
      database,
      """
      SELECT kind || ' ' || key || ' ' || coalesce(device_values, 'gone') FROM satchel_conflicts WHERE state <> \
      'settled' ORDER BY 1
      """
    )
  }

  /// Expects that `body` writes no row of the table at the hub.
  private func untouched<T>(_ table: String = "visits", _ body: () throws -> T) throws -> T {
    let count = "SELECT count(*) FROM satchel_log WHERE table_name = '\(table)'"
    let before = try camp.rows("office.sqlite", count)
    let result = try body()
    #expect(try camp.rows("office.sqlite", count) == before)
    return result
  }

  /// Both sides exchange bundles. Expects that nothing is left to carry, and that both sides have these rows of Ann.
  private func settles(_ expected: String) throws {
    for _ in 0..<2 {
      try deliver()
      try answer()
    }
    let rows = try rows
    #expect(rows == expected)
    #expect(try camp.device("tablet", "status", "--json").json["pending"]?.arrayValue?.isEmpty ?? true)
  }

  @Test(
    "a grant brings old rows whole, with their children, over a row that the device made under the key of one of them")
  func grant() throws {
    try onTablet("INSERT INTO visits VALUES ('l1', 'hill', 'mine', 1); UPDATE visits SET stars = 1 WHERE id = 'h1'")
    try untouched {
      try atOffice("INSERT INTO posts VALUES ('ann', 'south')")
      try answer()
    }
    #expect(try rows == "h1:windy1 hill l1:calm4 lake north south")
    #expect(
      try kept("tablet/data.sqlite").hasPrefix(
        #"insert/insert ["l1"] {"id":"l1","site":"hill","words":"mine","stars":1}"#))
    try settles("h1:windy1 hill l1:calm4 lake north south")
    #expect(try kept("office.sqlite").contains(#""words":"mine""#))
  }

  @Test(
    "a revoke takes rows with their children, and what was changed in them is kept, there and at the hub",
    arguments: [true, false])
  func revoke(isDelivered: Bool) throws {
    try onTablet(
      """
      UPDATE visits SET words = 'mine' WHERE id = 'h1'; INSERT INTO visits VALUES ('h2', 'hill', 'new', 2);
      UPDATE sites SET name = 'My hill' WHERE id = 'hill'
      """)
    try atOffice("DELETE FROM posts WHERE person = 'ann'")
    if isDelivered { try deliver() }
    try answer()
    // The row that no export carried is removed too, because its parent is gone.
    #expect(try rows == "")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM posts") == "0")
    try settles("")
    for side in ["tablet/data.sqlite", "office.sqlite"] {
      let kept = try kept(side)
      for value in [#"{"words":"mine"}"#, #"{"name":"My hill"}"#, #""words":"new""#] {
        #expect(kept.contains(value), "\(side): \(kept)")
      }
    }
    #expect(try camp.rows("office.sqlite", "SELECT words FROM visits ORDER BY id") == "windy\ncalm\ndeep")
  }

  @Test("a parent that leaves the user's sight takes its children along, and a parent that enters brings them")
  func parentMoves() throws {
    try onTablet("UPDATE visits SET words = 'mine' WHERE id = 'h1'")
    try untouched {
      try atOffice(
        "UPDATE sites SET region = 'south' WHERE id = 'hill'; UPDATE sites SET region = 'north' WHERE id = 'lake'")
      try answer()
    }
    #expect(try rows == "l1:calm4 lake north")
    try settles("l1:calm4 lake north")
    #expect(try kept("office.sqlite").hasSuffix(#"["h1"] {"words":"mine"}"#))
    #expect(try camp.rows("office.sqlite", "SELECT words FROM visits WHERE id = 'h1'") == "windy")
  }

  @Test("a child that the device hung on a new parent leaves with what both hang on, and is kept")
  func bothMove() throws {
    try onTablet("INSERT INTO sites VALUES ('dune', 'north', 'Dune'); UPDATE visits SET site = 'dune' WHERE id = 'h1'")
    try atOffice("UPDATE regions SET tier = 9 WHERE id = 'north'; DELETE FROM posts WHERE person = 'ann'")
    try answer()
    #expect(try rows == "")
    try settles("")
    #expect(try camp.rows("office.sqlite", "SELECT site FROM visits WHERE id = 'h1'") == "hill")
    #expect(
      try kept("office.sqlite").contains(#"{"site":"dune"}"#) && kept("office.sqlite").contains(#""name":"Dune""#))
  }

  @Test(
    "a child below a new hidden parent leaves, and the device's change in it is kept; below a visible one it comes"
  )
  func childMoves() throws {
    try onTablet("UPDATE visits SET words = 'mine', stars = 1 WHERE id = 'h1'")
    try atOffice("UPDATE visits SET site = 'lake' WHERE id = 'h1'; UPDATE visits SET site = 'hill' WHERE id = 'r1'")
    try answer()
    #expect(try rows == "hill north r1:deep5")
    try settles("hill north r1:deep5")
    #expect(try kept("office.sqlite").hasSuffix(#"["h1"] {"words":"mine","stars":1}"#))
    #expect(try camp.rows("office.sqlite", "SELECT words FROM visits WHERE id = 'h1'") == "windy")
  }

  @Test("a child that the device hangs on a hidden parent stays where it was, and its user reads why")
  func childMovesOnTheDevice() throws {
    try onTablet("UPDATE visits SET site = 'lake' WHERE id = 'h1'")
    try settles("h1:windy3 hill north")
    #expect(try camp.rows("office.sqlite", "SELECT site FROM visits WHERE id = 'h1'") == "hill")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT site FROM visits") == "hill")
    #expect(
      try camp.rows("tablet/data.sqlite", "SELECT kind, note FROM satchel_conflicts")
        == "foreign key|The row of sites to which it refers is not there.")
    #expect(
      try camp.rows("office.sqlite", "SELECT kind, note FROM satchel_conflicts")
        == "forbidden|The row of sites to which it refers may not be seen by this user.")
  }

  @Test(
    "a user whose attributes change gets the rows that they allow, and loses those that they do not",
    arguments: [true, false])
  func attributes(isFull: Bool) throws {
    try untouched {
      #expect(camp.hub("user", "set", "ann", "tier=2").code == 0)
      try answer()
      #expect(try rows == "coast h1:windy3 hill north r1:deep5 reef")
    }
    try onTablet("UPDATE visits SET words = 'mine' WHERE id IN ('h1', 'r1')")
    #expect(camp.hub("user", "set", "ann", "tier=1").code == 0)
    if isFull { camp.hub("emit", "--device", "tablet", "--full") }
    try answer()
    if isFull {
      #expect(camp.device("tablet", "import", camp.path("hub/bundles/outbox/camp-hub-tablet-3.satchel")).code == 0)
    }
    #expect(try rows == "h1:mine3 hill north")
    try settles("h1:mine3 hill north")
    #expect(try camp.rows("office.sqlite", "SELECT words FROM visits ORDER BY id") == "mine\ncalm\ndeep")
    #expect(try kept("office.sqlite").contains(#"["r1"] {"words":"mine"}"#))
  }

  @Test(
    """
    a device of another user has only that user's rows; undelivered work reaches the hub in the former user's name
    """
  )
  func anotherUser() throws {
    try atOffice("INSERT INTO posts VALUES ('ben', 'coast'), ('ann', 'coast')")
    try answer()
    try onTablet(
      """
      UPDATE visits SET words = 'seen by both' WHERE id = 'r1'; UPDATE visits SET words = 'for ann alone' WHERE id = \
      'h1'
      """
    )
    #expect(camp.hub("device", "set", "tablet", "--user", "nobody").error.contains("There is no user nobody"))
    let outcome = try camp.hub("device", "set", "tablet", "--user", "ben", "--json").json
    #expect(outcome["device"]?["user"]?.stringValue == "ben")
    try answer()
    #expect(try rows == "coast l1:calm4 lake r1:deep5 reef south")
    #expect(try camp.device("tablet", "status", "--json").json["user"]?.stringValue == "ben")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM satchel_conflicts") == "0")
    try settles("coast l1:calm4 lake r1:seen by both5 reef south")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_conflicts") == "0")
    #expect(try camp.rows("office.sqlite", "SELECT words FROM visits WHERE id = 'h1'") == "for ann alone")
    #expect(
      try camp.rows("office.sqlite", "SELECT DISTINCT user FROM satchel_log WHERE device IS NOT NULL") == "ann")
    // From here on, Ben's tablet is the writer.
    try onTablet("UPDATE visits SET stars = 1 WHERE id = 'l1'")
    try settles("coast l1:calm1 lake r1:seen by both5 reef south")
    #expect(
      try camp.rows("office.sqlite", "SELECT user FROM satchel_log WHERE key = '[\"l1\"]' ORDER BY cursor DESC LIMIT 1")
        == "ben")
  }

  @Test(
    """
    a deletion that came to the device's row before another's change does not take that change, although the row was \
    out of sight meanwhile
    """
  )
  func deletedBeforeItLeft() throws {
    camp.hub("user", "set", "ann", "tier=2")
    try answer()
    try onTablet("DELETE FROM visits WHERE id = 'r1'")
    try atOffice("UPDATE visits SET words = 'news' WHERE id = 'r1'")
    camp.hub("user", "set", "ann", "tier=1")
    try answer()
    camp.hub("user", "set", "ann", "tier=2")
    try deliver()
    #expect(try camp.rows("office.sqlite", "SELECT words FROM visits WHERE id = 'r1'") == "news")
    #expect(try camp.rows("office.sqlite", "SELECT kind FROM satchel_conflicts") == "delete/update")
  }

  @Test("a row that the hub deleted too, and that the app writes again as it was, is a new row for the hub")
  func writtenAgain() throws {
    try onTablet("DELETE FROM visits WHERE id = 'h1'")
    try atOffice("DELETE FROM visits WHERE id = 'h1'")
    try answer()
    try onTablet("INSERT INTO visits VALUES ('h1', 'hill', 'windy', 3)")
    try deliver()
    try answer()
    let count = "SELECT count(*) FROM visits WHERE id = 'h1'"
    #expect(try camp.rows("tablet/data.sqlite", count) == camp.rows("office.sqlite", count))
    #expect(try camp.rows("office.sqlite", count) == "1")
  }

  @Test(
    "work exported before the device was given away is merged with its user's rights, and Ben learns nothing"
  )
  func exportedBefore() throws {
    try onTablet("UPDATE visits SET words = 'for ann alone' WHERE id = 'h1'")
    try atOffice("UPDATE visits SET words = 'no' WHERE id = 'h1'")
    let file = try #require(try camp.device("tablet", "export", "--json").json["file"]?.stringValue)
    camp.hub("device", "set", "tablet", "--user", "ben")
    #expect(camp.hub("import", file).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT user || kind FROM satchel_conflicts") == "annupdate/update")
    camp.hub("emit", "--device", "tablet")
    let bundle = try StockTool.zstd("-dc", camp.path("hub/bundles/outbox/camp-hub-tablet-2.satchel"), in: camp.root)
      .text
    #expect(!bundle.contains("for ann alone") && !bundle.contains("windy") && bundle.contains("calm"))
    camp.device("tablet", "import", camp.path("hub/bundles/outbox/camp-hub-tablet-2.satchel"))
    try settles("l1:calm4 lake south")
    // The full bundle replaced all earlier bundles in the archive.
    #expect(try FileManager.default.contentsOfDirectory(atPath: camp.path("tablet/bundles/archive")).count <= 3)
  }
}
