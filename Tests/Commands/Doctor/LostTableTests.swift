import Foundation
import SatchelJSON
import Testing

/// The doctor creates tables again that an app dropped, or replaced with tables of another form.
@Suite("Tables that are made again")
struct LostTableTests {
  let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture.watched() }

  private func rows(_ database: String = "tablet/data.sqlite") throws -> String {
    try camp.rows(database, "SELECT id, words FROM reviews ORDER BY id")
  }

  @Test("a table that was dropped comes back with its rows and the changes that the hub does not have")
  func dropped() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'pending' WHERE id = 'r1'")
    let before = try rows()
    #expect(camp.device("tablet", "export").code == 0)
    try camp.sql("tablet/data.sqlite", "DROP TABLE reviews")
    let looked = camp.device("tablet", "doctor")
    #expect(looked.code == 1 && looked.out.contains("doctor --repair --tables"), "\(looked.out)")
    #expect(camp.device("tablet", "doctor", "--repair").code == 1)
    let rehearsal = camp.device("tablet", "doctor", "--repair", "--tables", "--dry-run")
    #expect(rehearsal.code == 0 && rehearsal.out.contains("is made as the hub's bundle"), "\(rehearsal)")
    let repaired = camp.device("tablet", "doctor", "--repair", "--tables")
    #expect(repaired.code == 0, "\(repaired)")
    #expect(try rows() == before)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'later' WHERE id = 'r0'")
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "pending")
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r0'") == "later")
    #expect(camp.device("tablet", "doctor").code == 0)
  }

  @Test("a table with another key is made again, and a copy of the database keeps it as it was")
  func otherKey() throws {
    let before = try rows()
    try camp.sql(
      "tablet/data.sqlite",
      """
      CREATE TABLE other (number INTEGER PRIMARY KEY, id TEXT, site TEXT, author TEXT, stars INTEGER, words TEXT);
      INSERT INTO other (id, words) SELECT id, words FROM reviews;
      INSERT INTO other (id, words) VALUES ('only here', 'written after that');
      DROP TABLE reviews;
      ALTER TABLE other RENAME TO reviews;
      """)
    #expect(camp.device("tablet", "status").out.contains("another PRIMARY KEY"))
    let repaired = camp.device("tablet", "doctor", "--repair", "--tables")
    #expect(repaired.code == 0 && repaired.out.contains("it is kept in"), "\(repaired)")
    #expect(try rows() == before)
    let after = try #require(repaired.out.split(separator: "kept in ").dropFirst().first)
    let path = try #require(after.split(separator: ".sqlite").first)
    let place = path.hasPrefix(camp.root) ? String(path.dropFirst(camp.root.count + 1)) : "tablet/\(path)"
    #expect(try rows("\(place).sqlite").contains("only here|written after that"))
  }

  @Test("a table that was made again without a key has a way back, which does not speak of the dataset")
  func withoutKey() throws {
    let before = try rows()
    try camp.sql(
      "tablet/data.sqlite",
      "DROP TABLE reviews; CREATE TABLE reviews (id TEXT, words TEXT); INSERT INTO reviews VALUES ('only here', 'late')"
    )
    let looked = camp.device("tablet", "doctor")
    #expect(looked.code == 1)
    #expect(looked.out.contains(#"It had the key ("id"). Give the table its old key back"#), "\(looked.out)")
    #expect(!looked.out.contains("dataset"), "\(looked.out)")
    let repaired = camp.device("tablet", "doctor", "--repair", "--tables")
    #expect(repaired.code == 0 && repaired.out.contains("it is kept in"), "\(repaired)")
    #expect(try rows() == before)
    #expect(camp.device("tablet", "doctor").code == 0)
  }

  @Test("a parent table that was made again without a key is named, and made as the hub has it")
  func parentWithoutKey() throws {
    let sites = "SELECT id, name FROM sites ORDER BY id"
    let before = try (rows(), camp.rows("tablet/data.sqlite", sites))
    // Without the parent's key, SQLite reports the reviews' reference as a mismatch.
    try camp.sql(
      "tablet/data.sqlite",
      """
      PRAGMA foreign_keys = OFF; DROP TABLE sites;
      CREATE TABLE sites (id TEXT, name TEXT, tier INTEGER); INSERT INTO sites VALUES ('only here', 'late', 1)
      """)
    let looked = camp.device("tablet", "doctor")
    #expect(looked.code == 1 && looked.out.contains("the table sites cannot be kept in step any more"), "\(looked)")
    #expect(looked.out.contains(#"It had the key ("id"). Give the table its old key back"#), "\(looked)")
    #expect(camp.device("tablet", "doctor", "--repair", "--tables").code == 0)
    #expect(try rows() == before.0 && camp.rows("tablet/data.sqlite", sites) == before.1)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'later' WHERE id = 'r1'")
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "later")
  }

  private static let afterMigration = "SELECT id, words, \"more\" FROM reviews WHERE author = 'ann' ORDER BY id"

  @Test("after a migration a dropped table comes back with its new columns and all that was exported")
  func afterMigration() throws {
    try camp.exportAfterMigration()
    let before = try camp.rows("tablet/data.sqlite", Self.afterMigration)
    #expect(before == "r0|cold|exported\nr1|quiet|NULL")
    try camp.sql("tablet/data.sqlite", "DROP TABLE reviews")
    // Among the bundles from the hub, only this one has the new columns.
    try camp.move("tablet/bundles/archive/camp-hub-tablet-3.satchel", to: "aside.satchel")
    let refused = camp.device("tablet", "doctor", "--repair", "--tables")
    #expect(refused.code == 1 && refused.error.contains("with version 2 of the dataset is missing"), "\(refused)")
    #expect(refused.error.contains("Bring the file back to bundles/archive"), "\(refused)")
    try camp.move("aside.satchel", to: "tablet/bundles/archive/camp-hub-tablet-3.satchel")
    let repaired = camp.device("tablet", "doctor", "--repair", "--tables")
    #expect(repaired.code == 0, "\(repaired)")
    #expect(try camp.rows("tablet/data.sqlite", Self.afterMigration) == before)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows("office.sqlite", Self.afterMigration) == before)
  }

  @Test("after a migration a repair builds a lost database again with all that was exported")
  func rebuiltAfterMigration() throws {
    try camp.exportAfterMigration()
    let before = try camp.rows("tablet/data.sqlite", Self.afterMigration)
    try camp.loseDatabase(of: "tablet")
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired)")
    #expect(try camp.rows("tablet/data.sqlite", Self.afterMigration) == before)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows("office.sqlite", Self.afterMigration) == before)
  }

  @Test("a renamed table is not made again: its rows are there")
  func renamed() throws {
    try camp.sql("tablet/data.sqlite", "ALTER TABLE reviews RENAME TO opinions")
    let repaired = camp.device("tablet", "doctor", "--repair", "--tables")
    #expect(repaired.code == 1 && (repaired.out + repaired.error).contains("was renamed to opinions"), "\(repaired)")
  }

  @Test("--tables with --deleted is a mistake: every row of a dropped table would be deleted at the hub")
  func asDeleted() throws {
    try camp.sql("tablet/data.sqlite", "DROP TABLE reviews")
    #expect(camp.device("tablet", "doctor", "--repair", "--tables", "--deleted").code == 2)
    #expect(camp.device("tablet", "doctor").out.contains("the table reviews is gone"))
  }

  @Test("--tables alone is a mistake")
  func alone() { #expect(camp.device("tablet", "doctor", "--tables").code == 2) }
}
