import Foundation
import SatchelJSON
import SatchelPlatform
import Testing

/// What apps and people do to a database behind Satchel's back, and what becomes of it.
@Suite("Nothing that went by unseen is lost")
struct DoctorTests {
  private static let dropTriggers = ["before_insert", "before_update", "before_delete", "tidy"]
    .map { #"DROP TRIGGER "satchel_\#($0):reviews";"# }.joined(separator: "\n")

  private static let writeUnseen = """
    UPDATE reviews SET words = 'unseen' WHERE id = 'r1';
    INSERT INTO reviews VALUES ('r3', 'hill', 'ann', 3, 'steep');
    DELETE FROM reviews WHERE id = 'r0';
    """

  /// A camp whose tablet has a review more, that may go.
  private func camp() throws -> Camp {
    let camp = try Camp()
    try camp.open()
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('r0', 'lake', 'ann', 1, 'cold')")
    camp.deliver("tablet", 1)
    camp.answer("tablet", 2)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    return camp
  }

  /// Repairs the tablet, and expects these counts of unseen changes.
  private func repair(_ camp: Camp, _ inserted: Int64, _ updated: Int64, _ deleted: Int64) throws {
    let looked = camp.device("tablet", "doctor", "--json")
    #expect(looked.code == 1)
    let outcome = camp.device("tablet", "doctor", "--repair", "--json")
    #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)")
    for document in [try looked.json, try outcome.json] {
      let unseen = document["unseen"]?["reviews"]
      #expect(unseen?["inserted"]?.integerValue ?? 0 == inserted)
      #expect(unseen?["updated"]?.integerValue ?? 0 == updated)
      #expect(unseen?["deleted"]?.integerValue ?? 0 == deleted)
    }
    let again = camp.device("tablet", "doctor")
    #expect(again.out == "All is well.\n", "\(again.error)")
  }

  private func reviews(_ camp: Camp, _ database: String = "office.sqlite") throws -> String {
    try camp.rows(database, "SELECT id, words FROM reviews WHERE author = 'ann' ORDER BY id")
  }

  @Test("triggers are dropped, and then rows inserted, updated and deleted: the hub gets all of it")
  func triggersDropped() throws {
    let camp = try camp()
    try camp.sql("tablet/data.sqlite", Self.dropTriggers + Self.writeUnseen)
    #expect(camp.device("tablet", "export").code == 1)
    camp.hub("emit", "--device", "tablet", "--full")
    let arrived = camp.device("tablet", "import", camp.path("hub/bundles/outbox/camp-hub-tablet-3.satchel"))
    #expect(arrived.code == 1, "an import would write over what nobody saw")
    try repair(camp, 1, 1, 1)
    camp.deliver("tablet", 2)
    #expect(try reviews(camp) == "r1|unseen\nr3|steep")
  }

  @Test("a row that was exported, and written unseen before the hub acknowledged it, arrives as it is now")
  func unseenAfterExport() throws {
    let camp = try camp()
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'seen' WHERE id = 'r1'")
    camp.deliver("tablet", 2)
    try camp.sql("tablet/data.sqlite", Self.dropTriggers + "UPDATE reviews SET words = 'unseen' WHERE id = 'r1'")
    try repair(camp, 0, 1, 0)
    camp.deliver("tablet", 3)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "unseen")
    #expect(try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.count == 0)
  }

  @Test("a row that an export brought to the hub, and that was deleted unseen, goes there too")
  func unseenDeleteAfterExport() throws {
    let camp = try camp()
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('r3', 'hill', 'ann', 3, 'steep')")
    camp.deliver("tablet", 2)
    #expect(try reviews(camp) == "r0|cold\nr1|quiet\nr3|steep")
    try camp.sql(
      "tablet/data.sqlite", Self.dropTriggers + "DROP TABLE satchel_before_reviews; DELETE FROM reviews WHERE id = 'r3'"
    )
    try repair(camp, 0, 0, 1)
    camp.deliver("tablet", 3)
    #expect(try reviews(camp) == "r0|cold\nr1|quiet")
  }

