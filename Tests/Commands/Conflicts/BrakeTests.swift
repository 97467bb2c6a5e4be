import Foundation
import SatchelJSON
import Testing

/// A bundle that deletes or changes very many rows waits for a person. Whatever the person decides, no change is lost.
@Suite("The brake: a bundle that deletes or changes very many rows waits for a person")
struct BrakeTests {
  private static let schema = """
    CREATE TABLE visits (id TEXT PRIMARY KEY, words TEXT, author TEXT);
    CREATE TABLE notes (id TEXT PRIMARY KEY, words TEXT)
    """
  private static let tables = #""visits": {}, "notes": {}"#

  private let world: TwoDeviceFixture
  private var camp: CommandLineFixture { world.camp }

  /// Makes 100 visits that both devices have.
  init() throws {
    world = try TwoDeviceFixture(Self.schema, Self.tables)
    try world.sql(
      "office",
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO visits SELECT printf('v%03d', i), 'first', 'office' FROM n
      """)
    try world.answer("tablet")
    try world.answer("phone")
  }

  private func count(_ who: String, _ condition: String = "1") throws -> String {
    try world.rows(who, "SELECT count(*) FROM visits WHERE \(condition)")
  }

  private func waiting() throws -> [JSONValue] {
    try camp.hub("status", "--json").json["waiting"]?.arrayValue ?? []
  }

  private func delete(_ count: Int, on device: String = "tablet") throws {
    try world.sql(device, "DELETE FROM visits WHERE id <= printf('v%03d', \(count))")
  }

  // MARK: at the hub

  @Test("a person is asked before the revocation of a device deletes a bundle of it that waits")
  func revokedWhileWaiting() throws {
    try delete(21)
    #expect(camp.hub("import", try world.export("tablet")).code == 3)
    let asked = camp.hub("device", "revoke", "tablet", answers: ["n"], interactive: true)
    #expect(asked.code == 1)
    #expect(asked.error.contains("tablet/1 waits here, and this command deletes it."), "\(asked.error)")
    #expect(asked.error.contains("To take it first: satchel-hub import --accept tablet/1."), "\(asked.error)")
    #expect(try waiting().count == 1)
    let rehearsed = camp.hub("device", "revoke", "tablet", "--dry-run")
    #expect(rehearsed.out.contains("Would delete what waited here: tablet/1."), "\(rehearsed.out)")
    let done = camp.hub("device", "revoke", "tablet", "--json")
    #expect(try done.json["deleted"] == ["tablet/1"])
    #expect(try waiting().isEmpty)
  }

  @Test("21 of 100 deleted rows wait as a whole, with the note that came along, and status says how many")
  func held() throws {
    try delete(21)
    try world.sql("tablet", "INSERT INTO notes VALUES ('n1', 'came along')")
    let file = try world.export("tablet")
    let outcome = camp.hub("import", file)
    #expect(outcome.code == 3)
    #expect(outcome.error.contains("It deletes 21 of the 100 rows of visits that ann sees."), "\(outcome.error)")
    #expect(outcome.error.contains("satchel-hub import --accept tablet/1"), "\(outcome.error)")
    #expect(try count("office") == "100")
    #expect(try world.rows("office", "SELECT count(*) FROM notes") == "0")
    let bundle = try #require(try waiting().first)
    #expect(bundle["reason"]?.stringValue == "brake")
    #expect(bundle["number"]?.integerValue == 1)
    let status = camp.hub("status")
    #expect(status.out.contains("deletes 21 of the 100 rows of visits"), "\(status.out)")
    #expect(status.out.contains("satchel-hub import --accept tablet/1, or --reject"), "\(status.out)")
    let check = camp.hub("check")
    #expect(check.code == 1)
    #expect(check.out.contains("tablet"), "\(check.out)")
  }

  @Test("20 deleted rows pass, because the limit is never below 20 rows")
  func fewRows() throws {
    try delete(20)
    try world.deliver("tablet")
    #expect(try count("office") == "80")
  }

  @Test("half of the rows may be changed, and no more: a row that was changed in many exports counts once")
  func changed() throws {
    for export in 1...4 {
      try world.sql("tablet", "UPDATE visits SET words = 'w\(export)' WHERE id <= 'v050'")
      if export < 4 { _ = try world.export("tablet") }
    }
    try world.deliver("tablet")
    #expect(try count("office", "words = 'w4'") == "50")
    try world.sql("phone", "UPDATE visits SET author = 'ben' WHERE id <= 'v051'")
    let outcome = camp.hub("import", try world.export("phone"))
    #expect(outcome.code == 3)
    #expect(outcome.error.contains("It changes 51 of the 100 rows of visits that ben sees."), "\(outcome.error)")
  }

  @Test("new rows never wait, however many, and neither do rows that are deleted and made again")
  func newRows() throws {
    try world.sql(
      "tablet",
      """
      WITH RECURSIVE n(i) AS (SELECT 101 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
      INSERT INTO visits SELECT printf('v%03d', i), 'new', 'ann' FROM n
      """)
    _ = try world.export("tablet")
    try world.sql("tablet", "UPDATE visits SET words = 'better' WHERE author = 'ann'")
    try world.deliver("tablet")
    #expect(try count("office", "words = 'better'") == "800")
  }

  @Test("an accepted bundle is merged, and only that one")
  func accepted() throws {
    try delete(30)
    let file = try world.export("tablet")
    #expect(camp.hub("import", file).code == 3)
    let other = camp.hub("import", "--accept", "tablet/2")
    #expect(other.code != 0)
    #expect(other.error.contains("No bundle \"tablet/2\" waits here"), "\(other.error)")
    try delete(30, on: "phone")
    let phone = try world.export("phone")
    let outcome = camp.hub("import", "--accept", "tablet/1")
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(try count("office") == "70")
    #expect(try waiting().isEmpty)
    // Both devices deleted the same rows, so the second bundle deletes nothing more.
    #expect(camp.hub("import", phone).code == 0)
    try world.peace(["SELECT id, words FROM visits ORDER BY id"])
  }

  @Test("a file can be accepted at once, and a bundle that came again with the stick still waits")
  func acceptedFile() throws {
    try delete(30)
    let file = try world.export("tablet")
    for _ in 0..<2 { #expect(camp.hub("import", file).code == 3) }
    #expect(try waiting().count == 1)
    #expect(camp.hub("import", "--accept", file).code == 0)
    #expect(try count("office") == "70")
    #expect(camp.hub("import", try world.export("phone")).code == 0)
    #expect(try waiting().isEmpty)
  }

  @Test("no import takes a waiting bundle by itself, but a newer bundle with its changes can be accepted in its place")
  func overtaken() throws {
    try delete(30)
    #expect(camp.hub("import", try world.export("tablet")).code == 3)
    try world.sql("phone", "INSERT INTO notes VALUES ('n2', 'of the phone')")
    try world.deliver("phone")
    #expect(try count("office") == "100")
    try world.sql("tablet", "INSERT INTO notes VALUES ('n1', 'later')")
    #expect(camp.hub("import", try world.export("tablet")).code == 3)
    #expect(try waiting().count == 2)
    #expect(camp.hub("status").out.contains("import --accept tablet/2, or"))
    #expect(camp.hub("import", "--accept", "tablet/2").code == 0)
    #expect(try count("office") == "70")
    try world.deliver("phone")
    #expect(try waiting().isEmpty)
    // The phone must delete many rows too, so its import also waits for a person.
    #expect(camp.device("phone", "import", try world.emit("phone")).code == 3)
    #expect(camp.device("phone", "apply", "--accept").code == 0)
    try world.peace(["SELECT id, words FROM visits ORDER BY id", "SELECT * FROM notes ORDER BY id"])
  }

  @Test("of a rejected bundle nothing is merged, the device gets its rows back, and each change is in a conflict")
  func rejected() throws {
    try delete(30)
    try world.sql("tablet", "UPDATE visits SET words = 'mine' WHERE id = 'v100'")
    try world.sql("tablet", "INSERT INTO notes VALUES ('n1', 'came along')")
    #expect(camp.hub("import", try world.export("tablet")).code == 3)
    let outcome = camp.hub("import", "--reject", "tablet/1")
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.out.contains("Rejected: 32 changes decided for the hub's rows."), "\(outcome.out)")
    #expect(try count("office", "words = 'first'") == "100")
    #expect(try world.rows("office", "SELECT count(*) FROM notes") == "0")
    #expect(try waiting().isEmpty)
    let states = try world.conflicts().map { $0["state"]?.stringValue }
    #expect(states.count == 32)
    #expect(states.allSatisfy { $0 == "resolved" })
    let id = try #require(try world.conflicts().first?["id"]?.stringValue)
    let shown = camp.hub("conflicts", "show", id)
    #expect(shown.out.contains("The office rejected the whole bundle."), "\(shown.out)")
    try world.answer("tablet")
    #expect(try count("tablet", "words = 'first'") == "100")
    try world.peace(["SELECT id, words FROM visits ORDER BY id", "SELECT * FROM notes ORDER BY id"])
    #expect(try world.rows("office", "SELECT count(*) FROM notes") == "0")
  }

  @Test("a file that was merged before cannot be rejected: its conflicts stay as they are")
  func rejectedAgain() throws {
    try world.sql("tablet", "UPDATE visits SET words = 'of ann' WHERE id = 'v001'")
    try world.sql("office", "UPDATE visits SET words = 'of the office' WHERE id = 'v001'")
    let file = try world.export("tablet")
    world.hear(file)
    let before = try world.conflicts().map { $0["state"] }
    #expect(before == ["open"])
    let outcome = camp.hub("import", "--reject", file)
    #expect(!outcome.out.contains("Rejected"), "\(outcome.out)")
    #expect(try world.conflicts().map { $0["state"] } == before)
  }

  @Test("a rejected bundle decides no conflict of an earlier bundle, whatever its user decided")
  func earlierConflict() throws {
    try world.sql("tablet", "UPDATE visits SET words = 'of ann' WHERE id = 'v099'")
    try world.sql("office", "UPDATE visits SET words = 'of the office' WHERE id = 'v099'")
    try world.cycle("tablet")
    let id = try #require(try world.conflicts().first?["id"]?.stringValue)
    #expect(camp.device("tablet", "conflicts", "resolve", id, "--keep", "device").code == 0)
    try delete(30)
    #expect(camp.hub("import", try world.export("tablet")).code == 3)
    #expect(camp.hub("import", "--reject", "tablet/2").code == 0)
    #expect(try world.conflicts().first { $0["id"]?.stringValue == id }?["state"] == "open")
    #expect(try count("office", "words = 'of the office'") == "1")
  }

  @Test("after one bundle was rejected, the next import judges the later ones once more, and takes what is new in them")
  func laterBundles() throws {
    try delete(30)
    #expect(camp.hub("import", try world.export("tablet")).code == 3)
    try world.sql("tablet", "INSERT INTO notes VALUES ('n1', 'later')")
    #expect(camp.hub("import", try world.export("tablet")).code == 3)
    #expect(camp.hub("import", "--reject", "tablet/1").code == 0)
    #expect(try waiting().map { $0["reason"]?.stringValue } == ["due"])
    try world.deliver("phone")
    #expect(try waiting().isEmpty)
    #expect(try count("office") == "100")
    #expect(try world.rows("office", "SELECT words FROM notes") == "later")
    try world.peace(["SELECT id, words FROM visits ORDER BY id", "SELECT * FROM notes ORDER BY id"])
  }

  @Test("a dry run of a rejection says how many changes it would decide")
  func rejectedDry() throws {
    try delete(30)
    #expect(camp.hub("import", try world.export("tablet")).code == 3)
    let outcome = camp.hub("import", "--dry-run", "--reject", "tablet/1")
    #expect(outcome.out.contains("Rejected: 30 changes"), "\(outcome.out)")
    #expect(try waiting().count == 1)
    #expect(try world.conflicts().isEmpty)
  }

  @Test("many new rows do not hide that all others were deleted")
  func diluted() throws {
    try world.sql(
      "tablet",
      """
      DELETE FROM visits;
      WITH RECURSIVE n(i) AS (SELECT 101 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      INSERT INTO visits SELECT printf('w%04d', i), 'new', 'ann' FROM n
      """)
    let outcome = camp.hub("import", try world.export("tablet"))
    #expect(outcome.code == 3)
    #expect(outcome.error.contains("deletes 100 of the 100 rows"), "\(outcome.error)")
  }

  @Test("work that follows a rejected bundle is merged as always")
  func afterRejection() throws {
    try delete(30)
    #expect(camp.hub("import", try world.export("tablet")).code == 3)
    #expect(camp.hub("import", "--reject", "tablet/1").code == 0)
    try world.sql("tablet", "UPDATE visits SET words = 'later' WHERE id = 'v099'")
    try world.deliver("tablet")
    #expect(try count("office", "words = 'later'") == "1")
    try world.peace(["SELECT id, words FROM visits ORDER BY id"])
  }

  @Test("a dry run shows the refusal and keeps nothing")
  func dryRun() throws {
    try delete(30)
    let file = try world.export("tablet")
    #expect(camp.hub("import", "--dry-run", file).code == 3)
    #expect(try waiting().isEmpty)
    #expect(camp.hub("import", "--dry-run", "--accept", file).code == 0)
    #expect(try count("office") == "100")
  }

  @Test("--accept and --reject take one bundle, and import alone needs a file")
  func usage() throws {
    for words in [["import"], ["import", "--accept", "a/1", "--reject", "a/1"], ["import", "--accept", "a/1", "x"]] {
      let outcome = camp.hubAnywhere(["-C", camp.path("hub")] + words)
      #expect(outcome.code == 2, "\(words)")
    }
  }

  // MARK: on the device

  @Test("a bundle that would remove 21 of 100 rows waits on the device, and nothing is changed until it is accepted")
  func onDevice() throws {
    try world.sql("tablet", "UPDATE visits SET words = 'mine' WHERE id = 'v100'")
    try world.sql("office", "DELETE FROM visits WHERE id <= 'v021'")
    let outcome = camp.device("tablet", "import", try world.emit("tablet"))
    #expect(outcome.code == 3)
    #expect(outcome.error.contains("removes 21 of the 100 rows of visits from this device"), "\(outcome.error)")
    #expect(outcome.error.contains("satchel apply --accept"), "\(outcome.error)")
    #expect(try count("tablet") == "100")
    let status = camp.device("tablet", "status")
    #expect(status.out.contains("removes 21 of the 100 rows of visits"), "\(status.out)")
    #expect(status.out.contains("satchel apply --accept"), "\(status.out)")
    // The device can still deliver its own changes while the bundle waits.
    try world.deliver("tablet")
    #expect(try count("office", "words = 'mine'") == "1")
    #expect(camp.device("tablet", "apply").code == 3)
    #expect(try count("tablet") == "100")
    let applied = camp.device("tablet", "apply", "--accept")
    #expect(applied.code == 0, "\(applied.error)")
    #expect(try count("tablet") == "79")
    #expect(try camp.device("tablet", "status", "--json").json["staged"]?.arrayValue?.isEmpty == true)
  }

  @Test("a newer bundle without the mistake is imported, and the bundle that waited goes")
  func mistakeUndone() throws {
    try world.sql(
      "office", "CREATE TABLE kept AS SELECT * FROM visits WHERE id <= 'v050'; DELETE FROM visits WHERE id <= 'v050'")
    #expect(camp.device("tablet", "import", try world.emit("tablet")).code == 3)
    try world.sql("office", "INSERT INTO visits SELECT * FROM kept")
    try world.answer("tablet")
    #expect(try count("tablet") == "100")
    #expect(try camp.device("tablet", "status", "--json").json["staged"]?.arrayValue?.isEmpty == true)
    try world.sql("office", "DROP TABLE kept")
    try world.peace(["SELECT id, words FROM visits ORDER BY id"])
  }

  @Test("a device that is given to another user loses the former user's rows without a question")
  func handedOver() throws {
    let camp = try TwoDeviceFixture(
      Self.schema, #""visits": { "visible": "author = :user" }, "notes": {}"#)
    try camp.sql(
      "office",
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO visits SELECT printf('v%03d', i), 'first', iif(i <= 50, 'ann', 'ben') FROM n
      """)
    try camp.answer("tablet")
    #expect(camp.camp.hub("device", "set", "tablet", "--user", "ben").code == 0)
    try camp.answer("tablet")
    #expect(try camp.rows("tablet", "SELECT DISTINCT author FROM visits") == "ben")
  }
}

/// Deletes that only mark a row, rows that leave a device because of its own user's work, and files.
@Suite("The brake, soft deletes, finished work and files")
struct BrakeEdgeTests {
  private func world(_ schema: String, _ rules: String) throws -> TwoDeviceFixture {
    let world = try TwoDeviceFixture(
      "CREATE TABLE visits (id INTEGER PRIMARY KEY, \(schema))", "\"visits\": { \(rules) }")
    try world.sql(
      "office",
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO visits (id) SELECT i FROM n
      """)
    try world.answer("tablet")
    return world
  }

  @Test("a row that is marked as deleted counts as deleted")
  func soft() throws {
    let world = try world("gone INTEGER NOT NULL DEFAULT 0", #""delete": "soft", "deleted": "gone""#)
    try world.sql("tablet", "UPDATE visits SET gone = 1 WHERE id <= 30")
    let outcome = world.camp.hub("import", try world.export("tablet"))
    #expect(outcome.code == 3)
    #expect(outcome.error.contains("deletes 30 of the 100 rows"), "\(outcome.error)")
  }

  @Test("rows that leave a device because its own user finished them do not count")
  func finished() throws {
    let world = try world("state TEXT NOT NULL DEFAULT 'new'", #""visible": "state <> 'done'", "write": "1""#)
    try world.sql("tablet", "UPDATE visits SET state = 'done' WHERE id <= 40")
    try world.deliver("tablet")
    try world.answer("tablet")
    #expect(try world.rows("tablet", "SELECT count(*) FROM visits") == "60")
  }

  @Test("a rejected bundle brings no file into the hub, and replaces none")
  func files() throws {
    let world = try world("photo TEXT", #""attachments": ["photo"]"#)
    let camp = world.camp
    for folder in ["hub", "tablet"] { try camp.makeFolder("\(folder)/files") }
    try camp.write("tablet/files/a.jpg", "first")
    try world.sql("tablet", "UPDATE visits SET photo = 'a.jpg' WHERE id = 100")
    try world.cycle("tablet")
    #expect(try camp.read("hub/files/a.jpg") == Array("first".utf8))
    try camp.write("tablet/files/a.jpg", "second version")
    try camp.write("tablet/files/b.jpg", "new")
    try world.sql(
      "tablet",
      """
      DELETE FROM visits WHERE id <= 30; UPDATE visits SET photo = 'b.jpg' WHERE id = 99;
      UPDATE visits SET photo = 'a.jpg' WHERE id = 98
      """)
    #expect(camp.hub("import", try world.export("tablet")).code == 3)
    #expect(camp.hub("import", "--reject", "tablet/2").code == 0)
    #expect(try camp.read("hub/files/a.jpg") == Array("first".utf8))
    #expect(!FileManager.default.fileExists(atPath: camp.path("hub/files/b.jpg")))
  }
}

/// The brake's limits are members of the dataset's definition.
@Suite("The brake's limits in the dataset")
struct BrakeLimitTests {
  private static let schema = """
    CREATE TABLE visits (id INTEGER PRIMARY KEY, words TEXT);
    CREATE TABLE notes (id INTEGER PRIMARY KEY, words TEXT)
    """

  private func world(_ brake: String, notes: String) throws -> TwoDeviceFixture {
    let world = try TwoDeviceFixture(Self.schema, #""visits": {}, "notes": { \#(notes) }"#, more: brake)
    for table in ["visits", "notes"] {
      try world.sql(
        "office",
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
        INSERT INTO \(table) SELECT i, 'first' FROM n
        """)
    }
    try world.answer("tablet")
    return world
  }

  @Test("100% switches a limit off")
  func off() throws {
    let world = try world(#""brake": { "delete": "100%", "change": "100%" }"#, notes: "")
    try world.sql("tablet", "DELETE FROM visits; UPDATE notes SET words = 'second'")
    try world.deliver("tablet")
    #expect(try world.rows("office", "SELECT count(*) FROM visits") == "0")
    try world.sql("office", "DELETE FROM notes")
    try world.answer("tablet")
  }

  @Test("the limits of a table replace those of the dataset, and missing members come from the dataset")
  func ofTable() throws {
    let world = try world(#""brake": { "delete": "25%", "rows": 2 }"#, notes: #""brake": { "delete": "50%" }"#)
    try world.sql("tablet", "DELETE FROM visits WHERE id <= 10; DELETE FROM notes WHERE id <= 20")
    try world.deliver("tablet")
    #expect(try world.rows("office", "SELECT count(*) FROM notes") == "20")
    try world.answer("tablet")
    try world.sql("tablet", "DELETE FROM visits WHERE id <= 18; DELETE FROM notes WHERE id <= 31")
    let outcome = world.camp.hub("import", try world.export("tablet"))
    #expect(outcome.code == 3)
    #expect(outcome.error.contains("8 of the 30 rows of visits"), "\(outcome.error)")
    #expect(outcome.error.contains("11 of the 20 rows of notes"), "\(outcome.error)")
  }

  @Test("a new version of the dataset cannot take its own rule past the limits that the device knows")
  func limitsOfNextVersion() throws {
    let world = try world("", notes: "")
    try world.camp.write(
      "next.json",
      """
      { "dataset": "camp", "version": 2, "brake": { "delete": "100%" }, "attributes": { "tier": "integer" },
        "tables": { "visits": { "visible": "id > 100" }, "notes": {} } }
      """)
    #expect(world.camp.hub("dataset", "apply", world.camp.path("next.json")).code == 0)
    let file = try world.emit("tablet")
    #expect(world.camp.device("tablet", "import", file).code == 3)
    #expect(try world.rows("tablet", "SELECT count(*) FROM visits") == "40")
    #expect(world.camp.device("tablet", "apply", "--accept").code == 0)
    #expect(try world.rows("tablet", "SELECT count(*) FROM visits") == "0")
  }

  @Test(
    "a limit that is no part of a hundred is refused", arguments: [#""10""#, #""101%""#, #""-1%""#, "10", #""1.5%""#])
  func malformed(_ text: String) throws {
    let camp = try CommandLineFixture()
    try camp.sql("office.sqlite", Self.schema)
    try camp.write(
      "camp.json",
      #"{ "dataset": "camp", "version": 1, "brake": { "delete": \#(text) }, "tables": { "visits": {} } }"#)
    let outcome = camp.hubAnywhere("dataset", "check", camp.path("camp.json"), camp.path("office.sqlite"))
    #expect(outcome.code != 0)
    #expect(outcome.error.contains("brake.delete"), "\(outcome.error)")
  }
}
