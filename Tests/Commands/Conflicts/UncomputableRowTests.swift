import Testing

/// Rows for which SQLite cannot compute an expression of their table, because a text that the expression reads is not
/// JSON.
@Suite("Rows that a table's expressions cannot be computed for")
struct UncomputableRowTests {
  /// The expression reads `doc` only if `kind` is 'json'. Each side's write alone gives an allowed row. Both writes
  /// together do not.
  static let schemas = [
    "kind TEXT, doc TEXT, CHECK (CASE kind WHEN 'json' THEN json_extract(doc, '$.n') > 0 ELSE 1 END));",
    "kind TEXT, doc TEXT, n AS (CASE kind WHEN 'json' THEN json_extract(doc, '$.n') END));",
    "kind TEXT, doc TEXT); CREATE INDEX ti ON t (CASE kind WHEN 'json' THEN json_extract(doc, '$.n') END);",
    "kind TEXT, doc TEXT); CREATE INDEX ti ON t (id) WHERE CASE kind WHEN 'json' THEN doc ->> '$.n' END > 0;",
  ]

  private let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture() }

  /// Makes a hub with one row. Then the tablet changes the row's `kind`, and the office changes its `doc`. Each side
  /// also makes another row.
  private func meet(_ schema: String) throws {
    try camp.open(
      "CREATE TABLE t (id TEXT PRIMARY KEY, \(schema)"
        + #"INSERT INTO t (id, kind, doc) VALUES ('x', 'text', '{"n":1}');"#,
      CommandLineFixture.definition(#"{ "t": { "conflict": "hub" } }"#), devices: ["tablet"])
    try camp.sql(
      "tablet/data.sqlite",
      "UPDATE t SET kind = 'json' WHERE id = 'x'; INSERT INTO t (id, kind, doc) VALUES ('y', 'text', 'more')")
    try camp.sql(
      "office.sqlite",
      "UPDATE t SET doc = 'words' WHERE id = 'x'; INSERT INTO t (id, kind, doc) VALUES ('z', 'text', 'last')")
  }

  private func conflicts(_ database: String) throws -> String {
    try camp.rows(database, "SELECT kind, state, key FROM satchel_conflicts ORDER BY key")
  }

  private func texts(_ database: String) throws -> String {
    try camp.rows(database, "SELECT id, kind, doc FROM t ORDER BY id")
  }

  @Test("the hub holds the row, and takes the others of its bundle", arguments: schemas)
  func atTheHub(schema: String) throws {
    try meet(schema)
    let outcome = camp.hub("import", try camp.export("tablet"))
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(try conflicts("office.sqlite") == #"constraint|held|["x"]"#)
    #expect(try texts("office.sqlite") == "x|text|words\ny|text|more\nz|text|last")
    try camp.answer("tablet")
    #expect(try texts("tablet/data.sqlite") == texts("office.sqlite"))
  }

  @Test("the hub holds a new row too, and takes the others of its bundle")
  func newRow() throws {
    try meet(Self.schemas[0])
    try camp.sql(
      "tablet/data.sqlite",
      """
      PRAGMA ignore_check_constraints = ON;
      UPDATE t SET kind = 'text' WHERE id = 'x'; INSERT INTO t (id, kind, doc) VALUES ('n', 'json', 'no')
      """)
    let outcome = camp.hub("import", try camp.export("tablet"))
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(try conflicts("office.sqlite") == #"constraint|held|["n"]"#)
    #expect(try texts("office.sqlite") == "x|text|words\ny|text|more\nz|text|last")
  }

  @Test("a device takes the hub's row, keeps its own change as a conflict, and takes the others", arguments: schemas)
  func onADevice(schema: String) throws {
    try meet(schema)
    try camp.answer("tablet")
    #expect(try conflicts("tablet/data.sqlite") == #"constraint|open|["x"]"#)
    #expect(try texts("tablet/data.sqlite") == "x|text|words\ny|text|more\nz|text|last")
  }

  @Test("a database that is created again from an export has the same conflict")
  func rebuilt() throws {
    try meet(Self.schemas[2])
    _ = try camp.export("tablet")
    try camp.answer("tablet", full: true)
    try camp.loseDatabase(of: "tablet")
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.error)")
    #expect(try conflicts("tablet/data.sqlite") == #"constraint|open|["x"]"#)
    #expect(try texts("tablet/data.sqlite") == "x|text|words\ny|text|more\nz|text|last")
  }

  @Test("a row whose present values cannot be computed keeps its entries in all indexes")
  func entries() throws {
    try camp.open(
      """
      CREATE TABLE t (id TEXT PRIMARY KEY, a TEXT, b TEXT);
      CREATE INDEX tb ON t (json_quote(b)); CREATE INDEX ta ON t (a);
      INSERT INTO t VALUES ('x', 'old', 'words');
      """, CommandLineFixture.definition(#"{ "t": {} }"#), devices: ["tablet"])
    // Imitates a newer release of SQLite that accepts more texts as JSON and that wrote this index entry.
    try camp.sql(
      "office.sqlite",
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, 'json_quote', 'json_array_length') WHERE name = 'tb';
      PRAGMA writable_schema = OFF;
      """)
    try camp.sql("tablet/data.sqlite", "UPDATE t SET a = 'new', b = '[1]'")
    let outcome = camp.hub("import", try camp.export("tablet"))
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(try conflicts("office.sqlite") == #"constraint|held|["x"]"#)
    #expect(try camp.rows("office.sqlite", "SELECT id FROM t INDEXED BY ta WHERE a = 'old'") == "x")
  }
}
