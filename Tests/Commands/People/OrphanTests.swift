import SatchelJSON
import Testing

/// Rows that name no parent. In a new dataset no user sees them, unless the definition allows it.
@Suite("Rows without a parent")
struct OrphanTests {
  private static let schema = """
    CREATE TABLE sites (id TEXT PRIMARY KEY, tier INTEGER);
    CREATE TABLE teams (id TEXT PRIMARY KEY);
    CREATE TABLE trees (
      id TEXT PRIMARY KEY, site TEXT REFERENCES sites (id), team TEXT REFERENCES teams (id), height INTEGER);
    CREATE INDEX trees_site ON trees (site);
    CREATE INDEX trees_team ON trees (team);
    INSERT INTO sites VALUES ('near', 1), ('far', 2);
    INSERT INTO teams VALUES ('red');
    INSERT INTO trees VALUES
      ('a', 'near', NULL, 1), ('b', 'far', 'red', 2), ('c', NULL, 'red', 3), ('d', NULL, NULL, 4);
    """

  /// - Parameter members: further members of the definition, as JSON.
  private static func definition(_ rules: String, members: String = "", version: Int = 1) -> String {
    """
    { "dataset": "camp", "version": \(version), \(members)"attributes": { "tier": "integer" },
      "tables": { "sites": { "visible": "tier <= :tier" }, "teams": {}, "trees": { \(rules) } } }
    """
  }

