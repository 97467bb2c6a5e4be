import Foundation
import SatchelJSON
import SatchelPlatform
import Testing

/// An app recreates tables, or adds, removes or renames tables and columns.
@Suite("An app changes its tables, and nothing is lost")
struct DoctorSchemaTests {
  @Test("a table is recreated by SQLite's twelve steps, with writes and without", arguments: [true, false])
  func recreated(writes: Bool) throws {
    let camp = try CommandLineFixture.watched()
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 2 WHERE id = 'r1'")
    try camp.sql(
      "tablet/data.sqlite",
      """
      BEGIN;
      CREATE TABLE new_reviews (id TEXT PRIMARY KEY, site TEXT, author TEXT, stars INTEGER, words TEXT NOT NULL DEFAULT '');
      INSERT INTO new_reviews SELECT * FROM reviews;
      DROP TABLE reviews;
      ALTER TABLE new_reviews RENAME TO reviews;
      \(writes ? CommandLineFixture.writeUnseen : "")
      COMMIT;
      """)
    #expect(camp.device("tablet", "export").code == 1)
    // Changes that were captured earlier are still pending. An unseen write to the same row is exported with them. A
    // row that is missing from the new table does not count as deleted.
    try camp.expectRepair(writes ? 1 : 0, 0, 0)
    camp.deliver("tablet", 2)
    #expect(try camp.reviews() == (writes ? "r0|cold\nr1|unseen\nr3|steep" : "r0|cold\nr1|quiet"))
    #expect(try camp.rows("office.sqlite", "SELECT stars FROM reviews WHERE id = 'r1'") == "2")
  }

  @Test("a new column on both sides travels once both are repaired; before that the bundle waits where it is")
  func newColumn() throws {
    let camp = try CommandLineFixture.watched()
    try camp.sql(
      "tablet/data.sqlite",
      """
      UPDATE reviews SET words = 'before' WHERE id = 'r1';
      \(CommandLineFixture.dropTriggers)
      ALTER TABLE reviews ADD COLUMN mood TEXT DEFAULT 'calm';
      ALTER TABLE reviews ADD COLUMN wind;
      UPDATE reviews SET mood = 'glad' WHERE id = 'r0';
      """)
    #expect(camp.device("tablet", "status").out.contains("the new column mood, wind"))
    try camp.expectRepair(0, 1, 0)
    camp.device("tablet", "export")
    let bundle = camp.path("tablet/bundles/outbox/camp-tablet-hub-2.satchel")
    let refused = camp.hub("import", bundle, "--json")
    #expect(refused.code == 3)
    let error = try refused.json["bundles"]?.arrayValue?.first?["error"]
    #expect(error?["reason"] == "schema-differs")
    #expect(error?["message"]?.stringValue?.contains("reviews") == true)
    #expect(error?["message"]?.stringValue?.contains("mood") == true)
    #expect(camp.hub("status").out.contains("camp-tablet-hub-2.satchel: The device's table reviews"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: camp.path("hub/bundles/quarantine")).isEmpty)

    try camp.sql(
      "office.sqlite",
      """
      ALTER TABLE reviews ADD COLUMN mood TEXT DEFAULT 'calm'; ALTER TABLE reviews ADD COLUMN wind; UPDATE reviews \
      SET wind = 'N' WHERE id = 'r2'
      """
    )
    #expect(camp.hub("import", bundle).code == 1)
    #expect(camp.hub("status").out.contains("mood"))
    #expect(camp.hub("doctor", "--repair").code == 0)
    #expect(camp.hub("import", bundle).code == 0)
    #expect(!camp.hub("status").out.contains("Failed"))
    #expect(
      try camp.rows("office.sqlite", "SELECT id, words, mood, wind FROM reviews ORDER BY id")
        == "r0|cold|glad|NULL\nr1|before|calm|NULL\nr2|dark|calm|N")

