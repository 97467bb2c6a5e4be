import SatchelSQLite
import SatchelValues
import Testing

private func run(_ script: String) throws -> (statements: Int, rows: String) {
  let database = try memory("CREATE TABLE t (a); CREATE TABLE satchel_t (a)")
  var statements = 0
  try database.runScript(script) { statements += 1 }
  let rows = try database.first("SELECT group_concat(a) FROM (SELECT a FROM t ORDER BY a)") { $0.optionalText(0) ?? "" }
  return (statements, rows ?? "")
}

@Test(
  "a script runs statement by statement, whatever stands between them",
  arguments: [
    ("", 0, ""), (" ;; -- nothing; at all\n/* ; */", 0, ""), ("INSERT INTO t VALUES (1)", 1, "1"),
    ("INSERT INTO t VALUES ('a;b'); -- one; two\nINSERT INTO t VALUES (2);;", 2, "2,a;b"),
    ("CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM t WHERE a = 1; END; INSERT INTO t VALUES (1), (2)", 2, "2"),
    (
      "ALTER TABLE t ADD COLUMN b CHECK (b > 1) DEFAULT 2; INSERT INTO t (a) VALUES ('\u{e9}'); PRAGMA user_version = 7",
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
    ("SELECT 1; \0", 1, "NUL"),
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
