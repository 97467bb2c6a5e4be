import Foundation
import SatchelJSON
import Testing

/// The app's own tool has migrated the hub's database. Satchel then records the migration for the devices.
@Suite("Migrations that another tool ran at the hub")
struct MigratedHubTests {
  private let camp: VersionFixture

  init() throws { camp = try VersionFixture() }

  /// The tool runs the migration. Then the operator applies the new version.
  private func migrate(
    _ migration: String, _ definition: String = VersionTests.definition(2)
  ) throws -> CommandLineFixture.Outcome {
    try camp.write("office", migration)
    return try camp.tryToApply(definition, migration, "--migrated")
  }

  @Test("the migration is recorded and not run again; devices get it, and pending changes arrive in the new columns")
  func travels() throws {
    try camp.write("tablet", "UPDATE reviews SET words = 'very quiet', stars = 5 WHERE id = 'r1'")
    try camp.write("phone", "UPDATE reviews SET words = 'darker' WHERE id = 'r2'")
    camp.camp.device("phone", "export")
    let applied = try migrate(VersionTests.migration)
    #expect(applied.code == 0, "\(applied.transcript)")
    #expect(applied.out.contains("calls the column words now text"), "\(applied.out)")
    #expect(applied.out.contains("The effect on users was not counted"), "\(applied.out)")
    #expect(try camp.office("SELECT id, reviewed FROM sites ORDER BY id") == "cave|1\nhill|0\nlake|1")
    let late = camp.camp.hub("import", camp.camp.path("phone/bundles/outbox/camp-phone-hub-1.satchel"))
    #expect(late.code == 0, "\(late.transcript)")
    #expect(try camp.office("SELECT text FROM reviews WHERE id = 'r2'") == "darker")
    try camp.settle()
    #expect(try camp.tablet("SELECT text, season FROM reviews WHERE id = 'r1'") == "very quiet|summer")
    #expect(try camp.tablet("SELECT id, reviewed FROM sites ORDER BY id") == "hill|0\nlake|1")
    try camp.settle("phone", sites: "tier <= 2")
    #expect(try camp.office("SELECT count(*) FROM satchel_conflicts") == "0")
  }

  @Test("a person at the terminal is always asked, because the effect on users is not counted")
  func asked() throws {
    try camp.write("office", VersionTests.migration)
    try camp.camp.write("next.json", VersionTests.definition(2))
    try camp.camp.write("next.sql", VersionTests.migration)
    let (definition, migration) = (camp.camp.path("next.json"), camp.camp.path("next.sql"))
    let left = camp.camp.hub(
      "dataset", "apply", definition, "--migration", migration, "--migrated", answers: ["n"], interactive: true)
    #expect(left.code != 0 && left.transcript.contains("not counted"), "\(left.transcript)")
    #expect(try camp.office("SELECT count(*) FROM satchel_versions WHERE version = 2") == "0")
    let done = camp.camp.hub(
      "dataset", "apply", definition, "--migration", migration, "--migrated", "--yes", interactive: true)
    #expect(done.code == 0, "\(done.transcript)")
  }

  /// A migration that creates a table again to change a column, as Django and Alembic do for SQLite.
  private static let recreated = """
    CREATE TABLE "new__reviews" ("id" TEXT PRIMARY KEY, "site" TEXT REFERENCES "sites" ("id"), "author" TEXT,
      "stars" INTEGER, "words" TEXT, "flagged" INTEGER NOT NULL);
    INSERT INTO "new__reviews" ("id", "site", "author", "stars", "words", "flagged")
      SELECT "id", "site", "author", "stars", "words", 0 FROM "reviews";
    DROP TABLE "reviews";
    ALTER TABLE "new__reviews" RENAME TO "reviews";
    """

  /// A migration that creates a table again with the same columns.
  private static let remadeAlike = """
    CREATE TABLE "new__reviews" ("id" TEXT PRIMARY KEY, "site" TEXT REFERENCES "sites" ("id"), "author" TEXT,
      "stars" INTEGER, "words" TEXT);
    INSERT INTO "new__reviews" SELECT * FROM "reviews";
    DROP TABLE "reviews";
    ALTER TABLE "new__reviews" RENAME TO "reviews";
    """

  @Test("a table that the tool created again is captured from then on, and its rows reach the devices")
  func remade() throws {
    try camp.write("tablet", "UPDATE reviews SET words = 'very quiet' WHERE id = 'r1'")
    let applied = try migrate(Self.recreated)
    #expect(applied.code == 0, "\(applied.transcript)")
    try camp.write("office", "UPDATE reviews SET stars = 2 WHERE id = 'r1'")
    try camp.settle()
    #expect(try camp.office("SELECT stars, words, flagged FROM reviews WHERE id = 'r1'") == "2|very quiet|0")
    try camp.settle("phone", sites: "tier <= 2")
  }

  @Test("rows that the tool deletes are deleted on the devices")
  func deletes() throws {
    let script = "DELETE FROM reviews WHERE id = 'r1'; ALTER TABLE sites ADD COLUMN region TEXT"
    let applied = try migrate(script)
    #expect(applied.code == 0, "\(applied.transcript)")
    try camp.settle()
    #expect(try camp.tablet("SELECT count(*) FROM reviews WHERE id = 'r1'") == "0")
  }

