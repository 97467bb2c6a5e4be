import Foundation
import Testing

/// Rows of an old copy refer to rows that the newer database has deleted.
@Suite("A repaired copy refers to no row that is gone")
struct OldCopyReferenceTests {
  @Test("a row below a row that the office deleted is kept as a conflict")
  func parentGone() throws {
    let camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE sites (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE finds (id INTEGER PRIMARY KEY, site INTEGER NOT NULL REFERENCES sites, name TEXT);
      INSERT INTO sites VALUES (1, 'hill'), (2, 'river');
      """,
      CommandLineFixture.definition(#"{ "sites": {}, "finds": {} }"#), devices: ["tablet"])
    try camp.copy("tablet/data.sqlite", to: "old.sqlite")
    try camp.sql("tablet/data.sqlite", "UPDATE sites SET name = 'high hill' WHERE id = 1")
    #expect(camp.hub("import", try camp.export("tablet")).code == 0)
    try camp.sql("office.sqlite", "DELETE FROM sites WHERE id = 2")
    try camp.answer("tablet")
    try camp.remove("tablet/data.sqlite")
    try camp.copy("old.sqlite", to: "tablet/data.sqlite")
    camp.awaitLaterTime()
    try camp.sql(
      "tablet/data.sqlite", "INSERT INTO finds VALUES (11, 1, 'coin'); INSERT INTO finds VALUES (12, 2, 'ring')")
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.error)")
    #expect(try camp.rows("tablet/data.sqlite", "PRAGMA foreign_key_check") == "")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name FROM finds") == "coin")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows("office.sqlite", "SELECT name FROM finds") == "coin")
    #expect(
      try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_conflicts WHERE table_name = 'finds'") == "1")
  }
}
