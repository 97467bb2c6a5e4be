import SatchelSQLite
import SatchelValues
import Testing

private let schema =
  "CREATE TABLE t (a, b); CREATE TABLE s (a); CREATE TABLE \"É\" (a); CREATE VIEW v AS SELECT a FROM s"

private func refusal(_ sql: String, tables: [String] = ["T", "É"]) throws -> String? {
  let database = try memory(schema)
  let authorizer = ReadAuthorizer(tables: tables)
  do {
    try database.authorized(by: authorizer) { _ = try database.prepare(sql).columnCount }
    return authorizer.refusal
  } catch { return authorizer.refusal ?? "\(error)" }
}

@Test(
  "rules may read the tables that they are given",
  arguments: [
    "SELECT a FROM t WHERE b = :user", "SELECT count(*) FROM t", "SELECT a IN (SELECT a FROM T) FROM t",
    "SELECT x FROM (SELECT a AS x FROM t)",
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT i FROM n",
    "SELECT lower(a), max(a, b), a LIKE 'x%' FROM t",
    "SELECT a FROM \"É\"",
  ])
func allowed(sql: String) throws { #expect(try refusal(sql) == nil) }

@Test(
  "rules may not read other tables",
  arguments: [
    ("SELECT a FROM s", "s"), ("SELECT (SELECT max(a) FROM s) FROM t", "s"), ("SELECT a FROM v", "s"),
    ("SELECT name FROM sqlite_schema", "sqlite_master"),
  ])
func otherTables(sql: String, table: String) throws {
  #expect(try refusal(sql) == "it reads \(table), which is no table of the dataset")
}

@Test(
  "rules may not call functions whose result depends on more than the row",
  arguments: ["random", "RANDOMBLOB", "last_insert_rowid", "changes", "sqlite_version"])
func functions(name: String) throws {
  let argument = name == "RANDOMBLOB" ? "1" : ""
  #expect(
    try refusal("SELECT \(name)(\(argument)) FROM t")?.hasSuffix("whose result is not decided by the row alone") == true
  )
}

@Test(
  "rules may not do anything but read",
  arguments: [
    "DELETE FROM t", "INSERT INTO t VALUES (1, 2)", "UPDATE t SET a = 1", "DROP TABLE t", "CREATE TABLE x (a)",
    "PRAGMA user_version", "ATTACH ':memory:' AS x",
    "BEGIN", "SAVEPOINT s", "CREATE TEMP TABLE x (a)", "EXPLAIN DELETE FROM t",
  ])
func writing(sql: String) throws { #expect(try refusal(sql) == "it does more than read") }

@Test("statements prepared afterwards are free again")
func afterwards() throws {
  let database = try memory(schema)
  #expect(throws: SQLiteError.self) {
    try database.authorized(by: ReadAuthorizer(tables: [])) { try database.execute("DELETE FROM t") }
  }
  try database.execute("DELETE FROM t")
}

@Test("an answer depends on the columns that are read, and on all where a generated one is among them")
func dependencies() throws {
  let database = try memory("CREATE TABLE t (a, B, c, sum AS (a + c)); CREATE TABLE s (c)")
  let table = TableSchema(name: "t", columns: ["a", "B", "c"], key: [0], foreignKeys: [])
  func places(_ sql: String) throws -> Set<Int> {
    let authorizer = ReadAuthorizer(tables: ["t", "s"])
    try database.authorized(by: authorizer) { _ = try database.prepare(sql).columnCount }
    return authorizer.dependencies(on: table)
  }
  #expect(try places("SELECT 1 FROM t WHERE b > (SELECT max(c) FROM s)") == [1])
  #expect(try places("SELECT 1 FROM T WHERE A = 1 AND EXISTS (SELECT 1 FROM t AS u WHERE u.c = t.a)") == [0, 2])
  #expect(try places("SELECT 1 FROM t WHERE sum > 2") == [0, 1, 2])
  #expect(try places("SELECT 1 FROM s").isEmpty)
}

@Test(
  "expressions that use the present time or place are found",
  arguments: [
    ("a < date('now')", "'now'"), ("date(a, 'LocalTime') > b", "'localtime'"), ("datetime ( ) > a", "datetime()"),
    ("strftime('%Y') = a", "strftime()"), ("a = julianday()", "julianday()"),
    ("a = 'it''s' AND time('Now') > b", "'now'"),
    ("date(a) > '2020'", nil), ("strftime('%Y', a) = b", nil), ("date('2020-01-01') < a", nil), ("a = 'nowhere'", nil),
    ("date < 1 AND time = (a)", nil), ("datetime((a)) = b", nil),
  ])
func presentTimes(expression: String, word: String?) { #expect(presentTime(in: expression) == word) }

@Test("the tables that a statement reads are known, and whether it calls functions of date and time")
func reading() throws {
  let database = try memory("CREATE TABLE t (a); CREATE TABLE s (a)")
  let authorizer = ReadAuthorizer(tables: ["t", "s"])
  try database.authorized(by: authorizer) {
    _ = try database.prepare("SELECT 1 FROM t WHERE Date(t.a) = 1").columnCount
  }
  #expect(authorizer.reads("T") && !authorizer.reads("s") && authorizer.callsDateFunctions)
  let other = ReadAuthorizer(tables: ["t", "s"])
  try database.authorized(by: other) {
    _ = try database.prepare("SELECT 1 FROM (SELECT NULL AS a) AS t WHERE a IN s").columnCount
  }
  #expect(!other.reads("t") && other.reads("s") && !other.callsDateFunctions)
}
