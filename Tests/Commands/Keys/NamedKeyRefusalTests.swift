import SatchelJSON
import SatchelValues
import TestSupport
import Testing

/// Columns that cannot name rows, and rules that read a local key. Such rules are refused, because each replica assigns
/// local keys by itself.
@Suite("A key in the dataset that cannot name rows is refused, with what to do")
struct NamedKeyRefusalTests {
  struct Refusal: Sendable, CustomTestStringConvertible {
    let schema: String
    let tables: String
    let words: [String]
    var testDescription: String { words[0] }
  }

  private static let trees =
    "CREATE TABLE trees (fid INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, kind TEXT, up INT);"
  private static let named = #""trees": { "key": ["uuid"] }"#

  private static let refusals = [
    Refusal(
      schema: "CREATE TABLE trees (fid INTEGER PRIMARY KEY, uuid TEXT UNIQUE)", tables: named,
      words: ["tables.trees.key", "the column uuid may be NULL", "Declare it NOT NULL"]),
    Refusal(
      schema: "CREATE TABLE trees (fid INTEGER PRIMARY KEY, uuid TEXT NOT NULL)", tables: named,
      words: [
        "no UNIQUE index says that there is one row for each uuid",
        #"CREATE UNIQUE INDEX "trees_key" ON "trees" ("uuid")"#,
      ]),
    Refusal(
      schema:
        """
        CREATE TABLE trees (fid INTEGER PRIMARY KEY, uuid TEXT NOT NULL); CREATE UNIQUE INDEX i ON trees (uuid) WHERE \
        fid > 0
        """,
      tables: named, words: ["no UNIQUE index says", "without a condition"]),
    Refusal(
      schema:
        """
        CREATE TABLE trees (fid INTEGER PRIMARY KEY, uuid TEXT NOT NULL); CREATE UNIQUE INDEX i ON trees (lower(uuid))
        """,
      tables: named, words: ["no UNIQUE index says"]),
    Refusal(
      schema:
        """
        CREATE TABLE trees (fid INTEGER PRIMARY KEY, uuid TEXT NOT NULL); CREATE UNIQUE INDEX i ON trees (uuid \
        COLLATE NOCASE)
        """,
      tables: named, words: ["no UNIQUE index says", "by their own collations"]),
    Refusal(
      schema: "CREATE TABLE trees (fid INTEGER PRIMARY KEY, uuid TEXT NOT NULL, n INT NOT NULL, UNIQUE (uuid, n))",
      tables: named, words: ["one row for each uuid"]),
    Refusal(
      schema: trees, tables: #""trees": { "key": ["guid"] }"#,
      words: ["the table has no column guid; generated columns do not count", "It has: fid, uuid, kind, up"]),
    Refusal(
      schema: "CREATE TABLE trees (fid INTEGER PRIMARY KEY, uuid TEXT NOT NULL, UNIQUE (fid, uuid))",
      tables: #""trees": { "key": ["fid", "uuid"] }"#, words: ["fid is the table's INTEGER PRIMARY KEY"]),
    Refusal(schema: trees, tables: #""trees": { "key": [] }"#, words: ["it must be a list of columns"]),
    Refusal(schema: trees, tables: #""trees": { "key": "uuid" }"#, words: ["it must be a list of columns"]),
    Refusal(schema: trees, tables: #""trees": { "key": ["uuid", "uuid"] }"#, words: ["a column occurs twice"]),
    Refusal(
      schema: trees, tables: #""trees": { "key": ["uuid"], "keys": "rekey" }"#,
      words: ["tables.trees.keys", #""rekey" is for whole numbers that name rows, and uuid names the rows here"#]),
    Refusal(
      schema: trees.replacing("PRIMARY KEY,", with: "PRIMARY KEY AUTOINCREMENT,"),
      tables: #""trees": { "key": ["uuid"], "keys": "blocks" }"#,
      words: [#""blocks" is for whole numbers that name rows"#]),
    Refusal(
      schema: trees + "CREATE TABLE visits (id TEXT PRIMARY KEY, tree INT REFERENCES trees (fid))",
      tables: named + #", "visits": {}"#,
      words: [
        "tables.visits", "its column tree refers to fid of trees, which each replica assigns", "Refer to uuid of trees",
      ]),
    Refusal(
      schema: trees + "CREATE TABLE visits (id TEXT PRIMARY KEY, tree INT REFERENCES trees)",
      tables: named + #", "visits": {}"#, words: ["its column tree refers to fid of trees"]),
    Refusal(
      schema: "CREATE TABLE trees (fid INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, up INT REFERENCES trees (FID))",
      tables: named, words: ["its column up refers to fid of trees"]),
    Refusal(
      schema:
        """
        CREATE TABLE plots (id INTEGER PRIMARY KEY); CREATE TABLE trees (fid INTEGER PRIMARY KEY REFERENCES plots, \
        uuid TEXT NOT NULL UNIQUE)
        """,
      tables: named, words: ["the table's PRIMARY KEY fid refers to plots"]),
    Refusal(
      schema: trees + "CREATE UNIQUE INDEX i ON trees (kind || fid)", tables: named,
      words: ["the UNIQUE index i depends on fid"]),
    Refusal(
      schema: trees + "CREATE UNIQUE INDEX i ON trees (kind) WHERE fid > 9", tables: named,
      words: ["the UNIQUE index i depends on fid"]),
    Refusal(
      schema: trees, tables: #""trees": { "key": ["uuid"], "columns": { "fid": "hub" } }"#,
      words: ["tables.trees.columns.fid", "each replica assigns the table's PRIMARY KEY fid by itself"]),
    Refusal(
      schema: trees, tables: #""trees": { "key": ["uuid"], "attachments": ["fid"] }"#,
      words: ["tables.trees.attachments", "PRIMARY KEY fid by itself"]),
    Refusal(
      schema: trees, tables: #""trees": { "key": ["uuid"], "delete": "soft", "deleted": "fid" }"#,
      words: ["tables.trees.deleted", "PRIMARY KEY fid by itself"]),
    Refusal(
      schema: trees, tables: #""trees": { "key": ["uuid"], "visible": "fid < 100" }"#,
      words: ["tables.trees.visible", "it reads fid of trees, which each replica assigns by itself"]),
    Refusal(
      schema: trees, tables: #""trees": { "key": ["uuid"], "write": "_rowid_ < 100" }"#,
      words: ["tables.trees.write", "it reads fid of trees"]),
    Refusal(
      schema: trees + "CREATE TABLE visits (id TEXT PRIMARY KEY, tree TEXT)",
      tables: named + #", "visits": { "visible": "tree IN (SELECT uuid FROM trees WHERE fid < 9)" }"#,
      words: ["tables.visits.visible", "it reads fid of trees"]),
    Refusal(
      schema:
        "CREATE TABLE trees (fid INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, l AS ('T' || fid), m AS (upper(l)))",
      tables: #""trees": { "key": ["uuid"], "visible": "m <> 'T1'" }"#, words: ["it reads m of trees"]),
    Refusal(
      schema: trees + "CREATE TABLE visits (id TEXT PRIMARY KEY, tree_fid INT)",
      tables: named + #", "visits": { "references": { "tree_fid": { "table": "trees", "column": "fid" } } }"#,
      words: ["tables.visits.references.tree_fid", "each replica assigns the table's PRIMARY KEY fid by itself"]),
    Refusal(
      schema: trees + "CREATE TABLE plots (id TEXT PRIMARY KEY)",
      tables: #""plots": {}, "trees": { "key": ["uuid"], "references": { "fid": "plots" } }"#,
      words: ["tables.trees.references.fid", "PRIMARY KEY fid by itself"]),
    Refusal(
      schema: trees + """
        CREATE TABLE photos (id TEXT PRIMARY KEY);
        CREATE TABLE trees_photos (id TEXT PRIMARY KEY, base_id INT, related_id TEXT);
        CREATE TABLE gpkgext_relations (
          id INTEGER PRIMARY KEY, base_table_name TEXT, base_primary_column TEXT, related_table_name TEXT,
          related_primary_column TEXT, relation_name TEXT, mapping_table_name TEXT);
        INSERT INTO gpkgext_relations VALUES (1, 'trees', 'fid', 'photos', 'id', 'media', 'trees_photos');
        """,
      tables: named + #", "photos": {}, "trees_photos": {}"#,
      words: ["tables.trees_photos", "its column base_id refers to fid of trees, as gpkgext_relations says"]),
    // The rowid of a table without a local key is local too, so a rule may not read it.
    Refusal(
      schema: "CREATE TABLE notes (id TEXT PRIMARY KEY)", tables: #""notes": { "visible": "rowid < 9" }"#,
      words: ["tables.notes.visible", "it reads rowid of notes, which each replica assigns by itself"]),
    Refusal(
      schema: "CREATE TABLE a (n INT); CREATE TABLE b (n INT)", tables: #""a": {}, "b": {}"#,
      words: ["no PRIMARY KEY: a, b", #""key": ["COLUMN"]"#]),
  ]

  @Test("init refuses it", arguments: refusals)
  func refused(refusal: Refusal) throws {
    let camp = try CommandLineFixture()
    try camp.sql("office.sqlite", refusal.schema)
    try camp.write("camp.json", CommandLineFixture.definition("{ \(refusal.tables) }"))
    let outcome = camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
    #expect(outcome.code == 1)
    for words in refusal.words { #expect(outcome.error.contains(words), "\(outcome.error)") }
  }

  @Test(
    "columns that can name rows are taken, and no word is said of keys that SQLite counts",
    arguments: [
      ("CREATE TABLE trees (uuid TEXT NOT NULL UNIQUE, kind TEXT)", #"["uuid"]"#),
      ("CREATE TABLE trees (id TEXT PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, kind TEXT)", #"["uuid"]"#),
      ("CREATE TABLE trees (id TEXT PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, kind TEXT) WITHOUT ROWID", #"["uuid"]"#),
      (
        "CREATE TABLE trees (fid INTEGER PRIMARY KEY, uuid TEXT COLLATE NOCASE NOT NULL UNIQUE, kind TEXT) STRICT",
        #"["uuid"]"#
      ),
      (
        "CREATE TABLE trees (fid INTEGER PRIMARY KEY, a INT NOT NULL, uuid TEXT NOT NULL, kind TEXT, UNIQUE (uuid, a))",
        #"["a", "uuid"]"#
      ),
      ("CREATE TABLE trees (uuid TEXT PRIMARY KEY, kind TEXT)", #"["uuid"]"#),
      (
        "CREATE TABLE trees (fid INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, kind TEXT, UNIQUE (fid, kind))",
        #"["uuid"]"#
      ),
    ])
  func taken(schema: String, key: String) throws {
    let camp = try CommandLineFixture()
    try camp.sql("office.sqlite", schema)
    try camp.write("camp.json", CommandLineFixture.definition(#"{ "trees": { "key": \#(key) } }"#))
    let made = camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
    #expect(made.code == 0 && made.error.isEmpty, "\(made.error)")
    camp.hub("user", "add", "ann")
    camp.provision("tablet")
    let isCounted = schema.contains("a INT")
    let columns =
      isCounted ? "uuid, kind, a" : schema.contains("id TEXT PRIMARY KEY, uuid") ? "uuid, kind, id" : "uuid, kind"
    let third = isCounted ? ", 1" : columns.hasSuffix("id") ? ", 'i'" : ""
    try camp.sql("tablet/data.sqlite", "INSERT INTO trees (\(columns)) VALUES ('u1', 'oak'\(third))")
    try camp.round(["tablet"])
    #expect(try camp.rows("office.sqlite", "SELECT uuid, kind FROM trees") == "u1|oak")
    #expect(try camp.rows("office.sqlite", "SELECT key FROM satchel_log").contains("u1"))
  }

  @Test("what names rows cannot change with a version of the dataset, and a new table may be named by columns")
  func versions() throws {
    let camp = try CommandLineFixture()
    try camp.open(
      Self.trees + "CREATE TABLE notes (id TEXT PRIMARY KEY, words TEXT NOT NULL UNIQUE)",
      CommandLineFixture.definition(#"{ "trees": { "key": ["uuid"] }, "notes": {} }"#), devices: ["tablet"])
    func apply(_ version: Int, _ tables: String, _ migration: String? = nil) throws -> CommandLineFixture.Outcome {
      try camp.write("next.json", #"{ "dataset": "camp", "version": \#(version), "tables": { \#(tables) } }"#)
      guard let migration else { return camp.hub("dataset", "apply", camp.path("next.json")) }
      try camp.write("next.sql", migration)
      return camp.hub("dataset", "apply", camp.path("next.json"), "--migration", camp.path("next.sql"))
    }
    let refused = [
      try apply(2, #""trees": {}, "notes": {}"#),
      try apply(2, #""trees": { "key": ["uuid"] }, "notes": { "key": ["words"] }"#),
    ]
    #expect(refused[0].error.contains("its rows are named by uuid, which cannot change"))
    #expect(refused[1].error.contains("its rows are named by their PRIMARY KEY, which cannot change"))
    let other = try apply(
      2, #""trees": { "key": ["code"] }, "notes": {}"#,
      """
      ALTER TABLE trees ADD COLUMN code TEXT NOT NULL DEFAULT ''; UPDATE trees SET code = uuid; CREATE UNIQUE INDEX c \
      ON trees (code);
      """
    )
    #expect(other.error.contains("its \"key\" names other columns than before"), "\(other.error)")
    try camp.sql("tablet/data.sqlite", "INSERT INTO trees (fid, uuid, kind) VALUES (77, 'u1', 'oak')")
    let applied = try apply(
      2, #""trees": { "key": ["guid"] }, "notes": {}, "plots": { "key": ["code"] }"#,
      """
      ALTER TABLE trees RENAME COLUMN uuid TO guid;
      CREATE TABLE plots (fid INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, size REAL);
      INSERT INTO plots VALUES (9, 'p', 1.5);
      """)
    #expect(applied.code == 0, "\(applied.error)")
    try camp.round(["tablet"])
    try camp.sql("tablet/data.sqlite", "UPDATE trees SET kind = 'elm'; UPDATE plots SET size = 2")
    try camp.round(["tablet"])
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT guid, kind FROM trees") == "u1|elm", "\(database)")
      #expect(try camp.rows(database, "SELECT code, size FROM plots") == "p|2.0", "\(database)")
    }
    #expect(try camp.rows("tablet/data.sqlite", "SELECT fid FROM trees") == "77")
    #expect(camp.hub("conflicts").out.contains("No conflict"))
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }
}