  @Test("tables that are not as the definition demands are refused, and nothing is changed")
  func unfit() throws {
    let definition = VersionTests.definition(
      2, #"\#(VersionTests.sites), "reviews": { "write": "author = :user and season = 'summer'" }"#)
    let applied = try camp.tryToApply(definition, VersionTests.migration, "--migrated")
    #expect(applied.code == 1 && applied.error.contains("season"), "\(applied.transcript)")
    #expect(try camp.camp.hub("dataset", "show", "--json").json["version"]?.integerValue == 1)
    #expect(camp.camp.hub("doctor").code == 0)
  }

  @Test(
    "status, doctor and refusals first name the way to record the migration, and then the repair",
    arguments: [VersionTests.migration, Self.recreated, Self.remadeAlike])
  func named(migration: String) throws {
    try camp.write("office", migration)
    let hub = camp.camp
    for outcome in [hub.hub("status"), hub.hub("doctor"), hub.hub("emit", "--all"), hub.hub("user", "add", "eve")] {
      let text = outcome.out + outcome.error
      let first = try #require(text.range(of: "dataset apply NEW.json --migration SQL --migrated"), "\(text)")
      let second = try #require(text.range(of: "satchel-hub doctor --repair"), "\(text)")
      #expect(first.upperBound < second.lowerBound, "\(text)")
    }
    let next = try #require(try hub.hub("status", "--json").json["next"]?.arrayValue)
    #expect(next.count == 2 && next[0].stringValue?.contains("--migrated") == true, "\(next)")
  }

  @Test("a migration that renamed a table: the way that all commands name brings hub and devices to the new version")
  func renamedTable() throws {
    let (there, back) = ("ALTER TABLE reviews RENAME TO notes", "ALTER TABLE \"notes\" RENAME TO \"reviews\"")
    try camp.write("office", there)
    for outcome in [camp.camp.hub("status"), camp.camp.hub("doctor"), camp.camp.hub("emit", "--all")] {
      let text = outcome.out + outcome.error
      #expect(text.contains("\(back); then") && text.contains("dataset apply NEW.json --migration SQL\n"), "\(text)")
    }
    try camp.write("office", back)
    let notes = VersionTests.reviews.replacingOccurrences(of: "reviews", with: "notes")
    try camp.apply(VersionTests.definition(2, "\(VersionTests.sites), \(notes)"), there)
    #expect(camp.camp.hub("doctor").out == "All is well.\n")
    #expect(camp.camp.device("tablet", "import", try camp.camp.emit("tablet")).code == 0)
    #expect(try camp.tablet("SELECT words FROM notes") == "quiet")
  }

  @Test("a migration that dropped a table: the way that all commands name brings hub and devices to the new version")
  func droppedTable() throws {
    let table = try camp.office("SELECT sql FROM sqlite_schema WHERE name = 'reviews'")
    try camp.write("office", "DROP TABLE reviews")
    for outcome in [camp.camp.hub("status"), camp.camp.hub("doctor"), camp.camp.hub("emit", "--all")] {
      let text = outcome.out + outcome.error
      #expect(text.contains("record the migration: satchel-hub dataset apply NEW.json --migration SQL"), "\(text)")
    }
    try camp.write("office", table)
    let without = VersionTests.definition(2, VersionTests.sites)
    #expect(try camp.tryToApply(without, "DROP TABLE reviews", "--migrated").code == 0)
    #expect(camp.camp.hub("doctor").out == "All is well.\n")
    #expect(camp.camp.device("tablet", "import", try camp.camp.emit("tablet")).code == 0)
    #expect(camp.camp.device("tablet", "doctor").out == "All is well.\n")
  }

  @Test("a column that a device has and the hub lacks: its bundle comes in after the migration ran here too")
  func columnOfDevice() throws {
    let script = "ALTER TABLE reviews ADD COLUMN mood TEXT DEFAULT 'calm'"
    let (hub, tablet) = (camp.camp, "tablet")
    try camp.write(tablet, "\(script); UPDATE reviews SET mood = 'glad' WHERE id = 'r1'")
    #expect(hub.device(tablet, "doctor", "--repair").code == 0)
    #expect(hub.device(tablet, "export").code == 0)
    let bundle = hub.path("tablet/bundles/outbox/camp-tablet-hub-1.satchel")
    let refused = hub.hub("import", bundle)
    let hint = "apply NEW.json --migration SQL --migrated). If not, add the column to the hub's database"
    #expect(refused.code == 3 && refused.error.contains(hint), "\(refused.error)")
    #expect(try migrate(script).code == 0)
    #expect(hub.hub("import", bundle).code == 0)
    #expect(try camp.office("SELECT mood FROM reviews ORDER BY id") == "glad\ncalm")
    #expect(hub.hub("emit", "--device", tablet).code == 0)
    let answer = try hub.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-")
    #expect(hub.device(tablet, "import", "--migrated", answer).code == 0)
    #expect(hub.device(tablet, "doctor").out == "All is well.\n")
  }

  @Test("damage that no migration makes names the repair alone")
  func damaged() throws {
    try camp.write("office", CommandLineFixture.dropTriggers)
    for outcome in [camp.camp.hub("status"), camp.camp.hub("doctor"), camp.camp.hub("emit", "--all")] {
      let text = outcome.out + outcome.error
      #expect(text.contains("satchel-hub doctor --repair") && !text.contains("--migrated"), "\(text)")
    }
  }

  @Test("a rehearsal says what would be recorded, and changes nothing")
  func rehearsal() throws {
    try camp.write("office", VersionTests.migration)
    let applied = try camp.tryToApply(VersionTests.definition(2), VersionTests.migration, "--migrated", "--dry-run")
    #expect(applied.code == 0 && applied.out.contains("would have version 2"), "\(applied.transcript)")
    #expect(camp.camp.hub("doctor").code == 1, "the tables still differ from what is captured")
    #expect(try camp.tryToApply(VersionTests.definition(2), VersionTests.migration, "--migrated").code == 0)
    #expect(camp.camp.hub("doctor").code == 0)
  }
}
