import SatchelSQLite
import SatchelValues
import Testing

private func run(_ script: String) throws -> (statements: Int, rows: String) {
  let database = try memory("CREATE TABLE t (a); CREATE TABLE satchel_t (a)")
  var statements = 0
  let isOver = { false }
  try database.runScript(script, until: isOver) { statements += 1 }
  let rows = try database.first("SELECT group_concat(a) FROM (SELECT a FROM t ORDER BY a)") { $0.optionalText(0) ?? "" }
  return (statements, rows ?? "")
}

@Test(
  "a script runs statement by statement, whatever is between them",
  arguments: [
    ("", 0, ""), (" ;; -- nothing; at all\n/* ; */", 0, ""), ("INSERT INTO t VALUES (1)", 1, "1"),
    ("INSERT INTO t VALUES ('a;b'); -- one; two\nINSERT INTO t VALUES (2);;", 2, "2,a;b"),
    ("CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM t WHERE a = 1; END; INSERT INTO t VALUES (1), (2)", 2, "2"),
    (
      """
      ALTER TABLE t ADD COLUMN b CHECK (b > 1) DEFAULT 2; INSERT INTO t (a) VALUES ('\u{e9}'); PRAGMA user_version = 7
      """,
      3,
      "\u{e9}"
    ),
  ])
func scripts(script: String, statements: Int, rows: String) throws {
  let done = try run(script)
  #expect(done.statements == statements && done.rows == rows)
}

@Test(
  "a script that goes wrong says in which line",
  arguments: [
    ("INSERT INTO t VALUES (1);\n\nINSERT INTO nowhere\nVALUES (1)", 3, "no such table: nowhere"),
    ("\nINSERT INTO t VALUES (1); ROLLBACK", 2, "it begins or ends a transaction"),
    ("DELETE FROM SATCHEL_T", 1, "it touches satchel_t"), ("SELECT 1;\n'", 1, "unrecognized token"),
    ("ALTER TABLE t RENAME COLUMN \"b\" TO c", 1, "no such column: \"b\""),
    ("SELECT 1; \0", 1, "NUL"), ("SELECT 1;\nSELECT length(hex(zeroblob(40000000)))", 2, "of more than 64 MiB"),
  ])
func wrongScripts(script: String, line: Int, words: String) throws {
  let error = try #require(throws: ScriptError.self) { try run(script) }
  #expect(error.line == line && error.message.hasPrefix(words) || error.message.contains(words), "\(error)")
}

@Test("a script has a thousand statements and no more")
func longScripts() throws {
  #expect(try run(String(repeating: "SELECT 1;\n", count: 1_000)).statements == 1_000)
  let error = try #require(throws: ScriptError.self) { try run(String(repeating: "SELECT 1;\n", count: 1_001)) }
  #expect(error.line == 1_001)
}

private let reserved = "begins with satchel_"

@Test(
  "a script makes nothing temporary, renames nothing to Satchel's names, and leaves nothing that names them",
  arguments: [
    ("CREATE TEMP TABLE t (a)", "temporary"), ("CREATE TABLE temp.t (a)", "temporary"),
    ("CREATE TEMP VIEW t AS SELECT 1", "temporary"), ("CREATE VIRTUAL TABLE temp.t USING fts5 (a)", "temporary"),
    ("CREATE TEMP TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END", "temporary"),
    ("ALTER TABLE t RENAME TO satchel_x", reserved), ("ALTER TABLE t RENAME TO \"Satchel_x\"", reserved),
    ("ALTER TABLE t RENAME TO sqlite_x", "reserved"), ("CREATE INDEX satchel_i ON t (a)", reserved),
    ("CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM satchel_t; END", "the trigger x names"),
    ("CREATE TRIGGER x AFTER INSERT ON t BEGIN UPDATE \"SATCHEL_T\" SET a = 1; END", "the trigger x names"),
    ("CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO [satchel_t] VALUES (1); END", "the trigger x names"),
    ("CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO `satchel_t` VALUES (1); END", "the trigger x names"),
    ("CREATE VIEW v AS SELECT * FROM satchel_t", "the view v names"),
    ("CREATE VIEW v AS SELECT * FROM 'satchel_t'", "the view v names"),
    ("CREATE TABLE n (a REFERENCES satchel_t (a))", "the table n names"),
    ("CREATE VIRTUAL TABLE f USING fts5 (a, content = 'satchel_t')", "the table f names"),
    ("CREATE TRIGGER x AFTER INSERT ON satchel_t BEGIN SELECT 1; END", "satchel_t"),
    ("PRAGMA page_size = 512", "PRAGMA page_size"), ("PRAGMA writable_schema = ON", "PRAGMA writable_schema"),
    ("ATTACH ':memory:' AS other", "opens another database"), ("SELECT load_extension('x')", "load_extension"),
  ])
func reachingScripts(script: String, words: String) throws {
  let error = try #require(throws: ScriptError.self) { try run("SELECT 1;\n\(script)") }
  #expect(error.line == 2 && error.message.contains(words), "\(error)")
}

@Test("names that only look like Satchel's belong to the app, and so do objects that used them before")
func harmlessScripts() throws {
  let database = try memory(
    "CREATE TABLE t (a); CREATE TABLE satchel_t (a); CREATE VIEW v AS SELECT t.a FROM t JOIN satchel_t")
  let script = """
    CREATE TABLE my_satchel_t (a, satchel, text DEFAULT 'a satchel_t'); -- satchel_t
    CREATE VIEW w AS SELECT a /* of satchel_t */ FROM my_satchel_t;
    CREATE VIRTUAL TABLE f USING fts5 (a); CREATE VIRTUAL TABLE r USING rtree (id, x1, x2);
    ALTER TABLE t RENAME COLUMN a TO b; ALTER TABLE t RENAME TO u;
    """
  let isOver = { false }
  try database.runScript(script, until: isOver) {}
  #expect(try database.first("SELECT sql FROM sqlite_schema WHERE name = 'v'") { $0.text(0) }?.contains("u") == true)
}

private let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"

@Test(
  "a statement that does not end is ended, and the script says in which line it is",
  arguments: [
    "\(endless) SELECT count(*) FROM n", "INSERT INTO t \(endless) SELECT i FROM n",
    "CREATE TABLE m AS \(endless) SELECT i FROM n",
  ])
func endlessScripts(statement: String) throws {
  let database = try memory("CREATE TABLE t (a); CREATE TABLE satchel_t (a)")
  var looks = 0
  let isOver = {
    looks += 1
    return looks > 20
  }
  let error = try #require(throws: ScriptError.self) {
    try database.writeTransaction { try database.runScript("SELECT 1;\n\(statement)", until: isOver) {} }
  }
  #expect(error.line == 2 && error.message.contains("does not come to an end"), "\(error)")
  #expect(try database.first("SELECT count(*) FROM t") { $0.integer(0) } == 0)
}
