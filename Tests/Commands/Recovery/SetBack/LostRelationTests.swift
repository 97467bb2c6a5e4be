import SatchelPlatform
import Testing

/// Rows of the lost time that need each other, or that are in conflict with present rows.
@Suite("Related rows of the time that a hub lost")
struct LostRelationTests {
  private let camp: CommandLineFixture
  private let office = "office.sqlite"
  private let tablet = "tablet/data.sqlite"

  init() throws { camp = try CommandLineFixture() }

  private static let schema = """
    CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT UNIQUE, above TEXT REFERENCES sites (id));
    INSERT INTO sites VALUES ('hill', 'Hill', NULL), ('lake', 'Lake', NULL)
    """

  /// Makes a hub with a tablet, and copies the hub's files.
  private func open(_ devices: [String] = ["tablet"], rules: String = "{}") throws {
    try camp.open(Self.schema, CommandLineFixture.definition("{ \"sites\": \(rules) }"), devices: devices)
    try camp.carry("tablet", rounds: 2)
    try camp.keepHub()
  }

  /// The office writes in the lost time, and the tablet imports the change.
  private func lose(_ sql: String) throws {
    try camp.sql(office, sql)
    try camp.carry("tablet", rounds: 2)
  }

  private func putBack() throws {
    try camp.putBackHub()
    try camp.remove("stick")
    try camp.makeFolder("stick")
  }

  private func restore() throws {
    let begun = camp.hub("restore", "--in-place", "--yes")
    #expect(begun.code == 0, "\(begun.error)")
    try camp.carry("tablet", rounds: 4)
    #expect(camp.hub("status").out.contains("Recovers") == false)
  }

  private func sites(_ database: String) throws -> String {
    let row = "id || ' ' || name || coalesce(' ' || above, '')"
    return try camp.rows(database, "SELECT group_concat(\(row), ', ') FROM (SELECT * FROM sites ORDER BY id)")
  }

