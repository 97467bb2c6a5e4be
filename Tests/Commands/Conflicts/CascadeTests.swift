import SatchelJSON
import TestSupport
import Testing

@Suite("Rows that a refused delete removed by ON DELETE CASCADE come back with their row")
struct CascadeTests {
  private static let schema = """
    CREATE TABLE homes (id TEXT PRIMARY KEY COLLATE NOCASE, name TEXT);
    CREATE TABLE people (id TEXT PRIMARY KEY, home TEXT REFERENCES homes (id) ON DELETE CASCADE, name TEXT UNIQUE);
    CREATE TABLE visits (id TEXT PRIMARY KEY, person TEXT REFERENCES people (id) ON DELETE CASCADE, words TEXT);
    INSERT INTO homes VALUES ('h', 'Home'), ('g', 'Other');
    INSERT INTO people VALUES ('p', 'h', 'Pia'), ('q', 'H', 'Quy'), ('r', 'g', 'Rob');
    INSERT INTO visits VALUES ('v', 'p', 'first'), ('w', 'q', 'second'), ('x', 'r', 'third');
    """
  private static let counts = """
    SELECT (SELECT count(*) FROM homes), (SELECT count(*) FROM people), (SELECT count(*) FROM visits)
    """

  private func open(_ homes: String = "", people: String = "") throws -> CommandLineFixture {
    let camp = try CommandLineFixture()
    try camp.open(
      Self.schema,
      CommandLineFixture.definition(#"{ "visits": {}, "people": { \#(people) }, "homes": { \#(homes) } }"#),
      devices: ["tablet", "phone"])
    return camp
  }

  private func delete(_ camp: CommandLineFixture, _ sql: String = "DELETE FROM homes WHERE id = 'h'") throws {
    try camp.sql("tablet/data.sqlite", "PRAGMA foreign_keys = ON; \(sql)")
  }

  private func conflicts(_ camp: CommandLineFixture) throws -> String {
    try camp.rows("office.sqlite", "SELECT table_name, kind, state, note FROM satchel_conflicts ORDER BY table_name")
  }

  /// Expects these counts of rows at the hub and on the device. Exchanges bundles and expects the same counts again.
  private func expectWhole(_ camp: CommandLineFixture, _ words: String) throws {
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(try camp.rows(database, Self.counts) == words)
      #expect(try camp.rows(database, "SELECT count(*) FROM pragma_foreign_key_check") == "0")
    }
  }

  @Test(
    "a delete that wins over an update, and that a new child undoes, is an open conflict in either order",
    arguments: ["newest", "device"], [false, true])
  func undoneAfterWinning(policy: String, importedFirst: Bool) throws {
    let camp = try open(#""conflict": "\#(policy)""#)
    try camp.sql("office.sqlite", "INSERT INTO homes VALUES ('k', 'Empty')")
    try camp.answer("tablet")
    try camp.sql(
      "office.sqlite", "UPDATE homes SET name = 'New' WHERE id = 'k'; INSERT INTO people VALUES ('s', 'k', 'Sam')")
    camp.awaitLaterTime()
    try delete(camp, "DELETE FROM homes WHERE id = 'k'")
    if importedFirst { try camp.answer("tablet") }
    try camp.deliver("tablet")
    try camp.answer("tablet")
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT name FROM homes WHERE id = 'k'") == "New", "\(database)")
      let conflicts = try camp.rows(database, "SELECT kind, state, winner FROM satchel_conflicts")
      #expect(conflicts == "foreign key|open|hub", "\(database)")
    }
  }

  @Test("a row that is never deleted: it comes back with its children and theirs, in one bundle")
  func never() throws {
    let camp = try open(#""delete": "never""#)
    try delete(camp)
    #expect(try camp.rows("tablet/data.sqlite", Self.counts) == "1|1|1")
    try camp.deliver("tablet")
    try camp.answer("tablet")
    try expectWhole(camp, "2|3|3")
    #expect(
      try conflicts(camp)
        == "homes|forbidden|held|Rows of this table are not deleted. The device deleted other rows with this row. The hub keeps those rows too: 2 of people, 2 of visits."
    )
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_log") == "0")
    try camp.round(["tablet", "phone"])
    try expectWhole(camp, "2|3|3")
  }

