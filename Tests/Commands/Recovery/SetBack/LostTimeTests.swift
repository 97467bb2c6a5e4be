import Foundation
import SatchelPlatform
import Testing

/// The hub is set back, and its devices have bundles of the time that it lost.
@Suite("The time that a hub lost")
struct LostTimeTests {
  private let camp: CommandLineFixture
  private let office = "office.sqlite"
  private let tablet = "tablet/data.sqlite"

  init() throws { camp = try CommandLineFixture() }

  private func putBack() throws {
    try camp.putBackHub()
    // The test uses another stick. The old stick has bundles that would show the hub at once that it was set back.
    try camp.remove("stick")
    try camp.makeFolder("stick")
  }

  /// The office inserts a row after the hub was set back, and the hub emits. The device refuses this bundle. Its own
  /// bundle then proves to the hub that it was set back.
  private func learnOfIt(by insert: String, from device: String = "tablet") throws {
    try camp.sql(office, insert)
    camp.hub("sync", camp.path("stick"))
    camp.device(device, "sync", camp.path("stick"))
    #expect(camp.hub("sync", camp.path("stick")).error.contains("set back"))
    let begun = camp.hub("restore", "--in-place", "--yes")
    #expect(begun.code == 0, "\(begun.error)")
  }

  /// Sets the hub back a second time, before it has recovered. The phone has not delivered, so the hub has not merged
  /// the tablet's lost bundles. Then both devices deliver.
  private func putBackTwice() throws {
    try putBack()
    try learnOfIt(by: "INSERT INTO sites VALUES ('new-1', 'of the other time')")
    try camp.carry("tablet", rounds: 3)
    #expect(try sites(office) == "hill lake new-1")
    try putBack()
    try learnOfIt(by: "INSERT INTO sites VALUES ('new-2', 'of the third time')")
    for _ in 1...3 { for device in ["tablet", "phone"] { try camp.carry(device) } }
  }

  private func sites(_ database: String) throws -> String {
    try camp.rows(database, "SELECT group_concat(id, ' ') FROM (SELECT id FROM sites ORDER BY id)")
  }

