import Foundation
import SatchelJSON
import Testing

@Suite("References that only the dataset declares")
struct DeclaredReferenceTests {
  @Test("visits stay with their tree when two devices give the same key", arguments: [true, false])
  func rekey(importsFirst: Bool) throws {
    let survey = try TreeFixture()
    let camp = survey.camp
    try survey.plant("tablet/data.sqlite", "ann")
    try survey.plant("phone/data.sqlite", "ben")
    try camp.deliver("tablet")
    if importsFirst { try camp.answer("phone") }
    try camp.round(["phone", "tablet", "phone", "tablet"])
    for database in TreeFixture.databases {
      #expect(try survey.notes(database) == "ann|of ann\nben|of ben", "\(database)")
    }
    #expect(camp.hub("conflicts").out.contains("No conflict"))
  }

  @Test("visits that hold a tree's number as text stay with their tree, as GDAL writes them from a CSV")
  func rekeyOfTexts() throws {
    let visits = "CREATE TABLE visits (fid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, tree_fid TEXT, note TEXT);"
    let survey = try TreeFixture(TreeFixture.trees + visits + "INSERT INTO trees (name) VALUES ('oak')")
    try survey.plant("tablet/data.sqlite", "ann")
    try survey.plant("phone/data.sqlite", "ben")
    try survey.camp.round(["tablet", "phone", "tablet", "phone"])
    for database in TreeFixture.databases {
      #expect(try survey.notes(database) == "ann|of ann\nben|of ben", "\(database)")
      #expect(try survey.camp.rows(database, "SELECT DISTINCT typeof(tree_fid) FROM visits") == "text")
    }
    #expect(survey.camp.hub("doctor").code == 0)
  }