  @Test(
    "a table of pre-images is dropped: what was pending in it arrives all the same",
    arguments: [["before"], ["writes"], ["before", "writes"]])
  func savedDropped(kinds: [String]) throws {
    let camp = try camp()
    try camp.sql("tablet/data.sqlite", Self.writeUnseen)
    for kind in kinds { try camp.sql("tablet/data.sqlite", "DROP TABLE satchel_\(kind)_reviews") }
    if kinds.contains("writes") {
      #expect(throws: (any Error).self) { try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'x'") }
    }
    #expect(camp.device("tablet", "status").out.contains("satchel_\(kinds[0])_reviews"))
    try repair(camp, 1, 1, 1)
    camp.deliver("tablet", 2)
    #expect(try reviews(camp) == "r1|unseen\nr3|steep")
  }

  @Test("a table is made anew by SQLite's twelve steps, with writes and without", arguments: [true, false])
  func recreated(writes: Bool) throws {
    let camp = try camp()
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 2 WHERE id = 'r1'")
    try camp.sql(
      "tablet/data.sqlite",
      """
      BEGIN;
      CREATE TABLE new_reviews (id TEXT PRIMARY KEY, site TEXT, author TEXT, stars INTEGER, words TEXT NOT NULL DEFAULT '');
      INSERT INTO new_reviews SELECT * FROM reviews;
      DROP TABLE reviews;
      ALTER TABLE new_reviews RENAME TO reviews;
      \(writes ? Self.writeUnseen : "")
      COMMIT;
      """)
    #expect(camp.device("tablet", "export").code == 1)
    // What was captured before is pending still: with it goes what was written into the same row unseen. That a row
    // lacks is no delete.
    try repair(camp, writes ? 1 : 0, 0, 0)
    camp.deliver("tablet", 2)
    #expect(try reviews(camp) == (writes ? "r0|cold\nr1|unseen\nr3|steep" : "r0|cold\nr1|quiet"))
    #expect(try camp.rows("office.sqlite", "SELECT stars FROM reviews WHERE id = 'r1'") == "2")
  }

  @Test("a new column on both sides travels once both are repaired; before that the bundle waits where it is")
  func newColumn() throws {
    let camp = try camp()
    try camp.sql(
      "tablet/data.sqlite",
      """
      UPDATE reviews SET words = 'before' WHERE id = 'r1';
      \(Self.dropTriggers)
      ALTER TABLE reviews ADD COLUMN mood TEXT DEFAULT 'calm';
      ALTER TABLE reviews ADD COLUMN wind;
      UPDATE reviews SET mood = 'glad' WHERE id = 'r0';
      """)
    #expect(camp.device("tablet", "status").out.contains("the new column mood, wind"))
    try repair(camp, 0, 1, 0)
    camp.device("tablet", "export")
    let bundle = camp.path("tablet/bundles/outbox/camp-tablet-hub-2.satchel")
    let refused = camp.hub("import", bundle, "--json")
    #expect(refused.code == 3)
    let error = try refused.json["bundles"]?.arrayValue?.first?["error"]
    #expect(error?["reason"] == "schema-differs")
    #expect(error?["message"]?.stringValue?.contains("reviews") == true)
    #expect(error?["message"]?.stringValue?.contains("mood") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: camp.path("hub/bundles/quarantine")).isEmpty)

    try camp.sql(
      "office.sqlite",
      "ALTER TABLE reviews ADD COLUMN mood TEXT DEFAULT 'calm'; ALTER TABLE reviews ADD COLUMN wind; UPDATE reviews SET wind = 'N' WHERE id = 'r2'"
    )
    #expect(camp.hub("import", bundle).code == 1)
    #expect(camp.hub("status").out.contains("mood"))
    #expect(camp.hub("doctor", "--repair").code == 0)
    #expect(camp.hub("import", bundle).code == 0)
    #expect(
      try camp.rows("office.sqlite", "SELECT id, words, mood, wind FROM reviews ORDER BY id")
        == "r0|cold|glad|NULL\nr1|before|calm|NULL\nr2|dark|calm|N")

