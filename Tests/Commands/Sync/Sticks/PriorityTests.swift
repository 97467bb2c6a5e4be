import Foundation
import SatchelJSON
import SatchelPlatform
import Testing

/// A camp has only a satellite link. Sites and their notes are urgent. Pictures and old logs are not.
@Suite("New rows of less urgent tables stay behind if a bundle must be small")
struct PriorityTests {
  private let camp: CommandLineFixture

  private static let schema = """
    CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT);
    CREATE TABLE pictures (id TEXT PRIMARY KEY, site TEXT REFERENCES sites (id), bytes BLOB);
    CREATE TABLE kinds (id TEXT PRIMARY KEY, words BLOB);
    CREATE TABLE notes (id TEXT PRIMARY KEY, kind TEXT REFERENCES kinds (id), words TEXT);
    INSERT INTO sites VALUES ('lake', 'Lake');
    """
  private static let tables = """
    { "sites": { "priority": 9 }, "pictures": { "priority": 5 }, "kinds": { "priority": 9 }, "notes": {} }
    """

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(Self.schema, CommandLineFixture.definition(Self.tables), devices: ["tablet"])
    // With this export the hub knows which rows the tablet has.
    try camp.deliver("tablet")
  }

  /// Inserts pictures of 50,000 bytes. Compression cannot make them smaller.
  private func addPictures(_ names: String...) throws {
    for name in names {
      try camp.sql("office.sqlite", "INSERT INTO pictures VALUES ('\(name)', 'lake', randomblob(50000))")
    }
  }

  private func emit(_ words: String...) throws -> JSONValue {
    let outcome = camp.hubAnywhere(["-C", camp.path("hub"), "emit", "--device", "tablet", "--json"] + words)
    #expect(outcome.code == 0, "\(outcome.out)")
    return try #require(try outcome.json["emissions"]?.arrayValue?.first)
  }

  private func take(_ emission: JSONValue) throws {
    let outcome = camp.device("tablet", "import", try #require(emission["file"]?.stringValue))
    #expect(outcome.code == 0, "\(outcome.error)")
  }

  private func count(_ table: String) throws -> String {
    try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM \(table)")
  }

  private func rowsLeft() throws -> Int64? {
    try camp.hub("status", "--json").json["devices"]?.arrayValue?.first?["rows_left"]?.integerValue
  }

  @Test("the urgent rows come at once, the others with the next bundle that has room, and status says how many wait")
  func later() throws {
    try addPictures("p1", "p2")
    try camp.sql("office.sqlite", "INSERT INTO notes VALUES ('n1', NULL, 'storm')")
    let small = try emit("--size", "20K")
    #expect(small["rows"] == 1 && small["rows_left"] == 2, "\(small)")
    #expect(try HostFileSystem().size(try #require(small["file"]?.stringValue)) <= 20 << 10)
    #expect(try rowsLeft() == 2)
    let status = camp.hub("status").out
    #expect(status.contains("2 rows for tablet, until a bundle is made without --size"), "\(status)")
    try take(small)
    #expect(try count("notes") == "1")
    #expect(try count("pictures") == "0")
    // Nothing else is new. So the hub makes no new bundle.
    let again = try emit("--size", "20K")
    #expect(again["new"] == false && again["number"] == small["number"], "\(again)")
    let whole = try emit()
    #expect(whole["new"] == true && whole["rows_left"] == 0, "\(whole)")
    try take(whole)
    #expect(try count("pictures") == "2")
    #expect(try rowsLeft() == 0)
    #expect(camp.device("tablet", "export", "--prove").code == 0)
    try camp.deliver("tablet")
    #expect(camp.hub("compare", "tablet").out == "The hub knows no row of tablet that differs.\n")
    #expect(camp.hub("doctor").code == 0)
    #expect(camp.device("tablet", "doctor").code == 0)
  }

  @Test("the tablet works with what it has: its work comes in, and rows that stayed behind come afterwards")
  func between() throws {
    try addPictures("p1")
    try camp.sql("office.sqlite", "INSERT INTO notes VALUES ('n1', NULL, 'storm')")
    try take(emit("--size", "20K"))
    try camp.sql("tablet/data.sqlite", "UPDATE notes SET words = 'calm' WHERE id = 'n1'")
    #expect(camp.device("tablet", "export", "--prove").code == 0)
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT words FROM notes") == "calm")
    #expect(camp.hub("compare", "tablet").out == "The hub knows no row of tablet that differs.\n")
    try take(emit())
    #expect(try count("pictures") == "1")
  }

  @Test("a parent is as urgent as its children, so no row comes without its parent")
  func parents() throws {
    try camp.sql("office.sqlite", "INSERT INTO kinds VALUES ('k', randomblob(50000))")
    try camp.sql("office.sqlite", "INSERT INTO notes VALUES ('n1', 'k', 'storm')")
    let outcome = camp.hub("emit", "--device", "tablet", "--size", "20K", "--json")
    // The visible row needs its parent, so the bundle cannot leave the parent out. The rows alone are too large.
    #expect(try outcome.code == 1 && outcome.json["error"]?["reason"] == "too-large", "\(outcome.out)")
    let made = try #require(try outcome.json["emissions"]?.arrayValue?.first)
    #expect(made["rows"] == 2 && made["rows_left"] == 0, "\(made)")
    try take(made)
    #expect(try camp.rows("tablet/data.sqlite", "PRAGMA foreign_key_check") == "")
  }

  @Test("a changed row takes its new parent along, although both tables could wait")
  func changedChild() throws {
    try addPictures("p1")
    try take(emit())
    try camp.deliver("tablet")
    try camp.sql(
      "office.sqlite",
      """
      INSERT INTO sites VALUES ('hill', hex(randomblob(20000)));
      UPDATE pictures SET bytes = NULL, site = 'hill' WHERE id = 'p1';
      """)
    try addPictures("p2")
    let made = try emit("--size", "60K")
    #expect(made["rows"] == 2 && made["rows_left"] == 1, "\(made)")
    try take(made)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT site FROM pictures") == "hill")
    #expect(try camp.rows("tablet/data.sqlite", "PRAGMA foreign_key_check") == "")
  }

  @Test("a full bundle has all rows, because the device would lose those that it lacks")
  func fullBundle() throws {
    try addPictures("p1")
    let outcome = camp.hub("emit", "--device", "tablet", "--full", "--size", "20K", "--json")
    let made = try #require(try outcome.json["emissions"]?.arrayValue?.first)
    #expect(made["rows_left"] == 0 && made["rows"] == 2, "\(made)")
  }

  @Test("without a size, and without priorities, nothing stays behind")
  func all() throws {
    try addPictures("p1")
    #expect(try emit()["rows_left"] == 0)
    let plain = try CommandLineFixture()
    try plain.open(
      Self.schema, CommandLineFixture.definition(#"{ "sites": {}, "pictures": {}, "kinds": {}, "notes": {} }"#),
      devices: ["tablet"])
    try plain.sql("office.sqlite", "INSERT INTO pictures VALUES ('p1', 'lake', randomblob(50000))")
    let outcome = plain.hub("emit", "--device", "tablet", "--size", "20K", "--json")
    #expect(try outcome.json["error"]?["reason"] == "too-large", "\(outcome.out)")
    #expect(try outcome.json["emissions"]?.arrayValue?.first?["rows"] == 1)
  }

  @Test("a priority is a number from 1 to 9", arguments: ["0", "10", "\"high\"", "1.5"])
  func wrong(priority: String) throws {
    try camp.write("wrong.json", CommandLineFixture.definition("{ \"notes\": { \"priority\": \(priority) } }"))
    try camp.sql("wrong.sqlite", "CREATE TABLE notes (id TEXT PRIMARY KEY)")
    let outcome = camp.hubAnywhere("dataset", "check", camp.path("wrong.json"), camp.path("wrong.sqlite"))
    #expect(outcome.code != 0 && outcome.error.contains("tables.notes.priority"), "\(outcome.error)")
  }
}
