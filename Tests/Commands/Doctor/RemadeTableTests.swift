import Foundation
import SatchelJSON
import Testing

/// An app or a tool drops a table and creates it again.
@Suite("Rows missing from a recreated table were not deleted")
struct RemadeTableTests {
  /// SQL that creates a table again, with only the rows that meet one condition.
  private static func remake(where condition: String) -> String {
    """
    BEGIN;
    CREATE TABLE new_reviews (id TEXT PRIMARY KEY, site TEXT, author TEXT, stars INTEGER, words TEXT NOT NULL DEFAULT '');
    INSERT INTO new_reviews SELECT * FROM reviews WHERE \(condition);
    DROP TABLE reviews;
    ALTER TABLE new_reviews RENAME TO reviews;
    COMMIT;
    """
  }

  private func camp() throws -> CommandLineFixture {
    let camp = try CommandLineFixture()
    try camp.open()
    try camp.sql(
      "tablet/data.sqlite",
      """
      INSERT INTO reviews VALUES ('r5', 'hill', 'ann', 5, 'five'), ('r6', 'hill', 'ann', 6, 'six'), ('r7', 'hill', \
      'ann', 7, 'seven')
      """
    )
    camp.deliver("tablet", 1)
    camp.answer("tablet", 2)
    return camp
  }

  private func rows(_ camp: CommandLineFixture, _ database: String) throws -> String {
    try camp.rows(database, "SELECT id, stars FROM reviews WHERE id >= 'r5' ORDER BY id")
  }

