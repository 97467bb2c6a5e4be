import Foundation
import SatchelJSON
import Testing

/// Trees, visits and photos as GIS programs write them: a column holds a tree's key, and no table declares that.
@Suite("References that only the dataset declares")
struct DeclaredReferenceTests {
  private static let trees = "CREATE TABLE trees (fid INTEGER PRIMARY KEY, name TEXT, tier INTEGER DEFAULT 1);"
  private static let visits = "CREATE TABLE visits (fid INTEGER PRIMARY KEY, tree_fid INTEGER, note TEXT);"

  /// - Parameter visits: further rules of the table visits.
  private func camp(
    _ schema: String = trees + visits, trees: String = #""keys": "rekey""#,
    visits: String = #""keys": "rekey", "references": { "tree_fid": "trees" }"#
  ) throws -> Camp {
    try Quarrel(schema, #""trees": { \#(trees) }, "visits": { \#(visits) }"#).camp
  }

  /// Each tree with what is noted about it.
  private func notes(_ camp: Camp, _ database: String) throws -> String {
    try camp.rows(
      database,
      """
      SELECT trees.name, visits.note
      FROM visits LEFT JOIN trees ON trees.fid = visits.tree_fid
      ORDER BY visits.note
      """)
  }

  private func plant(_ camp: Camp, _ database: String, _ name: String) throws {
    try camp.sql(
      database,
      """
      INSERT INTO trees (name) VALUES ('\(name)');
      INSERT INTO visits (tree_fid, note) SELECT max(fid), 'of \(name)' FROM trees;
      """)
  }

  @Test("visits stay with their tree when two devices give the same key", arguments: [true, false])
  func rekey(importsFirst: Bool) throws {
    let camp = try camp()
    try plant(camp, "tablet/data.sqlite", "ann")
    try plant(camp, "phone/data.sqlite", "ben")
    try camp.deliver("tablet")
    if importsFirst { try camp.answer("phone") }
    try camp.round(["phone", "tablet", "phone", "tablet"])
    for database in ["office.sqlite", "tablet/data.sqlite", "phone/data.sqlite"] {
      #expect(try notes(camp, database) == "ann|of ann\nben|of ben", "\(database)")
    }
    #expect(camp.hub("conflicts").out.contains("No conflict"))
  }

  @Test("visits go to the tree that two devices made twice, by a column that is no key")
  func fold() throws {
    let camp = try camp(
      """
      CREATE TABLE trees (id TEXT PRIMARY KEY, name TEXT UNIQUE);
      CREATE TABLE visits (id TEXT PRIMARY KEY, tree TEXT, note TEXT);
      """, trees: #""unique": "fold""#, visits: #""references": { "tree": { "table": "trees", "column": "id" } }"#)
    for (device, id) in [("tablet", "a"), ("phone", "b")] {
      try camp.sql(
        "\(device)/data.sqlite",
        "INSERT INTO trees VALUES ('\(id)', 'oak'); INSERT INTO visits VALUES ('\(id)', '\(id)', 'by \(device)')")
    }
    try camp.round(["tablet", "phone", "tablet", "phone"])
    for database in ["office.sqlite", "tablet/data.sqlite", "phone/data.sqlite"] {
      #expect(
        try camp.rows(database, "SELECT t.name, v.note FROM visits AS v JOIN trees AS t ON t.id = v.tree ORDER BY v.id")
          == "oak|by tablet\noak|by phone", "\(database)")
      #expect(try camp.rows(database, "SELECT count(*) FROM trees") == "1")
    }
  }

  @Test("what is below a hidden row is hidden")
  func visibility() throws {
    let camp = try camp(trees: #""visible": "tier <= :tier""#)
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

  @Test("a row waits until the row to which it refers is there")
  func held() throws {
    let camp = try camp(trees: "", visits: #""references": { "tree_fid": "trees" }"#)
    try camp.sql("tablet/data.sqlite", "INSERT INTO visits VALUES (1, 7, 'early')")
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT * FROM visits") == "")
    #expect(try camp.rows("office.sqlite", "SELECT kind, state FROM satchel_conflicts") == "foreign key|held")
    try camp.sql("phone/data.sqlite", "INSERT INTO trees VALUES (7, 'late', 1)")
    try camp.deliver("phone")
    #expect(try notes(camp, "office.sqlite") == "late|early")
  }

  @Test("a row to which others refer is not deleted, and comes back to the device that deleted it")
  func deletedParent() throws {
    let camp = try camp(trees: "", visits: #""references": { "tree_fid": "trees" }"#)
    try camp.sql("office.sqlite", "INSERT INTO trees VALUES (1, 'oak', 1)")
    try camp.round(["tablet", "phone"])
    try camp.sql("tablet/data.sqlite", "DELETE FROM trees")
    try camp.sql("phone/data.sqlite", "INSERT INTO visits VALUES (1, 1, 'seen')")
    try camp.round(["phone", "tablet", "phone"])
    for database in ["office.sqlite", "tablet/data.sqlite", "phone/data.sqlite"] {
      #expect(try notes(camp, database) == "oak|seen", "\(database)")
    }
    #expect(try camp.rows("office.sqlite", "SELECT kind, state FROM satchel_conflicts") == "foreign key|open")
  }

  @Test("a device's own row leaves with the row to which it refers, as a conflict")
  func orphan() throws {
    let camp = try camp(trees: "", visits: #""references": { "tree_fid": "trees" }"#)
    try camp.sql("office.sqlite", "INSERT INTO trees VALUES (1, 'oak', 1)")
    try camp.answer("tablet")
    try camp.sql("tablet/data.sqlite", "INSERT INTO visits VALUES (1, 1, 'seen')")
    try camp.sql("office.sqlite", "DELETE FROM trees")
    try camp.answer("tablet")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT * FROM visits") == "")
    #expect(
      try camp.rows("tablet/data.sqlite", "SELECT table_name, kind, state FROM satchel_conflicts")
        == "visits|foreign key|open")
  }

  @Test("a GeoPackage's related tables are read, and every device knows them")
  func relatedTables() throws {
    let camp = try camp(
      Self.trees + """
        CREATE TABLE photos (fid INTEGER PRIMARY KEY, file TEXT);
        CREATE TABLE visits (fid INTEGER PRIMARY KEY, base_id INTEGER, related_id INTEGER);
        CREATE TABLE gpkgext_relations (
          id INTEGER PRIMARY KEY, base_table_name TEXT, base_primary_column TEXT, related_table_name TEXT,
          related_primary_column TEXT, relation_name TEXT, mapping_table_name TEXT UNIQUE);
        INSERT INTO gpkgext_relations VALUES (1, 'trees', 'fid', 'photos', 'fid', 'media', 'visits');
        """,
      visits: #""keys": "rekey" }, "photos": { "keys": "rekey""#)
    #expect(
      try camp.rows("tablet/data.sqlite", "SELECT definition FROM satchel_device").contains(#""base_id": "trees""#))
    for (device, name) in [("tablet", "ann"), ("phone", "ben")] {
      try camp.sql(
        "\(device)/data.sqlite",
        """
        INSERT INTO trees (name) VALUES ('\(name)');
        INSERT INTO photos (file) VALUES ('\(name).jpg');
        INSERT INTO visits (base_id, related_id) SELECT (SELECT max(fid) FROM trees), max(fid) FROM photos;
        """)
    }
    try camp.round(["tablet", "phone", "tablet", "phone"])
    for database in ["office.sqlite", "tablet/data.sqlite", "phone/data.sqlite"] {
      #expect(
        try camp.rows(
          database,
          """
          SELECT name, file
          FROM visits JOIN trees ON trees.fid = base_id JOIN photos ON photos.fid = related_id
          ORDER BY name
          """) == "ann|ann.jpg\nben|ben.jpg", "\(database)")
    }
  }

  // MARK: what init says

  private func initialise(_ visits: String, _ schema: String = trees + visits) throws -> Camp.Outcome {
    let camp = try Camp()
    try camp.sql("office.sqlite", schema)
    try camp.write(
      "camp.json",
      #"{ "dataset": "camp", "version": 1, "tables": { "trees": { "keys": "rekey" }, "visits": { \#(visits) } } }"#)
    return camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
  }

  @Test("init refuses a reference that leads nowhere, and says what there is")
  func refused() throws {
    for (references, words) in [
      (#""tree": "trees""#, "the table has no such column that is stored"),
      (#""tree_fid": "tree""#, "\"tree\" is not a table of this dataset"),
      (#""tree_fid": { "table": "trees", "column": "name" }"#, "is not UNIQUE"),
      (#""tree_fid": { "table": "trees", "column": "id" }"#, "trees has no column id"),
      (#""tree_fid": ["trees"]"#, "it must be a table"),
    ] {
      let outcome = try initialise(#""references": { \#(references) }"#)
      #expect(outcome.code == 1)
      #expect(outcome.error.contains(words) && outcome.error.contains("tables.visits.references."), "\(outcome.error)")
    }
    let composite = try initialise(
      #""references": { "tree_fid": "trees" }"#,
      "CREATE TABLE trees (a INTEGER, b INTEGER, PRIMARY KEY (a, b));" + Self.visits)
    #expect(composite.code == 1)
  }

  @Test("init asks about columns that look like references, and counts those that lead nowhere")
  func warned() throws {
    let asked = try initialise("")
    #expect(asked.code == 0)
    #expect(asked.out.contains("no reference to them is known"), "\(asked.out)")
    #expect(asked.out.contains(#"at visits: "references": { "tree_fid": "trees" }"#), "\(asked.out)")
    let counted = try initialise(
      #""references": { "tree_fid": "trees" }"#, Self.trees + Self.visits + "INSERT INTO visits VALUES (1, 9, 'lost')")
    #expect(counted.out.contains("1 of the references of visits lead to a row that is not there."), "\(counted.out)")
    #expect(!counted.out.contains("no reference to them is known"))
  }

  @Test("a new version of the dataset adds a reference, and visits go out of sight with their tree")
  func added() throws {
    let camp = try camp(trees: #""visible": "tier <= :tier""#, visits: "")
    try camp.sql("office.sqlite", "INSERT INTO trees VALUES (1, 'secret', 9); INSERT INTO visits VALUES (1, 1, 'seen')")
    try camp.answer("tablet")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT note FROM visits") == "seen")
    try camp.write(
      "next.json",
      """
      { "dataset": "camp", "version": 2, "attributes": { "tier": "integer" }, "tables": {
        "trees": { "visible": "tier <= :tier" }, "visits": { "references": { "tree_fid": "trees" } } } }
      """)
    let applied = camp.hub("dataset", "apply", camp.path("next.json"))
    #expect(applied.code == 0 && applied.out.contains("references"), "\(applied.out) \(applied.error)")
    try camp.answer("tablet")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT note FROM visits") == "")
    #expect(camp.device("tablet", "doctor").code == 0)
    #expect(camp.hub("doctor").code == 0)
  }
}