    // The phone has an old release of the app, without the two new columns.
    try camp.sql("phone/data.sqlite", "INSERT INTO reviews VALUES ('r9', 'hill', 'ben', 5, 'high')")
    camp.deliver("phone", 1)
    #expect(try camp.rows("office.sqlite", "SELECT mood, wind FROM reviews WHERE id = 'r9'") == "calm|NULL")
    camp.hub("emit", "--device", "phone")
    let answer = camp.path("hub/bundles/outbox/camp-hub-phone-2.satchel")
    let early = camp.device("phone", "import", answer, "--json")
    #expect(early.code == 3)
    #expect(try early.json["bundles"]?.arrayValue?.first?["error"]?["message"]?.stringValue?.contains("mood") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: camp.path("phone/bundles/quarantine")).isEmpty)
    #expect(camp.device("phone", "status").out.contains("camp-hub-phone-2.satchel: The table reviews has the column"))
    try camp.sql(
      "phone/data.sqlite",
      "ALTER TABLE reviews ADD COLUMN mood TEXT DEFAULT 'calm'; ALTER TABLE reviews ADD COLUMN wind")
    #expect(camp.device("phone", "doctor", "--repair").code == 0)
    #expect(camp.device("phone", "import", answer).code == 0)
    #expect(!camp.device("phone", "status").out.contains("Failed"))
    #expect(try camp.rows("phone/data.sqlite", "SELECT mood, wind FROM reviews WHERE id = 'r0'") == "glad|NULL")
    camp.answer("tablet", 3)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    #expect(camp.hub("doctor").out == "All is well.\n")
  }

  @Test("a column gets another name: pending changes of it follow, and reach a hub that has renamed it too")
  func renamedColumn() throws {
    let camp = try CommandLineFixture.watched()
    try camp.sql(
      "tablet/data.sqlite",
      """
      UPDATE reviews SET words = 'pending' WHERE id = 'r1';
      ALTER TABLE reviews RENAME COLUMN words TO text;
      """)
    #expect(camp.device("tablet", "status").out.contains("calls the column words now text"))
    try camp.expectRepair(0, 0, 0)
    camp.device("tablet", "export")
    let bundle = camp.path("tablet/bundles/outbox/camp-tablet-hub-2.satchel")
    #expect(camp.hub("import", bundle).code == 3)
    try camp.sql(
      "office.sqlite",
      "UPDATE reviews SET words = 'office' WHERE id = 'r1'; ALTER TABLE reviews RENAME COLUMN words TO text")
    #expect(camp.hub("doctor", "--repair").code == 0)
    #expect(camp.hub("import", bundle).code == 0)
    // Both sides changed the column, and the hub finds this conflict under the column's new name.
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
    let camp = try CommandLineFixture.watched()
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

    try camp.write(
      "two.json", CommandLineFixture.definition.replacingOccurrences(of: "\"version\": 1", with: "\"version\": 2"))
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
    let camp = try CommandLineFixture.watched()
    let before = try camp.rows("tablet/data.sqlite", "SELECT * FROM reviews")
    #expect(throws: (any Error).self) { try camp.sql("tablet/data.sqlite", "ALTER TABLE reviews DROP COLUMN stars") }
    #expect(try camp.rows("tablet/data.sqlite", "SELECT * FROM reviews") == before)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    try camp.sql(
      "tablet/data.sqlite",
      CommandLineFixture.dropTriggers
        + "ALTER TABLE reviews DROP COLUMN words; UPDATE reviews SET author = 'ann' WHERE id = 'r1'")
    #expect(camp.device("tablet", "status").out.contains("no longer has the column words"))
    try camp.expectRepair(0, 0, 0)
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('r4', 'lake', 'ann', 5)")
    camp.deliver("tablet", 2)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r4'") == "NULL")
    #expect(
      try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "quiet", "the hub keeps its column"
    )
  }

  @Test("a dropped column takes along what was written into it, and a person reads that before and after the repair")
  func droppedColumnWithWork() throws {
    let camp = try CommandLineFixture.watched()
    let loss = "anything written into words there is lost"
    let drop = CommandLineFixture.dropTriggers + "ALTER TABLE reviews DROP COLUMN words"
    let quiet = try CommandLineFixture.watched()
    // This change is in an export before the column is dropped.
    for camp in [camp, quiet] {
      try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'sent' WHERE id = 'r1'")
      #expect(camp.device("tablet", "export").code == 0)
    }
    try quiet.sql("tablet/data.sqlite", drop)
    #expect(!quiet.device("tablet", "status").out.contains(loss))
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'unsent' WHERE id = 'r1'")
    try camp.sql("tablet/data.sqlite", drop)
    for words in [["status"], ["doctor"], ["doctor", "--repair"]] {
      let outcome = camp.deviceAnywhere(["-C", camp.path("tablet")] + words)
      #expect(outcome.out.contains(loss), "\(words): \(outcome.out)\(outcome.error)")
    }
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }

  @Test("a table that is renamed or dropped is named, with what to do, and comes back whole")
  func lostTable() throws {
    let camp = try CommandLineFixture.watched()
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
    let camp = try CommandLineFixture.watched()
    try camp.sql(
      "tablet/data.sqlite",
      """
      CREATE TABLE new_reviews (id TEXT PRIMARY KEY, site TEXT, author TEXT, stars TEXT, words TEXT);
      INSERT INTO new_reviews SELECT * FROM reviews;
      DROP TABLE reviews;
      ALTER TABLE new_reviews RENAME TO reviews;
      CREATE UNIQUE INDEX one_each ON reviews (author, words);
      """)
    // The new table stores the stars as texts. The repair reports no change, because the hub's values are converted
    // before the comparison.
    try camp.expectRepair(0, 0, 0)
    try camp.sql("tablet/data.sqlite", "INSERT OR REPLACE INTO reviews VALUES ('r5', 'hill', 'ann', 4, 'quiet')")
    camp.deliver("tablet", 2)
    #expect(try camp.reviews() == "r0|cold\nr5|quiet")
    #expect(try camp.rows("office.sqlite", "SELECT typeof(stars) FROM reviews WHERE id = 'r5'") == "integer")
    try camp.sql("tablet/data.sqlite", "CREATE UNIQUE INDEX other ON reviews (site, words)")
    #expect(camp.device("tablet", "doctor").out.contains("trigger"))
    try camp.expectRepair(0, 0, 0)
  }
}