    // The phone's app is an old one: it has neither column.
    try camp.sql("phone/data.sqlite", "INSERT INTO reviews VALUES ('r9', 'hill', 'ben', 5, 'high')")
    camp.deliver("phone", 1)
    #expect(try camp.rows("office.sqlite", "SELECT mood, wind FROM reviews WHERE id = 'r9'") == "calm|NULL")
    camp.hub("emit", "--device", "phone")
    let answer = camp.path("hub/bundles/outbox/camp-hub-phone-2.satchel")
    let early = camp.device("phone", "import", answer, "--json")
    #expect(early.code == 3)
    #expect(try early.json["bundles"]?.arrayValue?.first?["error"]?["message"]?.stringValue?.contains("mood") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: camp.path("phone/bundles/quarantine")).isEmpty)
    try camp.sql(
      "phone/data.sqlite",
      "ALTER TABLE reviews ADD COLUMN mood TEXT DEFAULT 'calm'; ALTER TABLE reviews ADD COLUMN wind")
    #expect(camp.device("phone", "doctor", "--repair").code == 0)
    #expect(camp.device("phone", "import", answer).code == 0)
    #expect(try camp.rows("phone/data.sqlite", "SELECT mood, wind FROM reviews WHERE id = 'r0'") == "glad|NULL")
    camp.answer("tablet", 3)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    #expect(camp.hub("doctor").out == "All is well.\n")
  }

  @Test("a column gets another name: pending changes of it follow, and reach a hub that has renamed it too")
  func renamedColumn() throws {
    let camp = try camp()
    try camp.sql(
      "tablet/data.sqlite",
      """
      UPDATE reviews SET words = 'pending' WHERE id = 'r1';
      ALTER TABLE reviews RENAME COLUMN words TO text;
      """)
    #expect(camp.device("tablet", "status").out.contains("calls the column words now text"))
    try repair(camp, 0, 0, 0)
    camp.device("tablet", "export")
    let bundle = camp.path("tablet/bundles/outbox/camp-tablet-hub-2.satchel")
    #expect(camp.hub("import", bundle).code == 3)
    try camp.sql(
      "office.sqlite",
      "UPDATE reviews SET words = 'office' WHERE id = 'r1'; ALTER TABLE reviews RENAME COLUMN words TO text")
    #expect(camp.hub("doctor", "--repair").code == 0)
    #expect(camp.hub("import", bundle).code == 0)
    // Both changed it: that is found under the new name too.
    let conflict = try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.first
    #expect(conflict?["device_values"]?["text"] == "pending")
    #expect(try camp.rows("office.sqlite", "SELECT text FROM reviews WHERE id = 'r1'") == "office")
    camp.answer("tablet", 3)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT text FROM reviews WHERE id = 'r1'") == "office")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    #expect(camp.hub("doctor").out == "All is well.\n")
  }

  @Test(
    "a column that an app renamed: the bundle says so, and the hub prints the migration that renames it for everybody")
  func renamedByApp() throws {
    let camp = try camp()
    try camp.sql(
      "tablet/data.sqlite",
      "ALTER TABLE reviews RENAME COLUMN words TO \"the text\"; UPDATE reviews SET \"the text\" = 'new' WHERE id = 'r1'"
    )
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    try camp.sql("tablet/data.sqlite", "ALTER TABLE reviews RENAME COLUMN \"the text\" TO note")
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    #expect(camp.device("tablet", "export").code == 0)
    let bundle = try camp.newestBundle(in: "tablet/bundles/outbox", "camp-tablet-hub-")
    let refused = camp.hub("import", bundle)
    #expect(refused.code == 3)
    #expect(refused.error.contains("the column words of the table reviews has the name note now"), "\(refused.error)")
    let sql = #"ALTER TABLE "reviews" RENAME COLUMN "words" TO "note""#
    #expect(refused.error.contains(sql))

    try camp.write("two.json", Camp.definition.replacingOccurrences(of: "\"version\": 1", with: "\"version\": 2"))
    try camp.write("two.sql", sql)
    let applied = camp.hub("dataset", "apply", camp.path("two.json"), "--migration", camp.path("two.sql"))
    #expect(applied.code == 0, "\(applied.error)")
    #expect(camp.hub("import", bundle).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT note FROM reviews WHERE id = 'r1'") == "new")
    camp.hub("emit", "--device", "tablet")
    let answer = try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-")
    let taken = camp.device("tablet", "import", "--migrated", answer)
    #expect(taken.code == 0, "\(taken.error)")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }

  @Test("a column cannot be dropped while it is captured, and can once the triggers are gone")
  func droppedColumn() throws {
    let camp = try camp()
    let before = try camp.rows("tablet/data.sqlite", "SELECT * FROM reviews")
    #expect(throws: (any Error).self) { try camp.sql("tablet/data.sqlite", "ALTER TABLE reviews DROP COLUMN stars") }
    #expect(try camp.rows("tablet/data.sqlite", "SELECT * FROM reviews") == before)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    try camp.sql(
      "tablet/data.sqlite",
      Self.dropTriggers + "ALTER TABLE reviews DROP COLUMN words; UPDATE reviews SET author = 'ann' WHERE id = 'r1'")
    #expect(camp.device("tablet", "status").out.contains("has no longer the column words"))
    try repair(camp, 0, 0, 0)
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('r4', 'lake', 'ann', 5)")
    camp.deliver("tablet", 2)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r4'") == "NULL")
    #expect(
      try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "quiet", "the hub keeps its column"
    )
  }

  @Test("a table that is renamed or dropped is named, with what to do, and comes back whole")
  func lostTable() throws {
    let camp = try camp()
    try camp.sql(
      "tablet/data.sqlite", "UPDATE reviews SET words = 'x' WHERE id = 'r1'; ALTER TABLE reviews RENAME TO notes")
    let looked = camp.device("tablet", "doctor")
    #expect(looked.code == 1)
    #expect(looked.out.contains("the table reviews was renamed to notes"))
    #expect(camp.device("tablet", "status").out.contains("renamed to notes"))
    #expect(camp.device("tablet", "doctor", "--repair").code == 1)
    try camp.sql(
      "tablet/data.sqlite", "UPDATE notes SET stars = 1 WHERE id = 'r1'; ALTER TABLE notes RENAME TO reviews")
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    camp.deliver("tablet", 2)
    #expect(try camp.rows("office.sqlite", "SELECT words, stars FROM reviews WHERE id = 'r1'") == "x|1")

    try camp.sql("tablet/data.sqlite", "DROP TABLE reviews")
    #expect(camp.device("tablet", "doctor").out.contains("the table reviews is gone"))
    #expect(camp.device("tablet", "export").code == 1)
  }

  @Test("another type and a new UNIQUE index are followed by capture")
  func typeAndIndex() throws {
    let camp = try camp()
    try camp.sql(
      "tablet/data.sqlite",
      """
      CREATE TABLE new_reviews (id TEXT PRIMARY KEY, site TEXT, author TEXT, stars TEXT, words TEXT);
      INSERT INTO new_reviews SELECT * FROM reviews;
      DROP TABLE reviews;
      ALTER TABLE new_reviews RENAME TO reviews;
      CREATE UNIQUE INDEX one_each ON reviews (author, words);
      """)
    // The same stars as texts are what these columns make of the hub's.
    try repair(camp, 0, 0, 0)
    try camp.sql("tablet/data.sqlite", "INSERT OR REPLACE INTO reviews VALUES ('r5', 'hill', 'ann', 4, 'quiet')")
    camp.deliver("tablet", 2)
    #expect(try reviews(camp) == "r0|cold\nr5|quiet")
    #expect(try camp.rows("office.sqlite", "SELECT typeof(stars) FROM reviews WHERE id = 'r5'") == "integer")
    try camp.sql("tablet/data.sqlite", "CREATE UNIQUE INDEX other ON reviews (site, words)")
    #expect(camp.device("tablet", "doctor").out.contains("trigger"))
    try repair(camp, 0, 0, 0)
  }

  @Test("another device's database is named, and nothing of it is touched")
  func otherDevice() throws {
    let camp = try camp()
    try Data(camp.read("phone/data.sqlite")).write(to: URL(fileURLWithPath: camp.path("tablet/data.sqlite")))
    let before = try camp.read("tablet/data.sqlite")
    let outcome = camp.device("tablet", "doctor")
    #expect(outcome.code == 1)
    #expect(outcome.out.contains("belongs to the device phone"))
    #expect(camp.device("tablet", "doctor", "--repair").code == 1)
    #expect(try camp.read("tablet/data.sqlite") == before)
  }

  @Test("an old copy is brought to where the newer file was, and what was written into it comes on top")
  func oldCopy() throws {
    let camp = try camp()
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'on the way' WHERE id = 'r0'")
    let copy = try camp.read("tablet/data.sqlite")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'one' WHERE id = 'r1'")
    camp.deliver("tablet", 2)
    try camp.sql("office.sqlite", "UPDATE reviews SET stars = 9 WHERE id = 'r0'")
    camp.answer("tablet", 3)
    try camp.sql(
      "tablet/data.sqlite",
      "UPDATE reviews SET words = 'two' WHERE id = 'r0'; INSERT INTO reviews VALUES ('r3', 'hill', 'ann', 3, 'three')")
    camp.device("tablet", "export")

    try Data(copy).write(to: URL(fileURLWithPath: camp.path("tablet/data.sqlite")))
    try camp.sql(
      "tablet/data.sqlite",
      "UPDATE reviews SET stars = 1 WHERE id = 'r1'; INSERT INTO reviews VALUES ('r4', 'lake', 'ann', 4, 'own')")
    #expect(camp.device("tablet", "status").out.contains("an old copy of itself"))
    #expect(camp.device("tablet", "export").code == 1)
    let looked = camp.device("tablet", "doctor")
    #expect(looked.code == 1)
    #expect(looked.out.contains("Next: satchel doctor --repair"))
    let old = try camp.read("tablet/data.sqlite")
    #expect(camp.device("tablet", "doctor", "--repair", "--dry-run").code == 0)
    #expect(try camp.read("tablet/data.sqlite") == old)
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.error)")
    let all = "r0|two|9\nr1|one|1\nr3|three|3\nr4|own|4"
    let query = "SELECT id, words, stars FROM reviews WHERE author = 'ann' ORDER BY id"
    #expect(try camp.rows("tablet/data.sqlite", query) == all)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")

    camp.hub("import", camp.path("tablet/bundles/outbox/camp-tablet-hub-3.satchel"))
    camp.deliver("tablet", 4)
    #expect(try camp.rows("office.sqlite", query) == all)
    #expect(try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue?.count == 0)
    camp.answer("tablet", 4)
    #expect(try camp.rows("tablet/data.sqlite", query) == all)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }

  @Test(
    "an old copy whose triggers are gone too is brought to where the newer file was, with what went by unseen in it")
  func damagedOldCopy() throws {
    let camp = try camp()
    let copy = try camp.read("tablet/data.sqlite")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'one' WHERE id = 'r1'")
    camp.deliver("tablet", 2)
    try Data(copy).write(to: URL(fileURLWithPath: camp.path("tablet/data.sqlite")))
    try camp.sql("tablet/data.sqlite", Self.dropTriggers + "UPDATE reviews SET stars = 3 WHERE id = 'r0'")
    let before = try camp.read("tablet/data.sqlite")
    let looked = camp.device("tablet", "doctor")
    #expect(looked.code == 1)
    #expect(
      looked.out.contains("an old copy of itself")
        && looked.out.contains("reviews: 0 inserted, 1 updated, 0 deleted unseen."))
    #expect(camp.device("tablet", "doctor", "--repair", "--dry-run").code == 0)
    #expect(try camp.read("tablet/data.sqlite") == before)
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    camp.deliver("tablet", 3)
    let query = "SELECT id, words, stars FROM reviews WHERE author = 'ann' ORDER BY id"
    #expect(try camp.rows("office.sqlite", query) == "r0|cold|3\nr1|one|4")
    #expect(try camp.rows("tablet/data.sqlite", query) == "r0|cold|3\nr1|one|4")
  }

  @Test("an old copy without triggers, of whose time no bundle tells, is not touched")
  func damagedOldCopyOfLongAgo() throws {
    let camp = try camp()
    let copy = try camp.read("tablet/data.sqlite")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'one' WHERE id = 'r1'")
    camp.deliver("tablet", 2)
    camp.hub("emit", "--device", "tablet", "--full")
    camp.device("tablet", "import", camp.path("hub/bundles/outbox/camp-hub-tablet-3.satchel"))
    try Data(copy).write(to: URL(fileURLWithPath: camp.path("tablet/data.sqlite")))
    try camp.sql("tablet/data.sqlite", Self.dropTriggers)
    let before = try camp.read("tablet/data.sqlite")
    #expect(camp.device("tablet", "doctor").out.contains("Keep it aside"))
    #expect(camp.device("tablet", "doctor", "--repair").code == 1)
    #expect(try camp.read("tablet/data.sqlite") == before)
  }

  @Test("a hub that has no base gets one from a repair, and knows from then on")
  func newBase() throws {
    let camp = try camp()
    let base = try camp.newestBundle(in: "hub/bundles/archive", "camp-hub-hub-v1-")
    try FileManager.default.removeItem(atPath: base)
    #expect(camp.hub("doctor").code == 1)
    try camp.sql("office.sqlite", "UPDATE reviews SET stars = 5 WHERE id = 'r1'")
    #expect(camp.hub("doctor", "--repair").code == 0)
    #expect(!FileManager.default.fileExists(atPath: base))
    #expect(camp.hub("doctor").out == "All is well.\n")
    try camp.sql("office.sqlite", Self.dropTriggers + "UPDATE reviews SET stars = 2 WHERE id = 'r1'")
    #expect(camp.hub("doctor").out.contains("reviews: 0 inserted, 1 updated, 0 deleted unseen."))
  }

  /// The app saves into a new file and puts it in the place of the old one.
  private func replaceFile(_ camp: Camp, _ statements: String = "") throws {
    let rows = try camp.rows(
      "tablet/data.sqlite",
      "SELECT 'INSERT INTO reviews VALUES (' || quote(id) || ',' || quote(site) || ',' || quote(author) || ',' || quote(stars) || ',' || quote(words) || ');' FROM reviews"
    )
    let sites = try camp.rows(
      "tablet/data.sqlite",
      "SELECT 'INSERT INTO sites VALUES (' || quote(id) || ',' || quote(name) || ',' || quote(tier) || ');' FROM sites")
    try FileManager.default.removeItem(atPath: camp.path("tablet/data.sqlite"))
    try camp.sql(
      "tablet/data.sqlite",
      """
      CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT, tier INTEGER);
      CREATE TABLE reviews (id TEXT PRIMARY KEY, site TEXT REFERENCES sites (id), author TEXT, stars INTEGER, words TEXT);
      CREATE TABLE settings (name TEXT);
      \(sites) \(rows) \(statements)
      """)
  }

  @Test(
    "a file that the app saved anew is the device's again, and what was written meanwhile reaches the hub",
    arguments: [true, false])
  func replaced(deleted: Bool) throws {
    let camp = try camp()
    // On its way, pending, and both with a row that the file says otherwise about.
    try camp.sql(
      "tablet/data.sqlite",
      "INSERT INTO reviews VALUES ('r5', 'hill', 'ann', 5, 'told'); UPDATE reviews SET stars = 2 WHERE id = 'r1'")
    camp.device("tablet", "export")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'never told' WHERE id = 'r5'")
    try replaceFile(camp, Self.writeUnseen)
    let before = try camp.read("tablet/data.sqlite")

    #expect(camp.device("tablet", "status").out.contains("put a new file in the place of its database"))
    #expect(try camp.device("tablet", "status", "--json").json["state"] == "replaced")
    #expect(camp.device("tablet", "export").code == 1)
    let looked = camp.device("tablet", "doctor")
    #expect(looked.code == 1)
    #expect(looked.out.contains("reviews: 1 row known and not in it"))
    #expect(looked.out.contains("Next: satchel doctor --repair"))
    #expect(camp.device("tablet", "doctor", "--repair", "--dry-run").code == 0)
    #expect(try camp.read("tablet/data.sqlite") == before)

    let repaired =
      deleted ? camp.device("tablet", "doctor", "--repair", "--deleted") : camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.error)")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM settings") == "0")
    camp.hub("import", camp.path("tablet/bundles/sent/camp-tablet-hub-2.satchel"))
    camp.hub("import", camp.path("tablet/bundles/outbox/camp-tablet-hub-2.satchel"))
    camp.deliver("tablet", 3)
    let all = (deleted ? "" : "r0|cold|1\n") + "r1|unseen|2\nr3|steep|3\nr5|never told|5"
    let query = "SELECT id, words, stars FROM reviews WHERE author = 'ann' ORDER BY id"
    #expect(try camp.rows("office.sqlite", query) == all)
    #expect(try camp.rows("tablet/data.sqlite", query) == all)
    #expect(try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue?.count == 0)
    camp.answer("tablet", 3)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }

  @Test("an app that begins with an empty file loses nothing: all rows are put back")
  func replacedByEmptyFile() throws {
    let camp = try camp()
    let rows = try camp.rows("tablet/data.sqlite", "SELECT * FROM reviews ORDER BY id")
    try replaceFile(camp, "DELETE FROM reviews; DELETE FROM sites;")
    #expect(camp.device("tablet", "doctor", "--repair").out.contains("sites: 2 rows that it lacked put back."))
    #expect(try camp.rows("tablet/data.sqlite", "SELECT * FROM reviews ORDER BY id") == rows)
    #expect(camp.device("tablet", "export").out.hasPrefix("Nothing is new since export 1."))
  }

  @Test("a file that lacks the dataset's tables, or is no database, is named and kept", arguments: [true, false])
  func otherFile(isDatabase: Bool) throws {
    let camp = try camp()
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('r6', 'lake', 'ann', 2, 'on its way')")
    camp.device("tablet", "export")
    try FileManager.default.moveItem(atPath: camp.path("tablet/data.sqlite"), toPath: camp.path("old.sqlite"))
    if isDatabase {
      try camp.sql(
        "tablet/data.sqlite", "CREATE TABLE reviews (id TEXT PRIMARY KEY); INSERT INTO reviews VALUES ('r7')")
    } else {
      try camp.write("tablet/data.sqlite", String(repeating: "no database", count: 1000))
    }
    let before = try camp.read("tablet/data.sqlite")
    let outcome = camp.device("tablet", "doctor", "--json")
    #expect(outcome.code == 1)
    let reason = try outcome.json["findings"]?.arrayValue?.first?["reason"]
    #expect(reason == (isDatabase ? "replaced" : "corrupt"))
    #expect(camp.device("tablet", "doctor", "--repair").code == 1)
    #expect(try camp.read("tablet/data.sqlite") == before)

    // As doctor says: aside with it, and a full bundle makes the database anew. What is on its way is in the next
    // export too.
    try FileManager.default.removeItem(atPath: camp.path("tablet/data.sqlite"))
    camp.hub("emit", "--device", "tablet", "--full")
    #expect(camp.device("tablet", "import", camp.path("hub/bundles/outbox/camp-hub-tablet-3.satchel")).code == 0)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'later' WHERE id = 'r1'")
    camp.device("tablet", "export")
    #expect(camp.hub("import", camp.path("tablet/bundles/outbox/camp-tablet-hub-3.satchel")).code == 0)
    #expect(try reviews(camp) == "r0|cold\nr1|later\nr6|on its way")
  }

  @Test("without the bundles that tell what was there nothing is repaired, and with them it is")
  func lostArchive() throws {
    let camp = try camp()
    let archived = camp.path("tablet/bundles/archive/camp-hub-tablet-1.satchel")
    try FileManager.default.moveItem(atPath: archived, toPath: camp.path("aside"))
    #expect(
      try camp.device("tablet", "doctor", "--json").json["findings"]?.arrayValue?.first?["reason"] == "no-history")
    try camp.sql("tablet/data.sqlite", Self.dropTriggers + Self.writeUnseen)
    let before = try camp.read("tablet/data.sqlite")
    #expect(camp.device("tablet", "doctor", "--repair").code == 1)
    #expect(try camp.read("tablet/data.sqlite") == before)
    // The hub has the same file.
    try FileManager.default.copyItem(atPath: camp.path("hub/bundles/sent/camp-hub-tablet-1.satchel"), toPath: archived)
    try repair(camp, 1, 1, 1)

    var bytes = try camp.read("tablet/bundles/archive/camp-hub-tablet-2.satchel")
    bytes[bytes.count / 2] ^= 1
    try Data(bytes).write(to: URL(fileURLWithPath: camp.path("tablet/bundles/archive/camp-hub-tablet-2.satchel")))
    let damaged = camp.device("tablet", "doctor")
    #expect(damaged.code == 1)
    #expect(damaged.out.contains("damaged"))
  }

  @Test("what was written at the hub unseen reaches the devices")
  func atTheHub() throws {
    let camp = try camp()
    #expect(camp.hub("doctor").out == "All is well.\n")
    try camp.sql("office.sqlite", "UPDATE reviews SET stars = 5 WHERE id = 'r1'")
    try camp.sql("office.sqlite", Self.dropTriggers + Self.writeUnseen + "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    #expect(camp.hub("emit", "--all").code == 1)
    #expect(camp.hub("user", "add", "eve", "tier=1").code == 1)
    #expect(camp.hub("doctor").out.contains("reviews: 1 inserted, 0 updated, 1 deleted unseen."))
    #expect(camp.hub("doctor", "--repair").code == 0)
    #expect(camp.hub("doctor").out == "All is well.\n")
    camp.answer("tablet", 3)
    #expect(
      try camp.rows("tablet/data.sqlite", "SELECT id, words, stars FROM reviews ORDER BY id")
        == "r1|unseen|1\nr3|steep|3")
    #expect(camp.hub("doctor").out == "All is well.\n")
  }

  @Test("a rehearsal of a repair, and a look, change nothing")
  func rehearsal() throws {
    let camp = try camp()
    try camp.sql("tablet/data.sqlite", Self.dropTriggers + Self.writeUnseen)
    try camp.write("tablet/bundles/inbox/.satchel-left", "x")
    let before = try camp.everything()
    let looked = camp.device("tablet", "doctor")
    #expect(looked.out.contains(".satchel-left"))
    #expect(looked.out.contains("Next: satchel doctor --repair"))
    #expect(camp.device("tablet", "doctor", "--repair", "--dry-run").code == 0)
    #expect(try camp.everything() == before)
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    #expect(!FileManager.default.fileExists(atPath: camp.path("tablet/bundles/inbox/.satchel-left")))
  }

  @Test("a secret key that others can read and rows that refer to nothing are found")
  func otherFindings() throws {
    let camp = try camp()
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: camp.path("tablet/keys/own.key"))
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET site = 'nowhere' WHERE id = 'r1'")
    let findings = try camp.device("tablet", "doctor", "--json").json["findings"]?.arrayValue?.compactMap {
      $0["reason"]?.stringValue
    }
    #expect(findings == ["open-key", "foreign-keys"])
  }

  @Test("a change that lost against a whole row of a full bundle, after it was exported, is no unseen change")
  func lostWholeRow() throws {
    let camp = try Camp()
    try camp.makeOffice()
    try camp.write(
      "camp.json",
      #"{ "dataset": "camp", "version": 1, "tables": { "sites": {}, "reviews": { "conflict": "newest", "merge": "row" } } }"#
    )
    camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
    camp.hub("user", "add", "ann")
    camp.hub("device", "provision", "tablet", "--user", "ann", "--into", camp.path("tablet"))
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.device("tablet", "export")
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'later' WHERE id = 'r1'")
    camp.hub("emit", "--device", "tablet", "--full")
    #expect(camp.device("tablet", "import", camp.path("hub/bundles/outbox/camp-hub-tablet-2.satchel")).code == 0)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT stars, words FROM reviews WHERE id = 'r1'") == "4|later")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    // What is written behind its back is found all the same.
    try camp.sql("tablet/data.sqlite", Self.dropTriggers + Self.writeUnseen.split(separator: ";")[0])
    try repair(camp, 0, 1, 0)
  }
}