  @Test(
    "a row of others below, added or changed, keeps all of the family",
    arguments: [
      "INSERT INTO visits VALUES ('y', 'p', 'office')", "UPDATE visits SET words = 'office' WHERE id = 'v'",
      "UPDATE homes SET name = 'office' WHERE id = 'h'",
    ], [true, false])
  func others(_ office: String, importsFirst: Bool) throws {
    let camp = try open()
    try delete(camp)
    try camp.sql("office.sqlite", office)
    if importsFirst { try camp.answer("tablet") }
    try camp.deliver("tablet")
    try camp.answer("tablet")
    try expectWhole(camp, office.hasPrefix("INSERT") ? "2|3|4" : "2|3|3")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) > 0 FROM satchel_conflicts") == "1")
    try camp.round(["tablet", "phone"])
    try expectWhole(camp, office.hasPrefix("INSERT") ? "2|3|4" : "2|3|3")
  }

  /// The homes that exist but lack their first person or the first visit to this person. The test expects none.
  private static let torn = """
    WITH first (home, person, visit) AS (VALUES ('h', 'p', 'v'), ('h', 'q', 'w'), ('g', 'r', 'x'))
    SELECT home, person, visit FROM first
    WHERE home IN (SELECT id FROM homes)
      AND (person NOT IN (SELECT id FROM people) OR visit NOT IN (SELECT id FROM visits))
    """

  @Test(
    "a home that is there in the end has all its people and visits, whoever changed what while it was deleted",
    arguments: ["manual", "device", "hub", "newest"], historySeeds(usually: 4, share: 20))
  func random(policy: String, seed: UInt64) throws {
    var random = SplitMix64(seed: seed &* 7_907 &+ UInt64(policy.utf8.count))
    let rule = #""conflict": "\#(policy)""#
    let camp = try open(rule, people: rule)
    var story: [String] = []
    func write(_ place: String, _ sql: String) throws {
      story.append("\(place): \(sql)")
      try camp.sql(place, "PRAGMA foreign_keys = ON; \(sql)")
    }
    for step in 0..<5 {
      let home = ["h", "g"][random.below(2)]
      if random.once(in: 2) { try write("tablet/data.sqlite", "DELETE FROM homes WHERE id = '\(home)'") }
      let other = [
        "UPDATE homes SET name = 'o\(step)' WHERE id = '\(home)'",
        "UPDATE people SET name = 'o\(step)' WHERE id = '\(["p", "q", "r"][random.below(3)])'",
        "UPDATE visits SET words = 'o\(step)' WHERE id = '\(["v", "w", "x"][random.below(3)])'",
        "INSERT INTO visits SELECT 'n\(step)', id, 'new' FROM people WHERE home = '\(home)' LIMIT 1",
      ]
      if random.once(in: 2) { try write("office.sqlite", other[random.below(other.count)]) }
      if random.once(in: 2) { try camp.deliver("tablet") }
      if random.once(in: 2) { try camp.answer("tablet", full: random.once(in: 4)) }
    }
    for _ in 0..<4 {
      try camp.deliver("tablet")
      try camp.answer("tablet")
    }
    let words = "\(policy), SATCHEL_SEED=\(seed)\n" + story.joined(separator: "\n")
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(try camp.rows(database, Self.torn).isEmpty, "\(database), \(words)")
      #expect(try camp.rows(database, "SELECT count(*) FROM pragma_foreign_key_check") == "0", "\(words)")
    }
    for table in ["homes", "people", "visits"] {
      let rows = "SELECT * FROM \(table) ORDER BY id"
      #expect(try camp.rows("office.sqlite", rows) == camp.rows("tablet/data.sqlite", rows), "\(words)")
    }
  }

  @Test("a delete that is taken takes all of it, and another home's is not touched by a refused one")
  func taken() throws {
    let camp = try open()
    try delete(camp, "DELETE FROM homes")
    try camp.sql("office.sqlite", "INSERT INTO visits VALUES ('y', 'r', 'office')")
    try camp.deliver("tablet")
    try camp.answer("tablet")
    try expectWhole(camp, "1|1|2")
    #expect(try conflicts(camp).hasPrefix("homes|foreign key|open|"))
  }

  @Test("a child that the office moved to another home is decided by itself, and the delete of its home goes on")
  func moved() throws {
    let camp = try open(people: #""conflict": "hub""#)
    try delete(camp, "DELETE FROM homes WHERE id = 'g'")
    try camp.sql("office.sqlite", "UPDATE people SET home = 'h' WHERE id = 'r'")
    try camp.deliver("tablet")
    try camp.answer("tablet")
    try expectWhole(camp, "1|3|3")
    #expect(
      try camp.rows("office.sqlite", "SELECT table_name, kind FROM satchel_conflicts ORDER BY table_name")
        == "people|delete/update")
  }

  @Test("a home that is only marked as deleted loses what the device deleted below it")
  func soft() throws {
    let camp = try open(#""delete": "soft", "deleted": "name""#)
    try delete(camp)
    try camp.deliver("tablet")
    try camp.answer("tablet")
    try expectWhole(camp, "2|1|1")
  }

  @Test(
    "a home that left its worker's sight: its rows are one conflict, which is decided as one",
    arguments: ["hub", "device"], [true, false])
  func hidden(side: String, importsFirst: Bool) throws {
    let camp = try open(#""visible": "name <> 'Hidden'""#)
    try delete(camp)
    try camp.sql("office.sqlite", "UPDATE homes SET name = 'Hidden' WHERE id = 'h'")
    if importsFirst { try camp.answer("tablet") }
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", Self.counts) == "2|3|3")
    #expect(
      try camp.rows(
        "office.sqlite",
        "SELECT count(*), count(DISTINCT unit), min(kind), max(kind), min(state) FROM satchel_conflicts")
        == "5|1|revoked|revoked|open")
    #expect(
      try camp.rows("office.sqlite", "SELECT table_name, note FROM satchel_conflicts WHERE id = unit")
        == "homes|The device deleted other rows with this row: 2 of people, 2 of visits. All are decided together.")
    #expect(try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.count == 1)
    // The home was already deleted at the hub, so the device gets no conflict about its own delete.
    try camp.answer("tablet")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM satchel_conflicts") == "0")
    let id = try camp.rows("office.sqlite", "SELECT id FROM satchel_conflicts WHERE table_name = 'homes'")
    let decided = camp.hub("conflicts", "resolve", id, "--keep", side)
    #expect(decided.code == 0, "\(decided.error)")
    #expect(try camp.rows("office.sqlite", Self.counts) == (side == "hub" ? "2|3|3" : "1|1|1"))
    #expect(camp.hub("conflicts").out == "No conflict waits for a decision.\n")
    try camp.round(["tablet", "phone"])
    #expect(try camp.rows("tablet/data.sqlite", Self.counts) == "1|1|1")
    #expect(try camp.rows("phone/data.sqlite", Self.counts) == "1|1|1")
  }

  @Test("rows that cannot move to another home bring the home back that their device deleted behind them")
  func movedBack() throws {
    let camp = try open()
    try delete(camp, "UPDATE people SET home = 'g' WHERE id IN ('p', 'q'); DELETE FROM homes WHERE id = 'h'")
    try camp.sql(
      "office.sqlite",
      "DELETE FROM visits WHERE id = 'x'; DELETE FROM people WHERE id = 'r'; DELETE FROM homes WHERE id = 'g'")
    try camp.answer("tablet")
    #expect(try camp.rows("tablet/data.sqlite", Self.counts) == "1|2|2")
    try camp.deliver("tablet")
    try camp.answer("tablet")
    try expectWhole(camp, "1|2|2")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT home FROM people ORDER BY id") == "h\nH")
  }

  @Test("what was deleted before, and what takes a deleted row's place, is taken as ever")
  func beside() throws {
    let camp = try open(#""delete": "never""#)
    try delete(camp, "DELETE FROM visits WHERE id = 'v'")
    _ = try camp.export("tablet")
    try delete(camp)
    try camp.deliver("tablet")
    try camp.answer("tablet")
    // The device deleted the visit in an export of its own, before it deleted the home.
    try expectWhole(camp, "2|3|2")
    try delete(camp, "DELETE FROM people WHERE id = 'r'; INSERT INTO people VALUES ('s', 'g', 'Rob')")
    try camp.deliver("tablet")
    try camp.answer("tablet")
    try expectWhole(camp, "2|3|1")
    #expect(try camp.rows("office.sqlite", "SELECT name FROM people WHERE id = 's'") == "Rob")
  }
}
