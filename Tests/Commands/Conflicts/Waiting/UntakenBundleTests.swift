import Foundation
import SatchelJSON
import Testing

/// One import fails because the database refuses its writes. Other imports succeed.
@Suite("A failed import is in status until it is done")
struct UntakenBundleTests {
  private let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture() }

  private func open(devices: [String]) throws {
    try camp.open(
      """
      CREATE TABLE a (id TEXT PRIMARY KEY, x); CREATE TABLE b (id TEXT PRIMARY KEY, x); INSERT INTO a VALUES ('1', \
      0); INSERT INTO b VALUES ('1', 0)
      """,
      CommandLineFixture.definition(#"{ "a": {}, "b": {} }"#), devices: devices)
  }

  /// Gives table a a full-text index of the app that makes every write of an import fail.
  private func block(_ database: String) throws {
    try camp.sql(
      database,
      """
      CREATE VIRTUAL TABLE found USING fts5 (words);
      CREATE TRIGGER blocks AFTER UPDATE ON a BEGIN UPDATE found SET words = NEW.x WHERE rowid = missing(); END
      """)
  }

  private func failed(_ outcome: CommandLineFixture.Outcome) throws -> [JSONValue] {
    try #require(try outcome.json["failed_imports"]?.arrayValue)
  }

  /// Makes a hub that fails to import a bundle from the device p. Returns the bundle's path.
  private func failAtHub() throws -> String {
    try open(devices: ["p", "r"])
    try camp.sql("p/data.sqlite", "UPDATE a SET x = 1")
    let file = try camp.export("p")
    try block("office.sqlite")
    #expect(camp.hub("import", file).code == 1)
    return file
  }

  @Test("at the hub, when another device's bundle is taken, and until the bundle itself is")
  func otherSender() throws {
    let file = try failAtHub()
    try camp.sql("r/data.sqlite", "UPDATE b SET x = 1")
    try camp.deliver("r")
    #expect(camp.hub("status").out.contains("Failed"))
    let entry = try #require(try failed(camp.hub("status", "--json")).first)
    #expect(
      entry["from"] == "p" && entry["number"] == 1 && entry["file"]?.stringValue == (file as NSString).lastPathComponent
    )
    #expect(try camp.hub("status", "--json").json["failed_import"]?.stringValue?.contains("blocks") == true)
    try camp.sql("office.sqlite", "DROP TRIGGER blocks")
    #expect(camp.hub("import", file).code == 0)
    #expect(!camp.hub("status").out.contains("Failed"))
    #expect(try failed(camp.hub("status", "--json")).isEmpty)
  }

  @Test("until a newer bundle of the same device is taken, which holds what failed")
  func newer() throws {
    _ = try failAtHub()
    try camp.sql("office.sqlite", "DROP TRIGGER blocks")
    try camp.sql("p/data.sqlite", "UPDATE b SET x = 2")
    try camp.deliver("p")
    #expect(!camp.hub("status").out.contains("Failed"))
    #expect(try camp.rows("office.sqlite", "SELECT x FROM a") == "1")
  }

  @Test("one of each device, and none of a device that is revoked")
  func severalSenders() throws {
    let first = try failAtHub()
    try camp.sql("r/data.sqlite", "UPDATE a SET x = 3")
    #expect(camp.hub("import", try camp.export("r")).code == 1)
    #expect(camp.hub("import", first).code == 1)
    #expect(try failed(camp.hub("status", "--json")).map { $0["from"] } == ["p", "r"])
    #expect(camp.hub("device", "revoke", "p").code == 0)
    #expect(try failed(camp.hub("status", "--json")).map { $0["from"] } == ["r"])
  }

  @Test("on a device, when an older bundle comes once more")
  func olderBundle() throws {
    try open(devices: ["p"])
    try camp.sql("office.sqlite", "UPDATE b SET x = 1")
    let old = camp.path("old.satchel")
    try FileManager.default.copyItem(atPath: camp.emit("p"), toPath: old)
    #expect(camp.device("p", "import", old).code == 0)
    try camp.sql("office.sqlite", "UPDATE a SET x = 1")
    let new = try camp.emit("p")
    try block("p/data.sqlite")
    #expect(camp.device("p", "import", new).code == 1)
    #expect(camp.device("p", "import", old).code == 0, "it is known, and changes nothing")
    #expect(camp.device("p", "status").out.contains("Failed"))
    try camp.sql("p/data.sqlite", "DROP TRIGGER blocks")
    #expect(camp.device("p", "import", new).code == 0)
    #expect(!camp.device("p", "status").out.contains("Failed"))
  }

  /// Gives a table an index with a function that is missing in all programs of the test.
  private func addUnknownFunction(to database: String) throws {
    try camp.sql(
      database,
      """
      CREATE INDEX own ON a (x) WHERE abs(x); PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, 'abs(x)', 'theirs(x)') WHERE name = 'own'
      """)
  }

  @Test("by an error of SQLite that is about the database and not about a row, on both sides")
  func errorOfSQLite() throws {
    try open(devices: ["p"])
    try camp.sql("p/data.sqlite", "UPDATE a SET x = 1")
    let up = try camp.export("p")
    try addUnknownFunction(to: "office.sqlite")
    #expect(camp.hub("import", up).code == 1)
    let atHub = try camp.hub("status", "--json").json["failed_import"]?.stringValue
    #expect(atHub?.contains((up as NSString).lastPathComponent) == true && atHub?.contains("theirs") == true)
    try camp.sql("office.sqlite", "DROP INDEX own")
    #expect(camp.hub("import", up).code == 0)
    #expect(!camp.hub("status").out.contains("Failed"))

    try camp.sql("office.sqlite", "UPDATE a SET x = 2")
    let down = try camp.emit("p")
    try addUnknownFunction(to: "p/data.sqlite")
    #expect(camp.device("p", "import", down).code == 1)
    let atDevice = try camp.device("p", "status", "--json").json["failed_import"]?.stringValue
    #expect(atDevice?.contains((down as NSString).lastPathComponent) == true && atDevice?.contains("theirs") == true)
    try camp.sql("p/data.sqlite", "DROP INDEX own")
    #expect(camp.device("p", "import", down).code == 0)
    #expect(!camp.device("p", "status").out.contains("Failed"))
  }

  @Test("as an earlier version of Satchel wrote it down, until a bundle is taken")
  func earlierForm() throws {
    try open(devices: ["p"])
    let old = try camp.emit("p")
    #expect(camp.device("p", "import", old).code == 0)
    try camp.write(
      "p/bundles/failed-import.json", #"{ "file": "old.satchel", "message": "It failed.", "hint": null, "at": 1 }"#)
    #expect(camp.device("p", "import", old).code == 0)
    #expect(camp.device("p", "status").out.contains("old.satchel: It failed."))
    try camp.sql("office.sqlite", "UPDATE a SET x = 1")
    try camp.answer("p")
    #expect(!camp.device("p", "status").out.contains("Failed"))
  }

  @Test("but no bundle for another workspace, and none whose sender a person must confirm first")
  func foreign() throws {
    try open(devices: ["p", "r"])
    try camp.sql("office.sqlite", "UPDATE a SET x = 1")
    camp.device("r", "import", try camp.emit("p"))
    camp.hub("import", try camp.emit("r"))
    #expect(try failed(camp.device("r", "status", "--json")).isEmpty)
    #expect(try failed(camp.hub("status", "--json")).isEmpty)
  }
}
