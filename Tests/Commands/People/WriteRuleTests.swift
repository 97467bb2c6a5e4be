import Testing

/// Updates of rows whose write rule reads the updated columns.
@Suite("Writes that a user may make to a row")
struct WriteRuleTests {
  /// Makes a hub with this write rule, and a tablet with the row `n`. The status of this row is open.
  private func camp(_ rule: String) throws -> CommandLineFixture {
    let camp = try CommandLineFixture()
    try camp.sql(
      "office.sqlite",
      """
      CREATE TABLE notes (id TEXT PRIMARY KEY, status TEXT, words TEXT, open AS (status = 'open'));
      INSERT INTO notes (id, status) VALUES ('n', 'open');
      """)
    try camp.write("camp.json", #"{ "dataset": "camp", "version": 1, "tables": { "notes": { "write": "\#(rule)" } } }"#)
    camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
    camp.hub("user", "add", "ann")
    camp.hub("device", "provision", "tablet", "--user", "ann", "--into", camp.path("tablet"))
    return camp
  }

  @Test(
    "an update is held if it gives the user a row that the user may not change, also through a generated column",
    arguments: ["status = 'open'", "open", "(SELECT count(*) FROM notes WHERE status = 'open') = 1"])
  func leaves(rule: String) throws {
    let camp = try camp(rule)
    try camp.sql("tablet/data.sqlite", "UPDATE notes SET status = 'closed'")
    camp.deliver("tablet", 1)
    #expect(try camp.rows("office.sqlite", "SELECT kind, state FROM satchel_conflicts") == "forbidden|held")
    #expect(try camp.rows("office.sqlite", "SELECT status FROM notes") == "open")
  }

  @Test("an update of what no rule looks at is taken", arguments: ["status = 'open'", "open"])
  func stays(rule: String) throws {
    let camp = try camp(rule)
    try camp.sql("tablet/data.sqlite", "UPDATE notes SET words = 'new'")
    camp.deliver("tablet", 1)
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_conflicts") == "0")
    #expect(try camp.rows("office.sqlite", "SELECT words FROM notes") == "new")
  }
}
