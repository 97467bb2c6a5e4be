import SatchelCommands
import SatchelJSON
import SatchelPlatform
import TestSupport
import Testing

/// Scenarios for every tool that keeps copies of objects in step. Objects have ids that their makers assign, a natural
/// key, and a mark for deletion.
@Suite("Nine scenarios of keeping in step")
struct SyncScenarioTests {
  let camp: CommandLineFixture

  private static let definition = """
    { "dataset": "camp", "version": 1,
      "tables": { "things": { "conflict": "newest", "delete": "soft", "deleted": "gone", "columns": { "uses": "sum" } } } }
    """

  init() throws {
    camp = try CommandLineFixture()
    try camp.sql(
      "office.sqlite",
      """
      CREATE TABLE things (id TEXT PRIMARY KEY, name TEXT UNIQUE, uses INTEGER NOT NULL DEFAULT 0, gone INTEGER NOT NULL DEFAULT 0);
      INSERT INTO things (id, name) VALUES ('t1', 'axe'), ('t2', 'rope');
      """)
    try camp.write("camp.json", Self.definition)
    camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
    camp.hub("user", "add", "ann")
    for name in ["tablet", "phone"] {
      #expect(camp.hub("device", "provision", name, "--user", "ann", "--into", camp.path(name)).code == 0)
    }
  }

  private func things(_ database: String) throws -> String {
    try camp.rows(database, "SELECT id, name, uses, gone FROM things ORDER BY id")
  }

  /// The device delivers its changes to the hub, and imports the hub's changes.
  private func cycle(_ name: String) {
    let exported = camp.device(name, "export", "--json")
    if let file = try? exported.json["file"]?.stringValue { camp.hub("import", file) }
    let emitted = camp.hub("emit", "--device", name, "--json")
    if let file = try? emitted.json["emissions"]?.arrayValue?.first?["file"]?.stringValue {
      camp.device(name, "import", file)
    }
  }

  @Test("hub to device")
  func hubToDevice() throws {
    try camp.sql(
      "office.sqlite",
      "INSERT INTO things (id, name) VALUES ('t3', 'saw'); UPDATE things SET name = 'ax' WHERE id = 't1'")
    cycle("tablet")
    #expect(try things("tablet/data.sqlite") == "t1|ax|0|0\nt2|rope|0|0\nt3|saw|0|0")
  }

  @Test("device to hub")
  func deviceToHub() throws {
    try camp.sql(
      "tablet/data.sqlite",
      "INSERT INTO things (id, name) VALUES ('t3', 'saw'); UPDATE things SET name = 'ax' WHERE id = 't1'")
    cycle("tablet")
    #expect(try things("office.sqlite") == "t1|ax|0|0\nt2|rope|0|0\nt3|saw|0|0")
  }

  @Test("device to device")
  func deviceToDevice() throws {
    try camp.sql("tablet/data.sqlite", "INSERT INTO things (id, name) VALUES ('t3', 'saw')")
    cycle("tablet")
    cycle("phone")
    #expect(try things("phone/data.sqlite") == things("tablet/data.sqlite"))
  }

  @Test("no unneeded syncing")
  func nothingUnneeded() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE things SET name = 'ax' WHERE id = 't1'")
    cycle("tablet")
    cycle("tablet")
    #expect(try camp.device("tablet", "export", "--json").json["new"]?.boolValue == false)
    #expect(
      try camp.hub("emit", "--device", "tablet", "--json").json["emissions"]?.arrayValue?.first?["new"]?.boolValue
        == false)
  }

  @Test("soft deletes")
  func softDeletes() throws {
    try camp.sql("tablet/data.sqlite", "DELETE FROM things WHERE id = 't1'; UPDATE things SET gone = 1 WHERE id = 't2'")
    cycle("tablet")
    #expect(try things("office.sqlite") == "t1|axe|0|1\nt2|rope|0|1")
    cycle("phone")
    #expect(try things("phone/data.sqlite") == "t1|axe|0|1\nt2|rope|0|1")
    #expect(try things("tablet/data.sqlite") == "t1|axe|0|1\nt2|rope|0|1")
    // The phone changes the row without knowing that it is marked as deleted. The mark stays.
    try camp.sql("phone/data.sqlite", "UPDATE things SET uses = 5 WHERE id = 't1'")
    cycle("phone")
    #expect(try things("office.sqlite").hasPrefix("t1|axe|5|1"))
  }

  @Test("update conflict")
  func updateConflict() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE things SET name = 'ax', uses = uses + 2 WHERE id = 't1'")
    camp.awaitLaterTime()
    try camp.sql("phone/data.sqlite", "UPDATE things SET name = 'hatchet', uses = uses + 3 WHERE id = 't1'")
    for name in ["tablet", "phone", "tablet"] { cycle(name) }
    // The row has the later name, and the sum of both counts.
    #expect(try things("office.sqlite").hasPrefix("t1|hatchet|5|0"))
    for name in ["tablet", "phone"] { #expect(try things("\(name)/data.sqlite") == things("office.sqlite")) }
    #expect(camp.hub("conflicts", "--all").out.contains("update/update"))
  }

  @Test("key conflict with the hub")
  func keyConflictWithHub() throws {
    try camp.sql("tablet/data.sqlite", "INSERT INTO things (id, name, uses) VALUES ('mine', 'saw', 1)")
    try camp.sql("office.sqlite", "INSERT INTO things (id, name, uses) VALUES ('theirs', 'saw', 2)")
    for _ in 0..<2 { cycle("tablet") }
    #expect(try things("office.sqlite").contains("theirs|saw|2|0"))
    #expect(try things("tablet/data.sqlite") == things("office.sqlite"))
    #expect(camp.hub("conflicts", "--all").out.contains("unique"))
  }

  @Test("key conflict between two devices over two full cycles")
  func keyConflictBetweenDevices() throws {
    try camp.sql("tablet/data.sqlite", "INSERT INTO things (id, name, uses) VALUES ('a', 'saw', 1)")
    try camp.sql("phone/data.sqlite", "INSERT INTO things (id, name, uses) VALUES ('b', 'saw', 2)")
    for _ in 0..<2 { for name in ["tablet", "phone"] { cycle(name) } }
    let expected = "a|saw|1|0\nt1|axe|0|0\nt2|rope|0|0"
    for database in ["office.sqlite", "tablet/data.sqlite", "phone/data.sqlite"] {
      #expect(try things(database) == expected)
    }
    // The conflict keeps the other device's row.
    let conflicts = try camp.hub("conflicts", "list", "--all", "--json").json["conflicts"]?.arrayValue
    #expect(conflicts?.contains { $0["device_values"]?["id"]?.stringValue == "b" } == true)
  }

  @Test("full sync with local objects not yet sent")
  func fullSync() throws {
    try camp.sql(
      "tablet/data.sqlite",
      "INSERT INTO things (id, name) VALUES ('new', 'saw'); UPDATE things SET uses = 1 WHERE id = 't1'")
    try camp.sql("office.sqlite", "UPDATE things SET uses = 5 WHERE id = 't1'")
    camp.hub("emit", "--device", "tablet", "--full")
    camp.device("tablet", "import", camp.path("hub/bundles/outbox/camp-hub-tablet-2.satchel"))
    #expect(try things("tablet/data.sqlite") == "new|saw|0|0\nt1|axe|6|0\nt2|rope|0|0")
    cycle("tablet")
    #expect(try things("office.sqlite") == things("tablet/data.sqlite"))
  }
}