  @Test("visits go to the tree that two devices made twice, by a column that is no key")
  func fold() throws {
    let camp = try TreeFixture(
      """
      CREATE TABLE trees (id TEXT PRIMARY KEY, name TEXT UNIQUE);
      CREATE TABLE visits (id TEXT PRIMARY KEY, tree TEXT, note TEXT);
      """, trees: #""unique": "fold""#, visits: #""references": { "tree": { "table": "trees", "column": "id" } }"#
    ).camp
    for (device, id) in [("tablet", "a"), ("phone", "b")] {
      try camp.sql(
        "\(device)/data.sqlite",
        "INSERT INTO trees VALUES ('\(id)', 'oak'); INSERT INTO visits VALUES ('\(id)', '\(id)', 'by \(device)')")
    }
    try camp.round(["tablet", "phone", "tablet", "phone"])
    for database in TreeFixture.databases {
      #expect(
        try camp.rows(database, "SELECT t.name, v.note FROM visits AS v JOIN trees AS t ON t.id = v.tree ORDER BY v.id")
          == "oak|by tablet\noak|by phone", "\(database)")
      #expect(try camp.rows(database, "SELECT count(*) FROM trees") == "1")
    }
  }

  @Test("a visit that waits for another row, and the conflict about it, follow their tree's new key")
  func heldRow() throws {
    let survey = try TreeFixture(
      TreeFixture.trees + """
        CREATE TABLE photos (fid INTEGER PRIMARY KEY, file TEXT);
        CREATE TABLE visits (fid INTEGER PRIMARY KEY, tree_fid INTEGER, photo_fid INTEGER, note TEXT);
        """,
      visits: #""references": { "tree_fid": "trees", "photo_fid": "photos" } }, "photos": {"#)
    let camp = survey.camp
    try camp.sql("office.sqlite", "INSERT INTO trees VALUES (1, 'office', 1)")
    try camp.sql(
      "tablet/data.sqlite",
      "INSERT INTO trees VALUES (1, 'ann', 1); INSERT INTO visits VALUES (1, 1, 9, 'of ann')")
    try camp.round(["tablet"])
    #expect(
      try camp.rows("office.sqlite", "SELECT kind, state, device_values ->> '$.tree_fid' FROM satchel_conflicts")
        == "foreign key|held|2")
    #expect(try survey.notes("tablet/data.sqlite") == "")
    try camp.sql("phone/data.sqlite", "INSERT INTO photos VALUES (9, 'leaf.jpg')")
    try camp.round(["phone", "tablet", "phone"])
    for database in TreeFixture.databases { #expect(try survey.notes(database) == "ann|of ann", "\(database)") }
  }

  @Test("rows below a hidden row are hidden")
  func visibility() throws {
    let camp = try TreeFixture(trees: #""visible": "tier <= :tier""#).camp
    try camp.sql(
      "office.sqlite",
      """
      INSERT INTO trees VALUES (1, 'open', 1), (2, 'secret', 9);
      INSERT INTO visits VALUES (1, 1, 'open'), (2, 2, 'secret'), (3, NULL, 'none');
      """)
    try camp.answer("tablet")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT note FROM visits ORDER BY fid") == "open\nnone")
    try camp.sql("office.sqlite", "UPDATE trees SET tier = 9 WHERE fid = 1")
    try camp.answer("tablet")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT note FROM visits ORDER BY fid") == "none")
  }

  @Test("visibility goes along the references that \"parents\" names, and along no others")
  func parents() throws {
    let camp = try TreeFixture(
      trees: #""visible": "tier <= :tier""#, visits: #""parents": [], "# + TreeFixture.toTrees
    ).camp
    try camp.sql("office.sqlite", "INSERT INTO trees VALUES (2, 'secret', 9); INSERT INTO visits VALUES (2, 2, 'seen')")
    try camp.answer("tablet")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT note FROM visits") == "seen")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM trees") == "0")
  }

  @Test("a table that refers to itself is a tree: new keys go down it, and nothing below a hidden row is seen")
  func ownRows() throws {
    let survey = try TreeFixture(
      "CREATE TABLE trees (fid INTEGER PRIMARY KEY, name TEXT, tier INTEGER DEFAULT 1, parent_fid INTEGER);"
        + TreeFixture.visits,
      trees: #""keys": "rekey", "visible": "tier <= :tier", "references": { "parent_fid": "trees" }"#)
    let camp = survey.camp
    for (device, name) in [("tablet", "ann"), ("phone", "ben")] {
      try camp.sql(
        "\(device)/data.sqlite",
        "INSERT INTO trees (name) VALUES ('\(name)'); INSERT INTO trees (name, parent_fid) VALUES ('\(name)/1', 1)")
    }
    try camp.round(["tablet", "phone", "tablet"])
    let pairs = "SELECT c.name, p.name FROM trees AS c JOIN trees AS p ON p.fid = c.parent_fid ORDER BY 1"
    for database in TreeFixture.databases { #expect(try camp.rows(database, pairs) == "ann/1|ann\nben/1|ben") }
    try camp.sql("office.sqlite", "UPDATE trees SET tier = 9 WHERE name = 'ben'")
    try camp.answer("tablet")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name FROM trees ORDER BY 1") == "ann\nann/1")
  }

  @Test("a row waits until the row to which it refers is there")
  func held() throws {
    let survey = try TreeFixture(trees: "", visits: TreeFixture.toTrees)
    let camp = survey.camp
    try camp.sql("tablet/data.sqlite", "INSERT INTO visits VALUES (1, 7, 'early')")
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT * FROM visits") == "")
    #expect(try survey.conflicts("office.sqlite") == "visits|foreign key|held")
    try camp.sql("phone/data.sqlite", "INSERT INTO trees VALUES (7, 'late', 1)")
    try camp.deliver("phone")
    #expect(try survey.notes("office.sqlite") == "late|early")
  }

  @Test("a row that led nowhere before the hub was made is not held for that, until its reference changes")
  func ledNowhere() throws {
    let survey = try TreeFixture(
      TreeFixture.trees + TreeFixture.visits + "INSERT INTO visits VALUES (1, 9, 'lost')", trees: "",
      visits: #""parents": [], "# + TreeFixture.toTrees)
    let camp = survey.camp
    try camp.answer("tablet")
    try camp.sql("tablet/data.sqlite", "UPDATE visits SET note = 'still lost'")
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT tree_fid, note FROM visits") == "9|still lost")
    #expect(try survey.conflicts("office.sqlite") == "")
    for document in [try camp.hub("doctor", "--json").json, try camp.device("tablet", "doctor", "--json").json] {
      #expect(document["findings"]?.arrayValue?.compactMap { $0["reason"]?.stringValue } == ["foreign-keys"])
    }
    try camp.sql("tablet/data.sqlite", "UPDATE visits SET tree_fid = 8")
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT tree_fid FROM visits") == "9")
    #expect(try survey.conflicts("office.sqlite") == "visits|foreign key|held")
  }

  @Test("a row to which others refer is not deleted, and comes back to the device that deleted it")
  func deletedParent() throws {
    let survey = try TreeFixture(trees: "", visits: TreeFixture.toTrees)
    let camp = survey.camp
    try camp.sql("office.sqlite", "INSERT INTO trees VALUES (1, 'oak', 1)")
    try camp.round(["tablet", "phone"])
    try camp.sql("tablet/data.sqlite", "DELETE FROM trees")
    try camp.sql("phone/data.sqlite", "INSERT INTO visits VALUES (1, 1, 'seen')")
    try camp.round(["phone", "tablet", "phone"])
    for database in TreeFixture.databases { #expect(try survey.notes(database) == "oak|seen", "\(database)") }
    #expect(try survey.conflicts("office.sqlite") == "trees|foreign key|open")
  }

  @Test("a row that was deleted comes back to its device with the first row of others that refers to it")
  func deletedParentOnDevice() throws {
    let survey = try TreeFixture(trees: "", visits: TreeFixture.toTrees)
    let camp = survey.camp
    try camp.sql("office.sqlite", "INSERT INTO trees VALUES (1, 'oak', 1)")
    try camp.round(["tablet"])
    try camp.sql("tablet/data.sqlite", "DELETE FROM trees")
    try camp.sql("office.sqlite", "INSERT INTO visits VALUES (1, 1, 'seen')")
    try camp.answer("tablet")
    #expect(try survey.notes("tablet/data.sqlite") == "oak|seen")
    #expect(try survey.conflicts("tablet/data.sqlite") == "trees|foreign key|open")
  }

  @Test("a row that its device deletes with all rows that refer to it goes, in whatever order they were deleted")
  func deletedTogether() throws {
    let survey = try TreeFixture(trees: "", visits: TreeFixture.toTrees)
    try survey.camp.sql(
      "office.sqlite", "INSERT INTO trees VALUES (1, 'oak', 1); INSERT INTO visits VALUES (1, 1, 'seen')")
    try survey.camp.answer("tablet")
    try survey.camp.sql("tablet/data.sqlite", "DELETE FROM trees; DELETE FROM visits")
    try survey.camp.round(["tablet", "phone"])
    for database in TreeFixture.databases {
      #expect(try survey.camp.rows(database, "SELECT fid FROM trees UNION ALL SELECT fid FROM visits") == "")
    }
    #expect(try survey.conflicts("office.sqlite") == "")
  }

  @Test(
    "rows that an app deletes with their row come back with it if another device's row keeps it",
    arguments: [true, false], ["DELETE FROM trees; DELETE FROM visits", "DELETE FROM visits; DELETE FROM trees"])
  func cascade(importsFirst: Bool, deletes: String) throws {
    let survey = try TreeFixture(trees: "", visits: TreeFixture.toTrees)
    let camp = survey.camp
    try camp.sql(
      "office.sqlite", "INSERT INTO trees VALUES (1, 'oak', 1); INSERT INTO visits VALUES (1, 1, 'a'), (2, 1, 'b')")
    try camp.round(["tablet", "phone"])
    try camp.sql("tablet/data.sqlite", deletes)
    try camp.sql("phone/data.sqlite", "INSERT INTO visits VALUES (3, 1, 'c')")
    try camp.deliver("phone")
    if importsFirst { try camp.answer("tablet") }
    try camp.round(["tablet", "phone"])
    for database in TreeFixture.databases {
      #expect(try survey.notes(database) == "oak|a\noak|b\noak|c", "\(database)")
    }
    #expect(try survey.conflicts("office.sqlite") == "trees|foreign key|open")
  }

  @Test("a device's own row leaves with the row to which it refers, as a conflict")
  func orphan() throws {
    let survey = try TreeFixture(trees: "", visits: TreeFixture.toTrees)
    let camp = survey.camp
    try camp.sql("office.sqlite", "INSERT INTO trees VALUES (1, 'oak', 1)")
    try camp.answer("tablet")
    try camp.sql("tablet/data.sqlite", "INSERT INTO visits VALUES (1, 1, 'seen')")
    try camp.sql("office.sqlite", "DELETE FROM trees")
    try camp.answer("tablet")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT * FROM visits") == "")
    #expect(try survey.conflicts("tablet/data.sqlite") == "visits|foreign key|open")
  }

  @Test("a reference to a name follows the parent's collation: rows wait for it, and it keeps a row from being deleted")
  func collation() throws {
    let survey = try TreeFixture(TreeFixture.named, trees: "", visits: TreeFixture.toNames)
    let camp = survey.camp
    try camp.sql("tablet/data.sqlite", "INSERT INTO visits VALUES (1, 'OAK', 'seen')")
    try camp.deliver("tablet")
    #expect(try survey.conflicts("office.sqlite") == "visits|foreign key|held")
    try camp.sql("phone/data.sqlite", "INSERT INTO trees VALUES (1, 'oak', 'Oak')")
    try camp.round(["phone", "tablet", "phone"])
    for database in TreeFixture.databases { #expect(try camp.rows(database, "SELECT note FROM visits") == "seen") }
    try camp.sql("phone/data.sqlite", "DELETE FROM visits; DELETE FROM trees")
    try camp.sql("tablet/data.sqlite", "INSERT INTO visits VALUES (2, 'Oak', 'seen again')")
    try camp.round(["tablet", "phone", "tablet"])
    for database in TreeFixture.databases { #expect(try camp.rows(database, "SELECT uuid FROM trees") == "oak") }
    #expect(camp.hub("doctor").code == 0)
  }
}
