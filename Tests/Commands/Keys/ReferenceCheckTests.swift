import Foundation
import SatchelJSON
import Testing

@Suite("Findings of init and dataset apply about references")
struct ReferenceCheckTests {
  private static let columns = TreeFixture.trees + TreeFixture.visits
  private static let relations = """
    CREATE TABLE photos (fid INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, file TEXT);
    CREATE TABLE gpkgext_relations (
      id INTEGER PRIMARY KEY, base_table_name TEXT, base_primary_column TEXT, related_table_name TEXT,
      related_primary_column TEXT, relation_name TEXT, mapping_table_name TEXT UNIQUE);
    """
  private static let relation = """
    INSERT INTO gpkgext_relations VALUES (1, 'trees', 'fid', 'Photos', 'fid', 'media', 'visits');
    """
  private static let mapping = "CREATE TABLE visits (fid INTEGER PRIMARY KEY, base_id INTEGER, related_id INTEGER);"

  private func reasons(_ outcome: CommandLineFixture.Outcome) throws -> [String] {
    try (outcome.json["warnings"]?.arrayValue ?? []).compactMap { $0["reason"]?.stringValue }
  }

  /// Makes a hub that may renumber trees.
  private func initialise(_ visits: String, _ schema: String = columns) throws -> CommandLineFixture.Outcome {
    try TreeFixture.initialise(schema, #""trees": { "keys": "rekey" }, "visits": { \#(visits) }"#)
  }

  @Test("init refuses a reference that leads nowhere, and says what there is")
  func refused() throws {
    for (references, words) in [
      (#""tree": "trees""#, "the table has no column of this name; generated columns do not count"),
      (#""tree_fit": "trees""#, "Did you mean \"tree_fid\"? It has: fid, tree_fid, note."),
      (#""tree_fid": "tree""#, "\"tree\" is not a table of this dataset"),
      (#""tree_fid": "Trees""#, "Did you mean \"trees\"? The dataset has: trees, visits."),
      (#""tree_fid": { "table": "trees", "column": "name" }"#, "is not UNIQUE"),
      (#""tree_fid": { "table": "trees", "column": "id" }"#, "trees has no column id"),
      (#""tree_fid": ["trees"]"#, "it must be a table"),
    ] {
      let outcome = try initialise(#""references": { \#(references) }"#)
      #expect(outcome.code == 1)
      #expect(outcome.error.contains(words) && outcome.error.contains("tables.visits.references."), "\(outcome.error)")
    }
    let composite = try initialise(
      TreeFixture.toTrees, "CREATE TABLE trees (a INTEGER, b INTEGER, PRIMARY KEY (a, b));" + TreeFixture.visits)
    #expect(composite.code == 1)
  }

  @Test(
    "init refuses a column whose type or collation takes two values of the parent for one",
    arguments: [
      ("id TEXT PRIMARY KEY", "tree INTEGER", "id", false), ("id PRIMARY KEY", "tree TEXT", "id", false),
      ("id INT PRIMARY KEY", "tree TEXT", "id", false), ("id INTEGER PRIMARY KEY", "tree TEXT", "id", true),
      ("id TEXT PRIMARY KEY", "tree VARCHAR(36)", "id", true), ("id INTEGER PRIMARY KEY", "tree REAL", "id", true),
      ("id INTEGER PRIMARY KEY, n TEXT COLLATE NOCASE UNIQUE", "tree TEXT", "n", true),
      ("id INTEGER PRIMARY KEY, n TEXT, UNIQUE (n COLLATE NOCASE)", "tree TEXT", "n", false),
      ("id INTEGER PRIMARY KEY, n TEXT, m TEXT, UNIQUE (n, m)", "tree TEXT", "n", false),
    ])
  func types(parent: String, child: String, column: String, isFit: Bool) throws {
    let outcome = try TreeFixture.initialise(
      "CREATE TABLE trees (\(parent)); CREATE TABLE visits (id TEXT PRIMARY KEY, \(child));",
      #""trees": {}, "visits": { "references": { "tree": { "table": "trees", "column": "\#(column)" } } }"#)
    #expect(outcome.code == (isFit ? 0 : 1), "\(outcome.error)")
    #expect(isFit || outcome.error.contains("tables.visits.references.tree"), "\(outcome.error)")
  }

  @Test("init refuses a reference beside the key of a table that folds, and names a text that refers to numbers")
  func folding() throws {
    let refused = try TreeFixture.initialise(
      """
      CREATE TABLE trees (id TEXT PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, name TEXT UNIQUE);
      CREATE TABLE visits (id TEXT PRIMARY KEY, tree TEXT);
      """, #""trees": { "unique": "fold" }, "visits": { \#(TreeFixture.toNames) }"#)
    #expect(refused.code == 1 && refused.error.contains("what refers to uuid cannot follow"), "\(refused.error)")
    let text = try initialise(
      TreeFixture.toTrees, TreeFixture.trees + "CREATE TABLE visits (fid TEXT PRIMARY KEY, tree_fid TEXT)")
    #expect(text.out.contains("tree_fid of visits is TEXT, and refers to whole numbers of trees."), "\(text.out)")
  }

  @Test("init asks about columns that look like references, and counts those that lead nowhere")
  func warned() throws {
    let asked = try initialise("")
    #expect(asked.code == 0)
    #expect(asked.out.contains("Nothing says that these columns do: tree_fid of visits."), "\(asked.out)")
    #expect(asked.out.contains(#"at visits: "references": { "tree_fid": "trees" }"#), "\(asked.out)")
    let counted = try initialise(
      TreeFixture.toTrees, Self.columns + "INSERT INTO visits VALUES (1, 9, 'lost')")
    #expect(counted.out.contains("1 of the references of visits lead to a row that is not there."), "\(counted.out)")
    #expect(!counted.out.contains("Nothing says"))
    #expect(
      counted.out.contains(#"CREATE INDEX "visits_tree_fid" ON "visits" ("tree_fid");"#), "\(counted.out)")
  }

  @Test("init asks about columns of tables beside the dataset, and about those beside a reference that is known")
  func warnedOfOthers() throws {
    let more = """
      CREATE TABLE photos (id TEXT PRIMARY KEY, treeId INTEGER);
      CREATE TABLE sketches (id TEXT PRIMARY KEY, TREE_ID INTEGER, GUID TEXT);
      """
    let outcome = try TreeFixture.initialise(
      Self.columns + more,
      #""trees": { "keys": "rekey" }, "visits": { \#(TreeFixture.toTrees) }, "photos": {}"#)
    #expect(
      outcome.out.contains("do: treeId of photos, TREE_ID of sketches, which is not in the dataset."), "\(outcome.out)")
    let own = try TreeFixture.initialise(
      "CREATE TABLE trees (fid INTEGER PRIMARY KEY, parent_id INTEGER);", #""trees": { "keys": "rekey" }"#)
    #expect(own.out.contains("do: parent_id of trees."), "\(own.out)")
    let asIs = try TreeFixture.initialise(Self.columns, #""trees": {}, "visits": {}"#)
    #expect(!asIs.out.contains("Nothing says"), "\(asIs.out)")
  }

  @Test("a GeoPackage's related tables are read, and every device knows them")
  func relatedTables() throws {
    let camp = try TreeFixture(
      TreeFixture.trees + Self.mapping + Self.relations.replacing("uuid TEXT NOT NULL UNIQUE", with: "uuid TEXT")
        + Self.relation,
      visits: #""keys": "rekey" }, "photos": { "keys": "rekey""#
    ).camp
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
    for database in TreeFixture.databases {
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

  @Test("what the dataset says of a column counts before what a GeoPackage says of it")
  func explicitReferenceWins() throws {
    let outcome = try TreeFixture.initialise(
      TreeFixture.trees + Self.relations + Self.relation
        + "CREATE TABLE visits (fid INTEGER PRIMARY KEY, base_id INTEGER, related_id TEXT)",
      #"""
      "trees": {}, "photos": {},
      "visits": { "references": { "related_id": { "table": "photos", "column": "uuid" } } }
      """#)
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.out.contains("says that base_id of visits refers to trees"), "\(outcome.out)")
    #expect(!outcome.out.contains("related_id of visits refers"), "\(outcome.out)")
  }

  @Test("relations of a GeoPackage that no column can hold, or in tables of another kind, stop nothing")
  func unfitRelations() throws {
    for schema in [
      TreeFixture.trees + Self.relations + Self.relation
        + "CREATE TABLE visits (fid INTEGER PRIMARY KEY, base_id INTEGER REFERENCES photos (fid), other_id INTEGER)",
      TreeFixture.trees + Self.mapping + "CREATE TABLE photos (fid INTEGER PRIMARY KEY);"
        + "CREATE TABLE gpkgext_relations (id INTEGER PRIMARY KEY, name TEXT)",
    ] {
      let outcome = try TreeFixture.initialise(schema, #""trees": {}, "photos": {}, "visits": {}"#)
      #expect(outcome.code == 0 && !outcome.out.contains("gpkgext_relations"), "\(outcome.out) \(outcome.error)")
    }
  }

  @Test("a new version of the dataset adds a reference, and visits go out of sight with their tree")
  func added() throws {
    let survey = try TreeFixture(trees: #""visible": "tier <= :tier""#, visits: "")
    let camp = survey.camp
    try camp.sql("office.sqlite", "INSERT INTO trees VALUES (1, 'secret', 9); INSERT INTO visits VALUES (1, 1, 'seen')")
    try camp.answer("tablet")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT note FROM visits") == "seen")
    let applied = try survey.apply(trees: #""visible": "tier <= :tier""#, visits: TreeFixture.toTrees)
    #expect(try applied.code == 0 && applied.json["rules"]?["visits"] == ["references"], "\(applied.error)")
    try camp.answer("tablet")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT note FROM visits") == "")
    #expect(camp.device("tablet", "doctor").code == 0)
    #expect(camp.hub("doctor").code == 0)
  }

  @Test("a new version of the dataset drops a reference: visits come into sight, and what waited for a tree enters")
  func dropped() throws {
    let survey = try TreeFixture(trees: #""visible": "tier <= :tier""#, visits: TreeFixture.toTrees)
    let camp = survey.camp
    try camp.sql(
      "office.sqlite", "INSERT INTO trees VALUES (1, 'secret', 9); INSERT INTO visits VALUES (1, 1, 'hidden')")
    try camp.sql("tablet/data.sqlite", "INSERT INTO visits VALUES (2, 7, 'early')")
    try camp.round(["tablet"])
    #expect(try survey.conflicts("office.sqlite") == "visits|foreign key|held")
    #expect(try survey.apply(trees: #""visible": "tier <= :tier""#, visits: "").code == 0)
    try camp.round(["tablet", "phone", "tablet"])
    for database in TreeFixture.databases {
      #expect(try camp.rows(database, "SELECT note FROM visits ORDER BY fid") == "hidden\nearly", "\(database)")
    }
  }

  @Test("dataset apply checks references as init does, and changes nothing then")
  func refusedVersion() throws {
    let survey = try TreeFixture(trees: "", visits: "")
    let refused = try survey.apply(trees: "", visits: #""references": { "tree": "trees" }"#)
    #expect(refused.code == 1 && refused.out.contains("tables.visits.references.tree"), "\(refused.out)")
    try survey.camp.sql(
      "office.sqlite", "INSERT INTO visits VALUES (1, 9, 'lost'); CREATE INDEX by_tree ON visits (tree_fid, note)")
    let applied = try survey.apply(trees: "", visits: TreeFixture.toTrees)
    #expect(try reasons(applied) == ["foreign-keys"], "\(applied.out) \(applied.error)")
  }

  @Test("a migration that adds related tables is read, and visits follow their trees on every device")
  func migrated() throws {
    let survey = try TreeFixture(
      TreeFixture.trees + TreeFixture.visits, trees: #""keys": "rekey""#, visits: #""keys": "rekey""#)
    let camp = survey.camp
    let applied = try survey.apply(
      trees: #""keys": "rekey""#, visits: #""keys": "rekey" }, "photos": { "#,
      migration: """
        ALTER TABLE visits RENAME COLUMN tree_fid TO base_id; CREATE INDEX visits_base ON visits (base_id);
        \(Self.relations) \(Self.relation)
        """)
    #expect(applied.code == 0, "\(applied.error)")
    #expect(try reasons(applied) == ["reference-read"], "\(applied.out)")
    #expect(try applied.json["rules"]?["visits"] == ["references"])
    try camp.round(["tablet", "phone"])
    for (device, name) in [("tablet", "ann"), ("phone", "ben")] {
      try camp.sql(
        "\(device)/data.sqlite",
        """
        INSERT INTO trees (name) VALUES ('\(name)');
        INSERT INTO visits (base_id, note) SELECT max(fid), '\(name)' FROM trees;
        """)
    }
    try camp.round(["tablet", "phone", "tablet"])
    for database in TreeFixture.databases {
      #expect(
        try camp.rows(
          database, "SELECT v.note, t.name FROM visits AS v JOIN trees AS t ON t.fid = v.base_id ORDER BY 1")
          == "ann|ann\nben|ben", "\(database)")
    }
  }
}