  /// Makes a hub with sites. All its devices have all sites.
  private func open(_ devices: [String]) throws {
    try camp.open(
      """
      CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT);
      INSERT INTO sites VALUES ('hill', 'Hill'), ('lake', 'Lake');
      """, CommandLineFixture.definition(#"{ "sites": {} }"#), devices: devices)
    for device in devices { try camp.carry(device, rounds: 2) }
  }

  /// Opens the camp, copies the hub, and gives the tablet so many emissions. These emissions will be in the lost time.
  private func open(_ devices: [String], emissions: Int) throws {
    try open(devices)
    try camp.keepHub()
    for number in 1...emissions {
      try camp.sql(office, "INSERT INTO sites VALUES ('office-\(number)', 'of the lost time')")
      try camp.carry("tablet", rounds: 2)
    }
  }

  @Test("all emissions of the lost time come back, also those older than the proof of the loss")
  func severalEmissions() throws {
    try open(["tablet"], emissions: 3)
    try putBack()
    try learnOfIt(by: "INSERT INTO sites VALUES ('new', 'of the other time')")
    try camp.carry("tablet", rounds: 4)
    #expect(try sites(tablet) == "hill lake new office-1 office-2 office-3")
    #expect(try sites(office) == "hill lake new office-1 office-2 office-3")
    #expect(camp.hub("status").out.contains("Recovers") == false)
    #expect(camp.hub("doctor").code == 0)
    #expect(camp.device("tablet", "doctor").code == 0)
  }

  @Test("a long chain of rows comes back, in whatever order a bundle lists the rows")
  func longChain() throws {
    try camp.open(
      "CREATE TABLE sites (id TEXT PRIMARY KEY COLLATE NOCASE, name TEXT, near TEXT REFERENCES sites (id))",
      CommandLineFixture.definition(#"{ "sites": {} }"#), devices: ["tablet"])
    try camp.carry("tablet", rounds: 2)
    try camp.keepHub()
    // Each row names the next row, but with a capital S instead of the small s in that row's key.
    try camp.sql(
      office,
      """
      WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
      INSERT INTO sites SELECT 's' || i, 'of the lost time', CASE WHEN i < 1500 THEN 'S' || (i + 1) END FROM n
      """)
    try camp.carry("tablet", rounds: 2)
    try putBack()
    try learnOfIt(by: "INSERT INTO sites VALUES ('new', 'of the other time', NULL)")
    try camp.carry("tablet")
    // The bundle from the hub that was set back removes all rows. So a person must accept it.
    #expect(camp.device("tablet", "apply", "--accept").code == 0)
    try camp.carry("tablet", rounds: 4)
    #expect(try camp.rows(office, "SELECT count(*) FROM sites") == "1501")
    #expect(try camp.rows(office, "SELECT count(*) FROM satchel_conflicts") == "0")
  }

  /// The office inserts 60 sites.
  private func makeSites(_ name: String) throws {
    try camp.sql(
      office,
      """
      WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 60)
      INSERT INTO sites SELECT '\(name)-' || i, 'of the office' FROM n
      """)
    try camp.carry("tablet", rounds: 2)
  }

  /// Carries the first bundle of the new epoch to the tablet. Returns the message and the hint of the refusal.
  private func refusalOfNewEpoch() throws -> (message: String, hint: String) {
    try learnOfIt(by: "INSERT INTO sites VALUES ('new', 'of the other time')")
    try camp.carry("tablet")
    let error = try camp.device("tablet", "apply", "--json").json["bundles"]?.arrayValue?.first?["error"]
    return (error?["message"]?.stringValue ?? "", error?["hint"]?.stringValue ?? "")
  }

  @Test("if many rows leave a device because the hub was set back, the refusal says that they may come back")
  func manyRows() throws {
    try open(["tablet"])
    try camp.keepHub()
    try makeSites("lost")
    try putBack()
    let (message, hint) = try refusalOfNewEpoch()
    #expect(message.contains("removes 60 of the 62 rows of sites from this device. Up to 60 of these"), "\(message)")
    #expect(hint.contains("satchel apply --accept. The recovery of the hub waits for that."), "\(hint)")
    #expect(camp.device("tablet", "apply", "--accept").code == 0)
    try camp.carry("tablet", rounds: 4)
    for database in [office, tablet] { #expect(try camp.rows(database, "SELECT count(*) FROM sites") == "63") }
  }

  @Test("rows that the hub has, and that a bundle of the lost time names too, do not leave a device without a question")
  func manyRowsDeleted() throws {
    try open(["tablet"])
    try makeSites("kept")
    try camp.keepHub()
    try camp.sql(office, "UPDATE sites SET name = 'of the lost time' WHERE id LIKE 'kept-%'")
    try camp.carry("tablet", rounds: 2)
    try putBack()
    try camp.sql(office, "DELETE FROM sites WHERE id LIKE 'kept-%'")
    let (message, _) = try refusalOfNewEpoch()
    #expect(message.contains("removes 60 of the 62 rows of sites from this device."), "\(message)")
    #expect(try camp.rows(tablet, "SELECT count(*) FROM sites") == "62")
  }

  @Test("emissions of a lost time come back also after the hub is put back a second time")
  func twice() throws {
    try open(["tablet", "phone"], emissions: 1)
    try putBackTwice()
    #expect(try sites(office) == "hill lake new-1 new-2 office-1")
    #expect(try sites(tablet) == "hill lake new-1 new-2 office-1")
  }

  @Test("a hub that is put back during a recovery gets also the emissions from before the recovery")
  func putBackWhileRecovering() throws {
    try open(["tablet", "phone"], emissions: 2)
    try putBack()
    try learnOfIt(by: "INSERT INTO sites VALUES ('new-1', 'of the other time')")
    // The stick has only the newest emission of the lost time, which proves that the hub was set back. The hub emits
    // before the older emission arrives.
    camp.hub("sync", camp.path("stick"))
    for copy in ["kept", "kept.sqlite"] { try camp.remove(copy) }
    try camp.keepHub()
    // The older emission arrives, and the hub confirms it to the tablet. The phone has not delivered, so the hub does
    // not merge the emission yet.
    try camp.carry("tablet", rounds: 3)
    #expect(try camp.rows(tablet, "SELECT count(*) FROM satchel_brought_emissions") == "0")
    #expect(try sites(office) == "hill lake new-1")
    try putBack()
    try learnOfIt(by: "INSERT INTO sites VALUES ('new-2', 'of the third time')")
    for _ in 1...3 { for device in ["tablet", "phone"] { try camp.carry(device) } }
    for database in [office, tablet] {
      #expect(try sites(database) == "hill lake new-1 new-2 office-1 office-2")
    }
    #expect(camp.hub("status").out.contains("Recovers") == false)
  }

  @Test("a row that was deleted in the lost time is asked about, also after the hub is put back a second time")
  func deletedBefore() throws {
    try open(["tablet", "phone"])
    try camp.keepHub()
    try camp.sql(office, "DELETE FROM sites WHERE id = 'hill'")
    try camp.carry("tablet", rounds: 2)
    try putBackTwice()
    #expect(try sites(office) == "hill lake new-1 new-2")
    #expect(
      try camp.rows(office, "SELECT kind, key FROM satchel_conflicts WHERE state = 'open'")
        == #"delete/update|["hill"]"#)
  }

  @Test("a device that missed the bundle with a row's new key brings the row back once")
  func missedBundle() throws {
    try camp.open(
      "CREATE TABLE sites (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO sites VALUES (1, 'hill'), (2, 'lake')",
      CommandLineFixture.definition(#"{ "sites": { "keys": "rekey" } }"#), devices: ["tablet"])
    try camp.carry("tablet", rounds: 2)
    try camp.keepHub()
    try camp.sql(office, "INSERT INTO sites VALUES (3, 'of the office')")
    try camp.sql(tablet, "INSERT INTO sites VALUES (3, 'of the tablet')")
    #expect(camp.hub("import", try camp.export("tablet")).code == 0)
    _ = try camp.emit("tablet")
    try camp.sql(office, "UPDATE sites SET name = 'pond' WHERE id = 2")
    #expect(camp.device("tablet", "import", try camp.emit("tablet")).code == 0)
    try putBack()
    try learnOfIt(by: "INSERT INTO sites VALUES (9, 'of the other time')")
    try camp.carry("tablet", rounds: 4)
    let names = "SELECT group_concat(name, ', ') FROM (SELECT name FROM sites ORDER BY name)"
    for database in [office, tablet] {
      #expect(
        try camp.rows(database, names) == "hill, of the office, of the other time, of the tablet, pond")
    }
  }

  @Test("a row of the lost time with the key of a deleted row comes back once", arguments: [true, false])
  func reusedKey(isMakerFirst: Bool) throws {
    try camp.open(
      "CREATE TABLE sites (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO sites VALUES (1, 'hill'), (2, 'lake')",
      CommandLineFixture.definition(#"{ "sites": { "keys": "rekey" } }"#), devices: ["tablet", "phone"])
    for device in ["tablet", "phone"] { try camp.carry(device, rounds: 2) }
    try camp.keepHub()
    try camp.sql(tablet, "DELETE FROM sites WHERE id = 2")
    for device in ["tablet", "phone"] { try camp.carry(device, rounds: 2) }
    try camp.sql("phone/data.sqlite", "INSERT INTO sites (name) VALUES ('tent')")
    for device in ["phone", "tablet"] { try camp.carry(device, rounds: 2) }
    try putBack()
    try learnOfIt(by: "INSERT INTO sites VALUES (9, 'of the other time')")
    let devices = isMakerFirst ? ["phone", "tablet"] : ["tablet", "phone"]
    for device in devices { try camp.carry(device, rounds: 2) }
    for _ in 0..<3 { for device in devices { try camp.carry(device) } }
    for database in [office, tablet, "phone/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT count(*) FROM sites WHERE name = 'tent'") == "1")
    }
  }

  @Test("a row that was made and deleted in the lost time comes back with a question, or not at all")
  func madeAndDeleted() throws {
    try open(["tablet"])
    try camp.keepHub()
    try camp.sql(office, "INSERT INTO sites VALUES ('tent', 'Tent')")
    try camp.carry("tablet", rounds: 2)
    try camp.sql(office, "DELETE FROM sites WHERE id = 'tent'")
    try camp.carry("tablet", rounds: 2)
    try putBack()
    try learnOfIt(by: "INSERT INTO sites VALUES ('new', 'of the other time')")
    try camp.carry("tablet", rounds: 3)
    #expect(try sites(office) == "hill lake new tent")
    #expect(
      try camp.rows(office, "SELECT kind, key FROM satchel_conflicts WHERE state = 'open'")
        == #"delete/update|["tent"]"#)
  }

  @Test("a change of a row that comes back with the change inside is no second one")
  func changeInside() throws {
    try camp.open(
      "CREATE TABLE counts (id TEXT PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0, words TEXT)",
      CommandLineFixture.definition(#"{ "counts": { "conflict": "manual", "columns": { "n": "sum" } } }"#),
      devices: ["tablet", "phone"])
    for device in ["tablet", "phone"] { try camp.carry(device, rounds: 2) }
    try camp.keepHub()
    try camp.sql(office, "INSERT INTO counts VALUES ('words', 0, 'a'), ('sum', 0, 'a')")
    for device in ["tablet", "phone"] { try camp.carry(device, rounds: 2) }
    try camp.sql(
      "phone/data.sqlite",
      "UPDATE counts SET words = 'b' WHERE id = 'words'; UPDATE counts SET n = n + 5 WHERE id = 'sum'")
    for device in ["phone", "tablet"] { try camp.carry(device, rounds: 2) }
    try putBack()
    try learnOfIt(by: "INSERT INTO counts VALUES ('new', 0, '')")
    for _ in 1...3 { for device in ["phone", "tablet"] { try camp.carry(device) } }
    let counts = "SELECT id || ' ' || n || ' ' || words FROM counts WHERE id <> 'new' ORDER BY id"
    #expect(try camp.rows(office, counts) == "sum 5 a\nwords 0 b")
    // The hub cannot know whether the counter already contains this change. So the change is an open conflict.
    let open = "SELECT kind, key FROM satchel_conflicts WHERE state = 'open'"
    #expect(try camp.rows(office, open) == #"update/update|["sum"]"#)
    #expect(camp.hub("conflicts", "resolve", "--all", "--policy", "hub").code == 0)
    for device in ["phone", "tablet"] { try camp.carry(device, rounds: 2) }
    for folder in ["phone", "tablet"] {
      #expect(try camp.rows("\(folder)/data.sqlite", counts) == "sum 5 a\nwords 0 b")
    }
  }

  @Test(
    "a device without keys carries the hub's own bundles back, and the hub does not wait for it",
    arguments: [false, true])
  func withoutKeys(isOfEarlierBuild: Bool) throws {
    try open([])
    let made = camp.hub(
      "device", "provision", "kiosk", "--user", "ann", "--no-keys", "--into", camp.path("kiosk"))
    #expect(made.code == 0, "\(made.error)")
    if isOfEarlierBuild {
      try camp.sql(
        office,
        """
        ALTER TABLE satchel_devices DROP COLUMN only_receives;
        ALTER TABLE satchel_devices DROP COLUMN backed_up;
        ALTER TABLE satchel_owed DROP COLUMN equal_at;
        DROP TABLE satchel_operators;
        DROP TABLE satchel_acts;
        DROP TABLE satchel_former_emissions;
        DROP TABLE satchel_doubtful_times;
        DROP TABLE satchel_former_rights;
        ALTER TABLE satchel_devices DROP COLUMN hold_since;
        ALTER TABLE satchel_devices DROP COLUMN hold_note;
        ALTER TABLE satchel_emissions DROP COLUMN rows_left;
        UPDATE satchel_schema SET version = 14
        """)
    }
    try camp.carry("kiosk")
    try camp.keepHub()
    for number in 1...2 {
      try camp.sql(office, "INSERT INTO sites VALUES ('office-\(number)', 'of the lost time')")
      try camp.carry("kiosk")
    }
    #expect(try sites("kiosk/data.sqlite") == "hill lake office-1 office-2")
    try putBack()
    try learnOfIt(by: "INSERT INTO sites VALUES ('new', 'of the other time')", from: "kiosk")
    try camp.carry("kiosk", rounds: 4)
    #expect(try sites(office) == "hill lake new office-1 office-2")
    #expect(try sites("kiosk/data.sqlite") == "hill lake new office-1 office-2")
    #expect(camp.hub("status").out.contains("Recovers") == false)
    let idle = camp.device("kiosk", "sync", camp.path("stick"))
    #expect(idle.out.contains("it has no key of its own"), "\(idle.out)")
  }

  @Test("of several bundles that a device without keys carries back, the newest counts")
  func newestWithoutKeys() throws {
    try open([])
    camp.hub("device", "provision", "kiosk", "--user", "ann", "--no-keys", "--into", camp.path("kiosk"))
    try camp.carry("kiosk")
    try camp.keepHub()
    for work in ["name = 'first' WHERE id = 'hill'", "name = 'second' WHERE id = 'hill'"] {
      try camp.sql(office, "UPDATE sites SET \(work)")
      try camp.carry("kiosk")
    }
    try camp.sql(office, "DELETE FROM sites WHERE id = 'lake'")
    try camp.carry("kiosk")
    try putBack()
    try learnOfIt(by: "INSERT INTO sites VALUES ('new', 'of the other time')", from: "kiosk")
    try camp.carry("kiosk", rounds: 4)
    for database in [office, "kiosk/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT name FROM sites WHERE id = 'hill'") == "second")
    }
    #expect(try camp.rows(office, "SELECT count(*) FROM satchel_log WHERE set_values LIKE '%first%'") == "0")
    #expect(
      try camp.rows(office, "SELECT kind, key FROM satchel_conflicts WHERE state = 'open'")
        == #"delete/update|["lake"]"#)
  }

  @Test("restore --in-place keeps the database as it was before")
  func copyKept() throws {
    try open(["tablet"])
    let begun = camp.hub("restore", "--in-place", "--yes", "--json")
    let copy = try #require(try begun.json["copy"]?.stringValue)
    try camp.sql(office, "DELETE FROM sites")
    #expect(try sites(String(copy.dropFirst(camp.root.utf8.count + 1))) == "hill lake")
    let again = camp.hub("restore", "--in-place", "--yes")
    #expect(again.out.contains("The newest bundle that this hub knows is from 20"), "\(again.out)")
  }

  @Test("doctor --repair does not say that a hub is well if its database alone was put back")
  func repairedAfterwards() throws {
    try open(["tablet"])
    try camp.sql(tablet, "INSERT INTO sites VALUES ('tent', 'Tent')")
    try camp.carry("tablet")
    try camp.copy(office, to: "kept.sqlite")
    try camp.sql(tablet, "INSERT INTO sites VALUES ('hut', 'Hut')")
    try camp.carry("tablet", rounds: 2)
    try camp.remove(office)
    try camp.copy("kept.sqlite", to: office)
    let repaired = camp.hub("doctor", "--repair")
    #expect(repaired.code == 1 && repaired.out.contains("restore --in-place"), "\(repaired.out)")
  }

  @Test("an emission that comes after the lost time was merged is merged too")
  func late() throws {
    try open(["tablet", "phone"], emissions: 1)
    try putBack()
    try learnOfIt(by: "INSERT INTO sites VALUES ('new', 'of the other time')")
    // The operator ends the recovery before the tablet delivers.
    try camp.carry("phone", rounds: 2)
    #expect(camp.hub("restore", "--finish").code == 0)
    try camp.carry("tablet", rounds: 4)
    #expect(try sites(office) == "hill lake new office-1")
    #expect(try sites(tablet) == "hill lake new office-1")
    #expect(camp.hub("status").out.contains("Recovers") == false)
  }

  @Test("the hub's own changes of counters and sets are not in the row, but in a conflict, and the report says so")
  func counters() throws {
    try camp.open(
      """
      CREATE TABLE counts (id TEXT PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0, tags TEXT);
      INSERT INTO counts VALUES ('one', 0, '[]'), ('two', 0, '[]');
      """,
      CommandLineFixture.definition(
        #"{ "counts": { "conflict": "manual", "columns": { "n": "sum", "tags": "union" } } }"#),
      devices: ["tablet"])
    try camp.carry("tablet", rounds: 2)
    try camp.keepHub()
    try camp.sql(office, #"UPDATE counts SET n = n + 10, tags = '["office"]' WHERE id = 'one'"#)
    try camp.carry("tablet", rounds: 2)
    try camp.sql(tablet, "UPDATE counts SET n = n + 5 WHERE id = 'two'")
    try camp.carry("tablet", rounds: 2)
    try putBack()
    try learnOfIt(by: "INSERT INTO counts VALUES ('new', 0, '[]')")
    let stick = camp.path("stick")
    var said = ""
    for _ in 1...4 {
      camp.device("tablet", "sync", stick)
      said += camp.hub("sync", stick).out
    }
    camp.device("tablet", "sync", stick)
    #expect(said.contains("1 row has a counter or a list"), "\(said)")
    let counts = "SELECT id, n, tags FROM counts ORDER BY id"
    #expect(try camp.rows(office, counts) == "new|0|[]\none|0|[]\ntwo|5|[]")
    #expect(try camp.rows(tablet, counts) == camp.rows(office, counts))
    // The change that a device delivered again counts once, and is no conflict.
    let conflicts = "SELECT key, state, device_values FROM satchel_conflicts"
    let kept = try camp.rows(office, conflicts)
    #expect(kept.hasPrefix(#"["one"]|settled|"#) && !kept.contains("\n"), "\(kept)")
    #expect(kept.contains("10") && kept.contains("office"), "\(kept)")
  }
}