  private func open(_ definition: String) throws -> CommandLineFixture {
    let camp = try CommandLineFixture()
    try camp.open(as: [#fileID, definition]) {
      try camp.sql("office.sqlite", Self.schema)
      try camp.writeExactly("camp.json", definition)
      camp.makeHub("hub", over: "office.sqlite")
      #expect(camp.hub("user", "add", "ann", "tier=1").code == 0)
      camp.provision("tablet")
    }
    return camp
  }

  private func seen(_ camp: CommandLineFixture) throws -> String {
    try camp.rows("tablet/data.sqlite", "SELECT group_concat(id, '') FROM (SELECT id FROM trees ORDER BY id)")
  }

  @Test("a definition that does not say it hides them in a new dataset, with one parent, all parents or any parent")
  func newDataset() throws {
    #expect(try seen(open(Self.definition(#""parents": ["sites"]"#))) == "a")
    #expect(try seen(open(Self.definition(#""parents": ["sites", "teams"]"#))) == "ac")
    #expect(try seen(open(Self.definition(#""parents": { "any": ["sites", "teams"] }"#))) == "abc")
    let camp = try open(Self.definition(""))
    #expect(try camp.hub("dataset", "show", "--json").json["definition"]?["orphans"]?.stringValue == "hidden")
    let why = camp.hub("scope", "explain", "ann", "trees", "d").out
    #expect(why.contains("not to be seen") && why.contains("no   it names a row of "), "\(why)")
  }

  @Test("the definition may show them, in the whole dataset or in a table")
  func shown() throws {
    #expect(try seen(open(Self.definition(#""parents": ["sites"]"#, members: #""orphans": "visible", "#))) == "acd")
    #expect(try seen(open(Self.definition(#""parents": ["sites"], "orphans": "visible""#))) == "acd")
    let mixed = Self.definition(#""parents": ["sites"], "orphans": "hidden""#, members: #""orphans": "visible", "#)
    #expect(try seen(open(mixed)) == "a")
  }

  @Test("a row that gets a parent comes into sight, and goes when it loses the parent")
  func moving() throws {
    let camp = try open(Self.definition(#""parents": ["sites"]"#))
    try camp.sql(
      "office.sqlite", "UPDATE trees SET site = 'near' WHERE id = 'd'; UPDATE trees SET site = NULL WHERE id = 'a'")
    camp.answer("tablet", 2)
    #expect(try seen(camp) == "d")
  }

  @Test("a device's new row without a parent is a conflict, and the office enters it with a parent")
  func newRow() throws {
    let camp = try open(Self.definition(#""parents": ["sites"]"#))
    try camp.sql(
      "tablet/data.sqlite",
      "INSERT INTO trees VALUES ('fresh', NULL, NULL, 7); UPDATE trees SET site = NULL WHERE id = 'a'")
    camp.deliver("tablet", 1)
    #expect(try camp.rows("office.sqlite", "SELECT id, site FROM trees WHERE id IN ('a', 'fresh')") == "a|near")
    let found = try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue ?? []
    #expect(found.count == 2 && found.allSatisfy { $0["kind"]?.stringValue == "forbidden" })
    #expect(found.allSatisfy { $0["note"]?.stringValue?.contains("names no parent") == true })
    let id = try #require(found.first { $0["key"]?.arrayValue?.first?.stringValue == "fresh" }?["id"]?.stringValue)
    #expect(camp.hub("conflicts", "resolve", id, "--set", "site=near").code == 0)
    camp.answer("tablet", 2)
    #expect(try seen(camp) == "afresh")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT site, height FROM trees WHERE id = 'fresh'") == "near|7")
  }

  @Test("the next version of the dataset keeps the rule if it does not say it")
  func nextVersion() throws {
    let camp = try open(Self.definition(#""parents": ["sites"]"#))
    try camp.writeExactly("next.json", Self.definition(#""parents": ["sites"], "conflict": "newest""#, version: 2))
    #expect(camp.hub("dataset", "apply", camp.path("next.json")).code == 0)
    camp.answer("tablet", 2)
    #expect(try seen(camp) == "a")
    try camp.writeExactly(
      "last.json", Self.definition(#""parents": ["sites"]"#, members: #""orphans": "visible", "#, version: 3))
    let applied = try camp.hub("dataset", "apply", camp.path("last.json"), "--json").json
    #expect(applied["effect"]?["rows"]?["trees"]?["given"]?.integerValue == 2)
    camp.answer("tablet", 3)
    #expect(try seen(camp) == "acd")
  }

  /// Makes a hub with a tree of rows that also name sites. The tablet's user sees only the first site.
  private func openTree(_ parts: String) throws -> CommandLineFixture {
    let camp = try CommandLineFixture()
    try camp.sql(
      "office.sqlite",
      """
      CREATE TABLE sites (id INTEGER PRIMARY KEY, tier INTEGER);
      CREATE TABLE parts (
        id INTEGER PRIMARY KEY, inside INTEGER REFERENCES parts (id), site INTEGER REFERENCES sites (id));
      INSERT INTO sites VALUES (1, 1), (2, 2);
      INSERT INTO parts VALUES \(parts);
      """)
    try camp.writeExactly(
      "camp.json",
      """
      { "dataset": "camp", "version": 1, "attributes": { "tier": "integer" },
        "tables": { "sites": { "visible": "tier <= :tier" }, "parts": {} } }
      """
    )
    camp.makeHub("hub", over: "office.sqlite")
    camp.hub("user", "add", "ann", "tier=1")
    camp.provision("tablet")
    return camp
  }

  private func parts(_ camp: CommandLineFixture, _ database: String = "tablet/data.sqlite") throws -> String {
    try camp.rows(database, "SELECT group_concat(id) FROM (SELECT id FROM parts ORDER BY id)")
  }

  @Test("a row of a tree that names a row above it in the tree alone is not without a parent")
  func trees() throws {
    let camp = try openTree("(1, NULL, 1), (2, 1, NULL), (3, NULL, NULL), (4, 3, NULL), (5, 3, 1), (6, NULL, 2)")
    #expect(try parts(camp) == "1,2")
    try camp.sql("office.sqlite", "UPDATE parts SET site = 1 WHERE id = 3; UPDATE parts SET inside = NULL WHERE id = 2")
    camp.answer("tablet", 2)
    #expect(try parts(camp) == "1,3,4,5")
  }

  @Test("rows that name themselves or each other, and no parent, are hidden with all rows below them")
  func circles() throws {
    let camp = try openTree(
      "(1, 1, NULL), (2, 3, NULL), (3, 2, NULL), (4, 3, 1), (5, 6, 1), (6, 5, NULL), (7, 6, NULL)")
    #expect(try parts(camp) == "5,6,7")
    let why = camp.hub("scope", "explain", "ann", "parts", "1").out
    #expect(why.contains("no   it, or a row of parts above it, names a row of sites"), "\(why)")
    try camp.sql("office.sqlite", "UPDATE parts SET site = 1 WHERE id = 2; UPDATE parts SET site = NULL WHERE id = 5")
    camp.answer("tablet", 2)
    #expect(try parts(camp) == "2,3,4")
  }

  @Test("a long circle without a parent is hidden, and seen when one of its rows gets a parent")
  func longCircle() throws {
    let circle = (1...60).map { "(\($0), \($0 % 60 + 1), NULL)" }.joined(separator: ", ")
    let camp = try openTree(circle)
    let count = "SELECT count(*) FROM parts"
    #expect(try camp.rows("tablet/data.sqlite", count) == "0")
    try camp.sql("office.sqlite", "UPDATE parts SET site = 1 WHERE id = 30")
    camp.answer("tablet", 2)
    #expect(try camp.rows("tablet/data.sqlite", count) == "60")
    try camp.sql("office.sqlite", "UPDATE parts SET site = NULL WHERE id = 30")
    #expect(camp.hub("scope", "explain", "ann", "parts", "1").out.contains("not to be seen"))
  }

  @Test("a device's new row that names itself and no parent is a conflict, like any row without a parent")
  func newCircle() throws {
    let camp = try openTree("(1, NULL, 1)")
    try camp.sql(
      "tablet/data.sqlite",
      "INSERT INTO parts VALUES (2, 2, NULL), (3, 1, NULL), (4, 4, 1)")
    camp.deliver("tablet", 1)
    #expect(try parts(camp, "office.sqlite") == "1,3,4")
    let found = try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue ?? []
    #expect(found.count == 1 && found.first?["kind"]?.stringValue == "forbidden", "\(found)")
    #expect(found.first?["note"]?.stringValue?.contains("names no parent") == true, "\(found)")
  }

  @Test("init says what becomes of them, which tables everybody sees, and which rules read whole tables")
  func understood() throws {
    let camp = try CommandLineFixture()
    try camp.sql("office.sqlite", Self.schema + "DROP INDEX trees_site;")
    try camp.writeExactly(
      "camp.json", Self.definition(#""visible": "height < (SELECT max(tier) * 9 FROM sites)", "parents": ["sites"]"#))
    let words = ["dataset", "check", camp.path("camp.json"), camp.path("office.sqlite")]
    let out = camp.hubAnywhere(words).out
    for line in [
      "Note: no user sees 2 rows of trees that name no parent.", "Every user sees all rows of: teams.",
      "For each row of trees, its rules read all of sites.", "site of trees has no index",
    ] { #expect(out.contains(line), "\(out)") }
    let rules = try camp.hubAnywhere(words + ["--json"]).json["understood"]?.arrayValue ?? []
    let trees = try #require(rules.first { $0["table"]?.stringValue == "trees" })
    #expect(trees["orphans"]?.stringValue == "hidden" && trees["without_parent"]?.integerValue == 2)
    #expect(trees["everybody"]?.boolValue == false && trees["scans"]?.arrayValue?.count == 2)
  }

  @Test("init and dataset apply say the same about the rules as dataset check")
  func understoodEverywhere() throws {
    let camp = try CommandLineFixture()
    try camp.sql("office.sqlite", Self.schema + "DROP INDEX trees_site;")
    let rules = #""visible": "height < (SELECT max(tier) * 9 FROM sites)", "parents": ["sites"]"#
    try camp.writeExactly("camp.json", Self.definition(rules))
    let (definition, database) = (camp.path("camp.json"), camp.path("office.sqlite"))
    let checked = camp.hubAnywhere("dataset", "check", definition, database).out
    let understood = String(checked.dropFirst("The definition fits the database.\n".count))
    #expect(understood.hasPrefix("TABLE") && understood.contains("Note: no user sees 2 rows of trees"), "\(checked)")
    let made = camp.hubAnywhere("init", camp.path("hub"), "--dataset", definition, "--database", database)
    #expect(made.code == 0 && made.out.contains(understood), "\(made)")
    try camp.writeExactly("two.json", Self.definition(rules, version: 2))
    let applied = camp.hub("dataset", "apply", camp.path("two.json"))
    #expect(applied.code == 0 && applied.out.contains(understood), "\(applied)")
  }
}
