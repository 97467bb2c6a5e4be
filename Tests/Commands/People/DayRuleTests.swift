import Foundation
import SatchelJSON
import SatchelPlatform
import TestSupport
import Testing

/// A rule gives a tablet the visits of the last 30 days. The days pass, and no program writes anything.
@Suite("Rules that read the day")
struct DayRuleTests {
  private static let day: Int64 = 86_400_000
  private static let schema = """
    CREATE TABLE visits (id TEXT PRIMARY KEY, day TEXT NOT NULL, words TEXT);
    INSERT INTO visits VALUES
      ('old', date('now', '-40 days'), 'old'), ('middle', date('now', '-20 days'), 'dry'),
      ('new', date('now', '-5 days'), 'wet');
    """
  private static let visible = #""visible": "day >= date(:today, '-30 days')""#

  private let now = SystemClock().milliseconds()

  private func open(_ rules: String = visible + #", "late": "accept""#) throws -> CommandLineFixture {
    let camp = try CommandLineFixture()
    try camp.open(Self.schema, CommandLineFixture.definition("{ \"visits\": { \(rules) } }"), devices: ["tablet"])
    return camp
  }

  /// Runs `body` while the tools' clock is so many days ahead.
  private func later(_ days: Int64, _ camp: CommandLineFixture, _ body: () throws -> Void) rethrows {
    try camp.by(SetClock(now + days * Self.day), body)
  }

  private func visits(_ camp: CommandLineFixture) throws -> String {
    try camp.rows("tablet/data.sqlite", "SELECT group_concat(id) FROM (SELECT id FROM visits ORDER BY id)")
  }

  private func newestNumber(_ camp: CommandLineFixture) throws -> String {
    try camp.rows("office.sqlite", "SELECT max(number) FROM satchel_emissions")
  }

  @Test("rows leave a device as the days pass, each bundle records its day, and a day alone makes no bundle")
  func leaves() throws {
    let camp = try open()
    #expect(try visits(camp) == "middle,new")
    try later(15, camp) { try camp.answer("tablet") }
    #expect(try visits(camp) == "new")
    let recorded = try camp.rows(
      "office.sqlite", "SELECT json_extract(attributes, '$.today') FROM satchel_emissions ORDER BY number DESC LIMIT 1")
    #expect(recorded == String(UTCTime.text(milliseconds: now + 15 * Self.day).prefix(10)))
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM visits") == "3")
    let number = try newestNumber(camp)
    later(16, camp) { _ = camp.hub("emit", "--device", "tablet") }
    #expect(try newestNumber(camp) == number)
    try later(16, camp) {
      try camp.deliver("tablet")
      #expect(camp.device("tablet", "doctor").code == 0)
      #expect(camp.hub("doctor").code == 0)
    }
  }

  @Test(
    "work on a row that has left by the day is accepted late, whoever finds first that it has left",
    arguments: [false, true])
  func late(importsFirst: Bool) throws {
    let camp = try open()
    // With this export the hub knows which rows the device has.
    try camp.deliver("tablet")
    try camp.sql("tablet/data.sqlite", "UPDATE visits SET words = 'mud' WHERE id = 'middle'")
    try later(15, camp) {
      if importsFirst { try camp.answer("tablet") }
      let imported = camp.hub("import", try camp.export("tablet"))
      #expect(imported.out.contains("although ann has lost the right"), "\(imported.out)\(imported.error)")
    }
    #expect(try camp.rows("office.sqlite", "SELECT words FROM visits WHERE id = 'middle'") == "mud")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_conflicts WHERE state = 'open'") == "0")
  }

  @Test("a bundle of another day that still shows the row does not end the right to change it")
  func anotherDay() throws {
    let camp = try open()
    try camp.deliver("tablet")
    try later(2, camp) { _ = try camp.emit("tablet", full: true) }
    try camp.sql(
      "tablet/data.sqlite",
      """
      UPDATE visits SET words = 'mud' WHERE id = 'middle';
      UPDATE satchel_writes_visits SET satchel_written = 2440587.5 + \(now + 3 * Self.day) / 86400000.0
      WHERE rowid = (SELECT max(rowid) FROM satchel_writes_visits);
      """)
    try later(15, camp) { try camp.deliver("tablet") }
    #expect(try camp.rows("office.sqlite", "SELECT words FROM visits WHERE id = 'middle'") == "mud")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_conflicts WHERE state = 'open'") == "0")
  }

  @Test("without \"late\": \"accept\" that work is a conflict, and init says so before")
  func conflict() throws {
    let camp = try open(Self.visible)
    try camp.deliver("tablet")
    try camp.sql("tablet/data.sqlite", "UPDATE visits SET words = 'mud' WHERE id = 'middle'")
    try later(15, camp) { try camp.deliver("tablet") }
    #expect(try camp.rows("office.sqlite", "SELECT words FROM visits WHERE id = 'middle'") == "dry")
    #expect(try camp.rows("office.sqlite", "SELECT kind, state FROM satchel_conflicts") == "revoked|open")
    let definition = camp.path("camp.json")
    try camp.sql("other.sqlite", Self.schema)
    let checked = camp.hubAnywhere(
      "init", camp.path("other"), "--dataset", definition, "--database", camp.path("other.sqlite"), "--json")
    let reasons = try checked.json["warnings"]?.arrayValue?.compactMap { $0["reason"]?.stringValue }
    #expect(reasons == ["rows-leave"], "\(checked.out)")
  }

  @Test("after a long time away very many rows leave at once, with the rows below them, and no person is asked")
  func brake() throws {
    let camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE visits (id INTEGER PRIMARY KEY, day TEXT NOT NULL);
      CREATE TABLE notes (id INTEGER PRIMARY KEY, visit INTEGER NOT NULL REFERENCES visits (id));
      WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 60)
      INSERT INTO visits SELECT i, date('now', CASE WHEN i <= 40 THEN '-20 days' ELSE '-5 days' END) FROM n;
      INSERT INTO notes SELECT id, id FROM visits;
      """,
      CommandLineFixture.definition("{ \"visits\": { \(Self.visible), \"late\": \"accept\" }, \"notes\": {} }"),
      devices: ["tablet"])
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM notes") == "60")
    try later(15, camp) { try camp.answer("tablet") }
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM visits") == "20")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM notes") == "20")
  }

  @Test("an attribute that the dataset calls today is no day: a user without a value sees nothing")
  func attribute() throws {
    let camp = try CommandLineFixture()
    try camp.open(
      "CREATE TABLE visits (id TEXT PRIMARY KEY, day TEXT NOT NULL); INSERT INTO visits VALUES ('v', date('now'))",
      """
      { "dataset": "camp", "version": 1, "attributes": { "today": "text" },
        "tables": { "visits": { "visible": "day >= date(:today, '-30 days')" } } }
      """, devices: ["tablet"])
    try camp.sql("other.sqlite", "CREATE TABLE visits (id TEXT PRIMARY KEY, day TEXT NOT NULL)")
    let checked = camp.hubAnywhere(
      "init", camp.path("other"), "--dataset", camp.path("camp.json"), "--database", camp.path("other.sqlite"),
      "--json")
    #expect(try checked.json["warnings"]?.arrayValue?.isEmpty == true, "\(checked.out)")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM visits") == "0")
    let set = camp.hub("user", "set", "ann", "today=2020-01-31")
    #expect(set.code == 0, "\(set.error)")
    try camp.answer("tablet")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM visits") == "1")
  }
}