  @Test(
    "rows that it lacks are put back, unless a person says that they were deleted", arguments: ["tablet", "hub"],
    [false, true])
  func lacking(place: String, deleted: Bool) throws {
    let camp = try camp()
    let database = place == "hub" ? "office.sqlite" : "tablet/data.sqlite"
    func run(_ words: String...) -> CommandLineFixture.Outcome {
      place == "hub"
        ? camp.hubAnywhere(["-C", camp.path("hub")] + words) : camp.deviceAnywhere(["-C", camp.path("tablet")] + words)
    }
    try camp.sql(database, Self.remake(where: "id < 'r6'"))
    #expect(run("status").out.contains("the table reviews was created again"))
    let looked = run("doctor", "--json")
    #expect(looked.code == 1)
    #expect(try looked.json["restored"]?["reviews"]?.integerValue == 2)
    #expect(try looked.json["unseen"] == .object([]))
    let repaired = deleted ? run("doctor", "--repair", "--deleted") : run("doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.out)\(repaired.error)")
    #expect(repaired.out.contains(deleted ? "2 deleted unseen. Taken up." : "put back 2 rows that the table lacked."))
    #expect(run("doctor").out == "All is well.\n")
    try camp.carry("tablet", rounds: 2)
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(try rows(camp, database) == (deleted ? "r5|5" : "r5|5\nr6|6\nr7|7"), "\(database)")
    }
    try camp.sql(database, "UPDATE reviews SET stars = 1 WHERE id = 'r5'")
    try camp.carry("tablet", rounds: 2)
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(try rows(camp, database).hasPrefix("r5|1"), "it is captured as before: \(database)")
    }
  }

  @Test("a row with an edit that was exported comes back with it, one with an edit that was not as it was")
  func pending() throws {
    let camp = try camp()
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 60 WHERE id = 'r6'")
    #expect(camp.device("tablet", "export").code == 0)
    try camp.sql(
      "tablet/data.sqlite", "UPDATE reviews SET stars = 70 WHERE id = 'r7'; DELETE FROM reviews WHERE id = 'r5'")
    #expect(camp.device("tablet", "export").code == 0)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 71 WHERE id = 'r7'")
    try camp.sql("tablet/data.sqlite", Self.remake(where: "id < 'r5'"))
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    #expect(try rows(camp, "tablet/data.sqlite") == "r6|60\nr7|70", "and what an export told to be deleted stays so")
    try camp.carry("tablet", rounds: 2)
    #expect(try rows(camp, "office.sqlite") == "r6|60\nr7|70")
    #expect(try rows(camp, "tablet/data.sqlite") == "r6|60\nr7|70")
  }

  @Test("an unseen change of a row that was rewritten and exported without a change is found")
  func writtenWithoutChange() throws {
    let camp = try camp()
    try camp.sql(
      "tablet/data.sqlite", "UPDATE reviews SET stars = stars; UPDATE reviews SET words = 'read' WHERE id = 'r1'")
    try camp.deliver("tablet")
    try camp.sql(
      "tablet/data.sqlite",
      Self.remake(where: "1").replacing("* FROM", with: "id, site, author, stars + 10, words FROM"))
    #expect(camp.device("tablet", "doctor", "--repair").out.contains("4 updated, 0 deleted unseen. Taken up."))
    try camp.carry("tablet", rounds: 2)
    #expect(try rows(camp, "office.sqlite") == "r5|15\nr6|16\nr7|17")
    #expect(try rows(camp, "tablet/data.sqlite") == "r5|15\nr6|16\nr7|17")
  }

  @Test("rows whose delete was exported stay deleted, even if the table took its capture records with it")
  func deletedWithoutPreImages() throws {
    let camp = try camp()
    try camp.sql("tablet/data.sqlite", "DELETE FROM reviews WHERE id = 'r5'")
    #expect(camp.device("tablet", "export").code == 0)
    try camp.sql(
      "tablet/data.sqlite", Self.remake(where: "id < 'r5'") + "DROP TABLE satchel_before_reviews")
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.error)")
    #expect(try rows(camp, "tablet/data.sqlite") == "r6|6\nr7|7")
    try camp.carry("tablet", rounds: 2)
    #expect(try rows(camp, "office.sqlite") == "r6|6\nr7|7")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }

  @Test("a tool that puts the triggers back hides nothing: the table is named, and its rows come back")
  func triggersBack() throws {
    let camp = try camp()
    let triggers = try camp.rows(
      "tablet/data.sqlite", "SELECT sql || ';' FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'reviews'")
    try camp.sql("tablet/data.sqlite", Self.remake(where: "id <> 'r6'") + triggers)
    #expect(camp.device("tablet", "status").out.contains("the table reviews was created again"))
    #expect(camp.device("tablet", "export").code == 1)
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    #expect(try rows(camp, "tablet/data.sqlite") == "r5|5\nr6|6\nr7|7")
  }

  @Test("a table that was dropped, and that the app makes again without rows, gets them back")
  func dropped() throws {
    let camp = try camp()
    try camp.sql("tablet/data.sqlite", "DROP TABLE reviews")
    #expect(camp.device("tablet", "doctor", "--repair").code == 1)
    try camp.sql(
      "tablet/data.sqlite",
      """
      CREATE TABLE reviews (id TEXT PRIMARY KEY, site TEXT, author TEXT, stars INTEGER, words TEXT NOT NULL DEFAULT \
      '')
      """
    )
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    #expect(try rows(camp, "tablet/data.sqlite") == "r5|5\nr6|6\nr7|7")
  }

  @Test("VACUUM, a new column and a renamed column are no recreation of the table")
  func notRemade() throws {
    let camp = try camp()
    for sql in ["VACUUM", "ALTER TABLE reviews ADD COLUMN mood", "ALTER TABLE reviews RENAME COLUMN mood TO feel"] {
      try camp.sql("tablet/data.sqlite", sql)
      #expect(!camp.device("tablet", "status").out.contains("created again"), "\(sql)")
      if sql != "VACUUM" { #expect(camp.device("tablet", "doctor", "--repair").code == 0, "\(sql)") }
    }
    try camp.sql("tablet/data.sqlite", "DELETE FROM reviews WHERE id = 'r6'")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }

  @Test("a row that the table takes no more is named, and nothing is changed")
  func unfit() throws {
    let camp = try camp()
    try camp.sql(
      "tablet/data.sqlite",
      """
      DROP TABLE reviews; CREATE TABLE reviews (id TEXT PRIMARY KEY, site TEXT, author TEXT, stars INTEGER, words \
      TEXT NOT NULL, must NOT NULL)
      """
    )
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 1)
    #expect(repaired.error.contains("A row of reviews that is to be put back does not fit the table as it is now"))
    #expect(camp.device("tablet", "doctor").out.contains("does not fit the table as it is now"))
    #expect(camp.device("tablet", "doctor", "--repair", "--deleted").code == 0)
  }
}
