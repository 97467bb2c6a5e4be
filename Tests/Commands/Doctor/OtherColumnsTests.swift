import Foundation
import SatchelJSON
import Testing

/// An app or a GIS tool changed the columns of a table. The repair creates the table again with the hub's columns.
@Suite("Tables with other columns are made as the hub has them")
struct OtherColumnsTests {
  let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture.watched() }

  private func rows(_ columns: String, _ database: String = "tablet/data.sqlite") throws -> String {
    try camp.rows(database, "SELECT \(columns) FROM reviews ORDER BY id")
  }

  /// Creates the tablet's reviews again with these columns. `values` are SQL expressions over the old columns.
  private func remake(_ declared: String, from values: String) throws {
    try camp.sql(
      "tablet/data.sqlite",
      """
      CREATE TABLE other (\(declared)); INSERT INTO other SELECT \(values) FROM reviews; DROP TABLE reviews;
      ALTER TABLE other RENAME TO reviews;
      """)
  }

  /// Runs the repair, and checks that the doctor then finds nothing. Returns the text that the repair printed.
  @discardableResult private func repair() throws -> String {
    let repaired = camp.device("tablet", "doctor", "--repair", "--tables")
    #expect(repaired.code == 0, "\(repaired)")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    return repaired.out
  }

  /// The path of the copy that a repair made of the database. The path is relative to the camp's folder.
  private func copy(_ printed: String) throws -> String {
    let path = try #require(printed.split(separator: "kept in ").dropFirst().first?.split(separator: ".sqlite").first)
    return (path.hasPrefix(camp.root) ? String(path.dropFirst(camp.root.count + 1)) : "tablet/\(path)") + ".sqlite"
  }

  @Test(
    "lost columns get the hub's values, columns that are only here are named and kept aside, pending changes stay",
    arguments: ["words TEXT", "author TEXT"])
  func recreated(lost: String) throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 9 WHERE id = 'r1'")
    let columns = ["site TEXT", "author TEXT", "stars INTEGER", "words TEXT"].filter { $0 != lost }
    let names = columns.map { $0.split(separator: " ")[0] }.joined(separator: ", ")
    try remake("id TEXT PRIMARY KEY, \(columns.joined(separator: ", ")), colour TEXT", from: "id, \(names), 'red'")
    #expect(camp.device("tablet", "doctor").out.contains("satchel doctor --repair --tables"))
    let before = try camp.read("tablet/data.sqlite")
    let name = lost.split(separator: " ")[0]
    let words = """
      Columns that were missing have their known values: \(name). Columns that the hub does not have are gone: colour.
      """
    let rehearsal = camp.device("tablet", "doctor", "--repair", "--tables", "--dry-run")
    #expect(rehearsal.code == 0 && rehearsal.out.contains(words), "\(rehearsal)")
    #expect(try camp.read("tablet/data.sqlite") == before)
    let repaired = try repair()
    #expect(repaired.contains(words), "\(repaired)")
    #expect(try rows("*") == "r0|lake|ann|1|cold\nr1|lake|ann|9|quiet")
    #expect(try rows("id, colour", copy(repaired)) == "r0|red\nr1|red")
    try camp.carry("tablet", rounds: 2)
    #expect(try rows("id, stars, words", "office.sqlite") == "r0|1|cold\nr1|9|quiet\nr2|5|dark")
  }

  @Test("a lost column gets the value that the device exported, and the hub keeps it")
  func exported() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'exported' WHERE id = 'r1'")
    #expect(camp.device("tablet", "export").code == 0)
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('r5', 'hill', 'ann', 5, 'new')")
    try remake("id TEXT PRIMARY KEY, site TEXT, author TEXT, stars INTEGER", from: "id, site, author, stars")
    #expect(!(try repair()).contains("unseen"))
    #expect(try rows("id, words") == "r0|cold\nr1|exported\nr5|NULL")
    try camp.carry("tablet", rounds: 2)
    #expect(try rows("id, words", "office.sqlite") == "r0|cold\nr1|exported\nr2|dark\nr5|NULL")
  }

  @Test("the hub's bundle that a narrower table refuses names the repair, and comes in after it")
  func refused() throws {
    try camp.sql("tablet/data.sqlite", "DELETE FROM reviews WHERE id = 'r0'")
    try camp.sql(
      "tablet/data.sqlite", CommandLineFixture.dropTriggers + "ALTER TABLE reviews DROP COLUMN words")
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'office' WHERE id = 'r1'")
    let bundle = try camp.emit("tablet")
    let refused = camp.device("tablet", "import", bundle)
    #expect(refused.code == 3 && refused.error.contains("satchel doctor --repair --tables makes"), "\(refused)")
    try repair()
    #expect(try rows("id, words") == "r1|quiet", "a delete that waits for its export stays")
    #expect(camp.device("tablet", "import", bundle).code == 0)
    #expect(try rows("id, words") == "r1|office")
    try camp.carry("tablet", rounds: 2)
    #expect(try rows("id, words", "office.sqlite") == "r1|office\nr2|dark")
  }

  @Test("the device's bundle that the hub refuses for a column names the repair, and the next export comes in")
  func refusedAtHub() throws {
    try camp.sql("tablet/data.sqlite", "ALTER TABLE reviews ADD COLUMN colour TEXT")
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 9, colour = 'red' WHERE id = 'r1'")
    let refused = camp.hub("import", try camp.export("tablet"))
    #expect(refused.code == 3 && refused.error.contains("satchel doctor --repair --tables makes"), "\(refused)")
    let repaired = try repair()
    #expect(try rows("id, colour", copy(repaired)) == "r0|NULL\nr1|red")
    #expect(camp.hub("import", try camp.export("tablet")).code == 0)
    #expect(try rows("id, stars", "office.sqlite") == "r0|1\nr1|9\nr2|5")
  }

  @Test("a column that an app renamed has its old name again, with its pending changes and the app's triggers")
  func renamed() throws {
    try camp.sql(
      "tablet/data.sqlite",
      """
      CREATE TABLE seen (id TEXT);
      CREATE TRIGGER watcher AFTER UPDATE OF stars ON reviews BEGIN INSERT INTO seen VALUES (new.id); END;
      UPDATE reviews SET words = 'pending' WHERE id = 'r1';
      ALTER TABLE reviews RENAME COLUMN words TO text;
      """)
    #expect(try repair().contains("The column text has the name words again."))
    #expect(try rows("id, words") == "r0|cold\nr1|pending")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 2 WHERE id = 'r0'")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT id FROM seen") == "r0")
    try camp.carry("tablet", rounds: 2)
    #expect(try rows("id, stars, words", "office.sqlite") == "r0|2|cold\nr1|4|pending\nr2|5|dark")
  }

  @Test("a column has its old type again, and its values as well")
  func otherType() throws {
    try remake(
      "id TEXT PRIMARY KEY, site TEXT, author TEXT, stars TEXT, words TEXT", from: "id, site, author, stars, words")
    #expect(!(try repair()).contains("unseen"))
    #expect(try rows("id, typeof(stars)") == "r0|integer\nr1|integer")
    #expect(camp.device("tablet", "export").out.hasPrefix("Export 2: 0 changes."))
  }

  @Test("a table that the hub's rows do not fit names the repair, and has them again after it")
  func unfitForKnownRows() throws {
    let before = try rows("*")
    try camp.sql(
      "tablet/data.sqlite",
      """
      DROP TABLE reviews;
      CREATE TABLE reviews (id TEXT PRIMARY KEY, site TEXT, author TEXT, stars INTEGER, words TEXT, must NOT NULL)
      """)
    let refused = camp.device("tablet", "doctor", "--repair")
    #expect(refused.code == 1 && refused.error.contains("satchel doctor --repair --tables makes it"), "\(refused)")
    try repair()
    #expect(try rows("*") == before)
  }

  @Test("a row that does not fit the hub's table is counted, and is in the copy")
  func unfit() throws {
    let camp = try CommandLineFixture()
    try camp.open(
      "CREATE TABLE t (id TEXT PRIMARY KEY, code TEXT UNIQUE); INSERT INTO t VALUES ('1', 'a')",
      #"{ "dataset": "camp", "version": 1, "attributes": { "tier": "integer" }, "tables": { "t": {} } }"#)
    try camp.sql(
      "tablet/data.sqlite",
      """
      DROP TABLE t; CREATE TABLE t (id TEXT PRIMARY KEY, code TEXT, mood TEXT);
      INSERT INTO t VALUES ('1', 'a', 'x'), ('2', 'a', 'y'), ('3', 'c', 'z');
      """)
    let repaired = camp.device("tablet", "doctor", "--repair", "--tables")
    #expect(repaired.code == 0, "\(repaired)")
    #expect(repaired.out.contains("Rows that do not fit the table, and are only in the copy: 1."), "\(repaired)")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT id, code FROM t ORDER BY id") == "1|a\n3|c")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows("office.sqlite", "SELECT id, code FROM t ORDER BY id") == "1|a\n3|c")
  }
}
