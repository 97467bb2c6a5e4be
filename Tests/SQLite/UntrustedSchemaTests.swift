import SatchelSQLite
import Testing

/// Files from elsewhere whose schemas use JSON functions.
@Suite struct UntrustedSchemaTests {
  @Test(
    "a file of someone else may compute values by SQLite's JSON functions",
    arguments: [
      "CREATE INDEX i ON t (json_extract(a, '$.n'))", "CREATE UNIQUE INDEX i ON t (a ->> '$.n')",
      "CREATE INDEX i ON t (a) WHERE json_type(a) = 'object'",
      "ALTER TABLE t ADD COLUMN n AS (json_extract(a, '$.n'))",
    ])
  func untrustedJSON(statement: String) throws {
    let scratch = try Scratch()
    let database = try scratch.open()
    try database.execute(#"CREATE TABLE t (a); INSERT INTO t VALUES ('{"n":1}'); \#(statement)"#)
    let opened = try Database.untrusted(path: scratch.path)
    #expect(try opened.first("SELECT a ->> '$.n' FROM t") { $0.integer(0) } == 1)
  }

  @Test("a file of someone else that uses JSON functions may have no views or virtual tables")
  func untrustedViews() throws {
    for statement in ["CREATE VIEW v AS SELECT a FROM t", "CREATE VIRTUAL TABLE v USING fts5 (a)"] {
      let scratch = try Scratch()
      let database = try scratch.open()
      try database.execute("CREATE TABLE t (a); CREATE INDEX i ON t (json_extract(a, '$.n')); \(statement)")
      // Newer releases of SQLite can open such a file without trusting its schema.
      guard let opened = try? Database.untrusted(path: scratch.path) else { continue }
      #expect(try opened.first("PRAGMA trusted_schema") { $0.integer(0) } == 0)
    }
  }
}
