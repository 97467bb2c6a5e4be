import SatchelJSON
import Testing

/// A change can make rows visible that are far from the changed row. Each step is a delta that the hub makes from the
/// emission before.
@Suite("Who sees what")
struct VisibilityTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
  }

  private static func definition(_ tables: String) -> String {
    #"{ "dataset": "camp", "version": 1, "attributes": { "tier": "integer" }, "tables": { \#(tables) } }"#
  }

  /// Writes at the office and sends a bundle to ann's tablet. Returns the result of a query on the tablet.
  private func after(_ writes: String, bundle number: Int, _ query: String) throws -> String {
    try camp.sql("office.sqlite", writes)
    camp.answer("tablet", number)
    return try camp.rows("tablet/data.sqlite", "SELECT group_concat(x) FROM (\(query))")
  }

  @Test("a tree asks of the rows above what it asks of a row itself: where any parent will do, of them too")
  func treesOfAny() throws {
    try camp.open(
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY, tier INTEGER); CREATE TABLE b (id INTEGER PRIMARY KEY, tier INTEGER);
      CREATE TABLE parts (id INTEGER PRIMARY KEY, inside REFERENCES parts (id), a INTEGER REFERENCES a (id), b INTEGER REFERENCES b (id));
      INSERT INTO a VALUES (1, 1), (2, 2); INSERT INTO b VALUES (1, 1), (2, 2);
      INSERT INTO parts VALUES (1, NULL, 1, 2), (2, 1, 1, NULL), (3, 2, 2, 2), (4, 3, 1, 1);
      """,
      Self.definition(
        #""a": { "visible": "tier <= :tier" }, "b": { "visible": "tier <= :tier" }, "parts": { "parents": { "any": ["a", "b", "parts"] } }"#
      ))
    let parts = "SELECT id AS x FROM parts ORDER BY id"
    #expect(try camp.rows("tablet/data.sqlite", "SELECT group_concat(x) FROM (\(parts))") == "1,2")
    #expect(try after("UPDATE b SET tier = 1 WHERE id = 2", bundle: 2, parts) == "1,2,3,4")
    #expect(try after("UPDATE a SET tier = 2; UPDATE parts SET b = NULL WHERE id = 1", bundle: 3, parts) == "NULL")
    let why = camp.hub("scope", "explain", "ann", "parts", "4").out
    #expect(
      why.contains("yes  the row of b that b names, or the row of a that a names is visible, or there is none"))
  }

  @Test("a tree with two ways up: nothing is seen below a row that is hidden along the other way")
  func twoWays() throws {
    try camp.open(
      """
      CREATE TABLE people (id INTEGER PRIMARY KEY, mother INTEGER REFERENCES people, father INTEGER REFERENCES people, tier INTEGER NOT NULL DEFAULT 1);
      INSERT INTO people VALUES (1, NULL, NULL, 2), (2, NULL, 1, 1), (3, 2, NULL, 1), (4, NULL, 3, 1), (5, NULL, NULL, 1), (6, 5, 5, 1);
      """, Self.definition(#""people": { "visible": "tier <= :tier" }"#))
    let people = "SELECT id AS x FROM people ORDER BY id"
    // The father of person 2 is hidden. So person 2 and all people below her are hidden too.
    #expect(try camp.rows("tablet/data.sqlite", "SELECT group_concat(x) FROM (\(people))") == "5,6")
    #expect(try after("UPDATE people SET tier = 1 WHERE id = 1", bundle: 2, people) == "1,2,3,4,5,6")
    #expect(try after("UPDATE people SET tier = 9 WHERE id = 2", bundle: 3, people) == "1,5,6")
    #expect(
      try after("UPDATE people SET father = 1 WHERE id = 5; DELETE FROM people WHERE id = 1", bundle: 4, people)
        == "NULL")
  }

  @Test("visibility goes down twenty generations of tables")
  func depth() throws {
    let names = (0..<20).map { "t\($0)" }
    let schema = names.enumerated().map { place, name in
      let parent = place == 0 ? "up INTEGER" : "up INTEGER NOT NULL REFERENCES \(names[place - 1]) (id)"
      return
        """
        CREATE TABLE \(name) (id INTEGER PRIMARY KEY, \(parent), tier INTEGER); INSERT INTO \(name) VALUES (1, 1, 1), \
        (2, 2, 1);
        """
    }
    let rules = names.map { "\"\($0)\": { \"visible\": \"tier <= :tier\" }" }.joined(separator: ", ")
    try camp.open(schema.joined(), Self.definition(rules))
    let last = "SELECT id AS x FROM t19 ORDER BY id"
    #expect(try after("UPDATE t0 SET tier = 2 WHERE id = 1", bundle: 2, last) == "2")
    #expect(
      try after(
        "UPDATE t0 SET tier = 1; UPDATE t10 SET up = 1 WHERE id = 2; DELETE FROM t9 WHERE id = 2", bundle: 3, last)
        == "1,2")
  }

  @Test("rules that SQLite takes each by itself and not together are refused at init, with the table's name")
  func tooDeep() throws {
    let rule = String(repeating: "(", count: 89) + "1" + String(repeating: ")", count: 89)
    try camp.sql(
      "office.sqlite",
      "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (id INTEGER PRIMARY KEY, p REFERENCES p)")
    try camp.write("camp.json", Self.definition(#""p": { "visible": "\#(rule)" }, "c": {}"#))
    let before = try camp.everything()
    let outcome = camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
    #expect(
      outcome.code == 1
        && outcome.error.contains("at tables.p: its rules and its parents' rules cannot be evaluated together"))
    #expect(try camp.everything() == before)
  }

  @Test("many to many through a link table: links grant and revoke, and go with what they link")
  func links() throws {
    try camp.open(
      """
      CREATE TABLE people (id TEXT PRIMARY KEY, name TEXT);
      CREATE TABLE teams (id INTEGER PRIMARY KEY, lead TEXT NOT NULL);
      CREATE TABLE members (person TEXT REFERENCES people (id), team INTEGER REFERENCES teams (id), PRIMARY KEY (person, team));
      INSERT INTO people VALUES ('p', 'Pia'), ('q', 'Quinn'), ('r', 'Rui');
      INSERT INTO teams VALUES (1, 'ann'), (2, 'ben');
      INSERT INTO members VALUES ('p', 1), ('q', 2), ('q', 1), ('r', 2);
      """,
      Self.definition(
        """
        "teams": { "visible": "lead = :user" }, "members": {},
        "people": { "visible": "EXISTS (SELECT 1 FROM members JOIN teams ON teams.id = members.team WHERE members.person = people.id AND lead = :user)" }
        """))
    let all =
      """
      SELECT id AS x FROM people UNION ALL SELECT person || team FROM members UNION ALL SELECT 't' || id FROM teams \
      ORDER BY 1
      """
    #expect(try camp.rows("tablet/data.sqlite", "SELECT group_concat(x) FROM (\(all))") == "p,p1,q,q1,t1")
    #expect(
      try after("INSERT INTO members VALUES ('r', 1); DELETE FROM members WHERE person = 'p'", bundle: 2, all)
        == "q,q1,r,r1,t1")
    #expect(try after("UPDATE teams SET lead = 'ann' WHERE id = 2", bundle: 3, all) == "q,q1,q2,r,r1,r2,t1,t2")
    #expect(try after("UPDATE teams SET lead = 'ben'", bundle: 4, all) == "NULL")
  }

  @Test("tables for all users and for none; no rule of a child shows rows that its parents hide")
  func everyoneAndNobody() throws {
    try camp.open(
      """
      CREATE TABLE codes (id INTEGER PRIMARY KEY, word TEXT); CREATE TABLE secrets (id INTEGER PRIMARY KEY);
      CREATE TABLE hints (id INTEGER PRIMARY KEY, secret INTEGER REFERENCES secrets (id), code INTEGER REFERENCES codes (id));
      INSERT INTO codes VALUES (1, 'a'); INSERT INTO secrets VALUES (1); INSERT INTO hints VALUES (1, 1, 1), (2, NULL, 1);
      """,
      Self.definition(
        #""codes": {}, "secrets": { "visible": "0" }, "hints": { "visible": "1 OR secret IS NOT NULL", "write": "1" }"#)
    )
    let all =
      "SELECT 'c' || id AS x FROM codes UNION ALL SELECT 's' || id FROM secrets UNION ALL SELECT 'h' || id FROM hints"
    #expect(try camp.rows("tablet/data.sqlite", "SELECT group_concat(x) FROM (\(all))") == "c1,h2")
    #expect(
      try after("INSERT INTO secrets VALUES (2); INSERT INTO hints VALUES (3, 2, 1), (4, NULL, NULL)", bundle: 2, all)
        == "c1,h2,h4")
    let shown = try camp.hub("scope", "show", "ann", "--json").json["tables"]
    #expect(shown?["secrets"]?["seen"]?.integerValue == 0 && shown?["secrets"]?["of"]?.integerValue == 2)
    #expect(shown?["hints"]?["seen"]?.integerValue == 2 && shown?["codes"]?["seen"]?.integerValue == 1)
    // The rule of the child would allow the change, but its parent is hidden. So the user may not change the row.
    try camp.sql("tablet/data.sqlite", "UPDATE hints SET secret = 1 WHERE id = 2")
    camp.deliver("tablet", 1)
    #expect(try camp.rows("office.sqlite", "SELECT secret FROM hints WHERE id = 2") == "NULL")
  }

  @Test("a parent that is named in another type or another case is found as SQLite finds it")
  func otherTypes() throws {
    try camp.open(
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY, tier INTEGER); CREATE TABLE b (id TEXT COLLATE NOCASE PRIMARY KEY, tier INTEGER);
      CREATE TABLE c (id INTEGER PRIMARY KEY, a TEXT REFERENCES a (id), b TEXT REFERENCES b (id));
      CREATE INDEX c_by_a ON c (a); CREATE INDEX c_by_b ON c (b);
      INSERT INTO a VALUES (1, 2); INSERT INTO b VALUES ('lake', 2); INSERT INTO c VALUES (1, '01', NULL), (2, NULL, 'Lake');
      """,
      Self.definition(#""a": { "visible": "tier <= :tier" }, "b": { "visible": "tier <= :tier" }, "c": {}"#))
    let c = "SELECT id AS x FROM c ORDER BY id"
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM c") == "0")
    #expect(try after("UPDATE a SET tier = 1", bundle: 2, c) == "1")
    #expect(try after("UPDATE b SET tier = 1", bundle: 3, c) == "1,2")
    #expect(try after("DELETE FROM a; UPDATE b SET tier = 2", bundle: 4, c) == "NULL")
  }

  @Test("a row with a NULL key, which no log contains, grants and revokes as any other")
  func nameless() throws {
    try camp.open(
      """
      CREATE TABLE duties (id TEXT PRIMARY KEY, user TEXT, site INTEGER); CREATE TABLE sites (id INTEGER PRIMARY KEY);
      INSERT INTO sites VALUES (1), (2); INSERT INTO duties VALUES ('x', 'ann', 1);
      """,
      Self.definition(
        #""duties": {}, "sites": { "visible": "id IN (SELECT site FROM duties WHERE user = :user)" }"#))
    let sites = "SELECT id AS x FROM sites ORDER BY id"
    #expect(try after("INSERT INTO duties VALUES (NULL, 'ann', 2)", bundle: 2, sites) == "1,2")
    #expect(try after("DELETE FROM duties WHERE id IS NULL", bundle: 3, sites) == "1")
  }

  @Test("what a user sees follows the user's attributes, and whose the device is")
  func basis() throws {
    try camp.open()
    let sites = "SELECT id AS x FROM sites ORDER BY id"
    camp.hub("user", "set", "ann", "tier=2")
    #expect(try after("UPDATE sites SET name = 'Sea' WHERE id = 'lake'", bundle: 2, sites) == "cave,hill,lake")
    camp.hub("user", "set", "ann", "tier=0")
    camp.answer("tablet", 3)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM sites") == "0")
  }
}