  /// Sets the hub back. Expects that the hub and the tablet get the same rows again.
  private func expectSame(_ conflicts: String = "", location: SourceLocation = #_sourceLocation) throws {
    let lost = try sites(tablet)
    try putBack()
    try restore()
    for database in [office, tablet] { #expect(try sites(database) == lost, sourceLocation: location) }
    #expect(try self.conflicts() == conflicts, sourceLocation: location)
  }

  private func conflicts() throws -> String {
    try camp.rows(office, "SELECT kind || ' ' || state || ' ' || key FROM satchel_conflicts ORDER BY key, kind")
  }

  @Test("a row comes back whose parent is known only from an older bundle, or comes later in its own bundle")
  func parents() throws {
    try open()
    try lose("INSERT INTO sites VALUES ('rock', 'Rock', NULL)")
    try lose(
      """
      INSERT INTO sites VALUES ('z', 'Zone', 'rock'), ('a', 'Area', 'z');
      UPDATE sites SET above = 'rock' WHERE id = 'hill'
      """)
    #expect(try sites(tablet) == "a Area z, hill Hill rock, lake Lake, rock Rock, z Zone rock")
    try expectSame()
    #expect(camp.hub("doctor").code == 0)
  }

  @Test("a row comes back with a UNIQUE value that another row gave up in the lost time")
  func passedOn() throws {
    try open()
    try lose("UPDATE sites SET name = 'Old hill' WHERE id = 'hill'")
    try lose("INSERT INTO sites VALUES ('new', 'Hill', NULL)")
    try expectSame()
  }

  @Test("a person decides about a row of the lost time that cannot be beside a row of the present time")
  func obstructed() throws {
    try open()
    try lose("INSERT INTO sites VALUES ('rock', 'Rock', NULL); UPDATE sites SET name = 'Pond' WHERE id = 'lake'")
    try lose("INSERT INTO sites VALUES ('tent', 'Tent', 'rock')")
    try putBack()
    try camp.sql(office, "INSERT INTO sites VALUES ('other', 'Rock', NULL), ('sea', 'Pond', NULL)")
    try restore()
    #expect(try sites(office) == "hill Hill, lake Lake, other Rock, sea Pond")
    #expect(try sites(tablet) == (try sites(office)))
    #expect(try conflicts() == #"unique open ["lake"]\#nunique open ["rock"]\#nforeign key open ["tent"]"#)
    // The row that came first gets another name, so the other row can be inserted.
    try camp.sql(office, "UPDATE sites SET name = 'Other rock' WHERE id = 'other'")
    let ids = try camp.rows(
      office, "SELECT id FROM satchel_conflicts WHERE key IN ('[\"rock\"]', '[\"tent\"]') ORDER BY key")
    for id in ids.split(separator: "\n") {
      let decided = camp.hub("conflicts", "resolve", String(id), "--keep", "device")
      #expect(decided.code == 0, "\(decided.error)")
    }
    try camp.carry("tablet", rounds: 2)
    #expect(try sites(tablet) == "hill Hill, lake Lake, other Other rock, rock Rock, sea Pond, tent Tent rock")
  }

  @Test("an older state of a row does not come back before a newer state that had to wait")
  func versions() throws {
    try open()
    try lose("INSERT INTO sites VALUES ('tent', 'Tent', NULL)")
    try lose("INSERT INTO sites VALUES ('rock', 'Rock', NULL)")
    try lose("UPDATE sites SET name = 'Big tent', above = 'rock' WHERE id = 'tent'")
    try expectSame(#"update/update settled ["tent"]"#)
  }

  @Test("a row that a full bundle of the lost time no longer had is asked about", arguments: [true, false])
  func deletedInFull(isFull: Bool) throws {
    try open()
    try lose("INSERT INTO sites VALUES ('rock', 'Rock', NULL)")
    try camp.sql(office, "DELETE FROM sites WHERE id = 'hill'")
    if isFull { #expect(camp.hub("emit", "--device", "tablet", "--full").code == 0) }
    try camp.carry("tablet", rounds: 2)
    #expect(try sites(tablet) == "lake Lake, rock Rock")
    try lose("INSERT INTO sites VALUES ('tent', 'Tent', NULL)")
    try putBack()
    try camp.sql(office, "INSERT INTO sites VALUES ('new', 'New', NULL)")
    try restore()
    #expect(try sites(office) == "hill Hill, lake Lake, new New, rock Rock, tent Tent")
    #expect(try conflicts() == #"delete/update open ["hill"]"#)
  }

  @Test("a full bundle asks nothing about a row that a device wrote before it and delivered later")
  func deliveredLater() throws {
    try open(["tablet", "phone"])
    try camp.sql("phone/data.sqlite", "INSERT INTO sites VALUES ('late', 'Late', NULL)")
    try camp.sql(office, "INSERT INTO sites VALUES ('tent', 'Tent', NULL)")
    #expect(camp.hub("emit", "--device", "tablet", "--full").code == 0)
    try camp.carry("tablet", rounds: 2)
    try putBack()
    try camp.carry("phone")
    // The time in a manifest has whole seconds. So the test makes the logged changes two seconds later.
    try camp.sql(office, "UPDATE satchel_log SET at = at + 2000")
    #expect(try sites(office) == "hill Hill, lake Lake, late Late")
    #expect(camp.hub("restore", "--in-place", "--yes").code == 0)
    for device in ["tablet", "phone", "tablet", "phone"] { try camp.carry(device, rounds: 2) }
    #expect(camp.hub("status").out.contains("Recovers") == false)
    #expect(try sites(office) == "hill Hill, lake Lake, late Late, tent Tent")
    #expect(try conflicts() == "")
  }

  @Test("a full bundle of an earlier version asks nothing about rows that its rules hid")
  func earlierRules() throws {
    try open(rules: #"{ "visible": "name <> 'Lake'" }"#)
    try camp.sql(office, "INSERT INTO sites VALUES ('tent', 'Tent', NULL)")
    #expect(camp.hub("emit", "--device", "tablet", "--full").code == 0)
    try camp.carry("tablet", rounds: 2)
    try putBack()
    #expect(camp.hub("restore", "--in-place", "--yes").code == 0)
    try camp.write("later.json", #"{ "dataset": "camp", "version": 2, "tables": { "sites": {} } }"#)
    #expect(camp.hub("dataset", "apply", camp.path("later.json"), "--yes").code == 0)
    try camp.carry("tablet", rounds: 4)
    #expect(camp.hub("status").out.contains("Recovers") == false)
    #expect(try sites(tablet) == "hill Hill, lake Lake, tent Tent")
    #expect(try conflicts() == "")
  }

  @Test("a full bundle of an earlier version asks about a row that it lacked, if the rules are the same")
  func earlierVersion() throws {
    try open()
    try camp.sql(office, "DELETE FROM sites WHERE id = 'hill'")
    #expect(camp.hub("emit", "--device", "tablet", "--full").code == 0)
    try camp.carry("tablet", rounds: 2)
    try putBack()
    #expect(camp.hub("restore", "--in-place", "--yes").code == 0)
    try camp.write("later.json", #"{ "dataset": "camp", "version": 2, "tables": { "sites": { "label": "name" } } }"#)
    #expect(camp.hub("dataset", "apply", camp.path("later.json"), "--yes").code == 0)
    try camp.carry("tablet", rounds: 4)
    #expect(camp.hub("status").out.contains("Recovers") == false)
    #expect(try conflicts() == #"delete/update open ["hill"]"#)
  }

  @Test("of a row that cannot be beside a present row, a person sees the newest state, and the older ones are kept")
  func obstructedVersions() throws {
    try open()
    try lose("INSERT INTO sites VALUES ('rock', 'Stone', NULL)")
    try lose("UPDATE sites SET name = 'Rock' WHERE id = 'rock'")
    try lose("UPDATE sites SET name = 'Big rock' WHERE id = 'rock'")
    try putBack()
    try camp.sql(office, "INSERT INTO sites VALUES ('other', 'Big rock', NULL)")
    try restore()
    #expect(try sites(office) == "hill Hill, lake Lake, other Big rock")
    let kept = try camp.rows(
      office, "SELECT state || ' ' || json_extract(device_values, '$.name') FROM satchel_conflicts ORDER BY 1")
    #expect(kept == "open Big rock\nsettled Rock\nsettled Stone")
  }

  @Test("a decision about many conflicts deletes no row because a bundle of the lost time lacked it")
  func decidedTogether() throws {
    try open()
    try camp.sql(office, "DELETE FROM sites WHERE id = 'hill'")
    try camp.carry("tablet", rounds: 2)
    try putBack()
    try restore()
    #expect(try conflicts() == #"delete/update open ["hill"]"#)
    let decided = camp.hub("conflicts", "resolve", "--all", "--policy", "device")
    #expect(decided.out.contains("It would delete a row that a bundle"), "\(decided)")
    #expect(try sites(office) == "hill Hill, lake Lake")
    let id = try camp.rows(office, "SELECT id FROM satchel_conflicts")
    #expect(camp.hub("conflicts", "resolve", id, "--keep", "device").code == 0)
    #expect(try sites(office) == "lake Lake")
  }

  @Test("a lost time of a later version of the dataset waits for that version")
  func laterVersion() throws {
    try open()
    try camp.write("later.json", #"{ "dataset": "camp", "version": 2, "tables": { "sites": {} } }"#)
    try camp.write("later.sql", "ALTER TABLE sites ADD COLUMN words TEXT DEFAULT 'none'")
    func apply() throws {
      let applied = camp.hub(
        "dataset", "apply", camp.path("later.json"), "--migration", camp.path("later.sql"))
      #expect(applied.code == 0, "\(applied.error)")
    }
    try apply()
    try lose("INSERT INTO sites (id, name, words) VALUES ('rock', 'Rock', 'of the lost time')")
    try camp.sql(tablet, "UPDATE sites SET words = 'of the tablet' WHERE id = 'lake'")
    try camp.carry("tablet")
    try putBack()
    let begun = camp.hub("restore", "--in-place", "--yes")
    #expect(begun.code == 0, "\(begun.error)")
    try camp.carry("tablet", rounds: 2)
    let early = camp.hub("restore", "--finish", "--json")
    #expect(early.code != 0)
    #expect(try early.json["error"]?["reason"]?.stringValue == "newer-dataset", "\(early.out)")
    try apply()
    try camp.carry("tablet", rounds: 4)
    #expect(try camp.rows(office, "SELECT words FROM sites WHERE id = 'rock'") == "of the lost time")
    #expect(camp.hub("status").out.contains("Recovers") == false)
  }
}
