import CSQLite
import SatchelValues
import Testing

@testable import SatchelSQLite

/// Registers an app's collation. It sorts texts from Z to A, without regard to case.
private func register(in database: borrowing Database) {
  sqlite3_create_collation_v2(
    database.handle, "unicase", SQLITE_UTF8, nil,
    { _, count, first, otherCount, other in
      func key(_ start: UnsafeRawPointer?, _ count: Int32) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: Int(count)), as: UTF8.self).uppercased()
      }
      let (a, b) = (key(first, count), key(other, otherCount))
      return a == b ? 0 : a < b ? 1 : -1
    }, nil)
  sqlite3_create_function_v2(
    database.handle, "appfn", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil,
    { context, _, values in sqlite3_result_int(context, sqlite3_value_bytes(values?[0]) % 3) }, nil, nil, nil)
}

private let schemas = [
  "CREATE TABLE t (n TEXT COLLATE unicase); CREATE UNIQUE INDEX i ON t (n)",
  "CREATE TABLE t (n TEXT COLLATE unicase PRIMARY KEY, m) WITHOUT ROWID",
  "CREATE TABLE t (n TEXT, m DEFAULT 1); CREATE INDEX i ON t (m, n COLLATE unicase DESC)",
  "CREATE TABLE t (n TEXT COLLATE unicase, m DEFAULT 1, PRIMARY KEY (m, n DESC)) WITHOUT ROWID",
  """
  CREATE TABLE t (n TEXT CHECK (appfn(n) IN (0, 1, 2))); CREATE INDEX i ON t (appfn(n), n COLLATE unicase) WHERE \
  appfn(n) > 0
  """,
  """
  CREATE TABLE t (n TEXT, g AS (appfn(n)) STORED, v AS (n || 'x') VIRTUAL); CREATE INDEX i ON t (v COLLATE unicase, g)
  """,
  """
  CREATE TABLE t (n TEXT COLLATE unicase CHECK (n <> ''), g AS (length(n)) STORED, v AS (g + 1)); CREATE UNIQUE INDEX \
  i ON t (n)
  """,
  "CREATE TABLE t (n TEXT COLLATE unicase); CREATE UNIQUE INDEX i ON t (n); CREATE INDEX j ON t (n DESC)",
  """
  CREATE TABLE t (n TEXT COLLATE unicase UNIQUE CHECK (n <> ''), m TEXT COLLATE unicase, g AS (appfn(n)) STORED);
  CREATE INDEX i ON t (m, n DESC, g) WHERE appfn(n) > 0; CREATE INDEX j ON t (appfn(n) DESC, n)
  """,
]

@Test(
  "a copy and a check need nothing that only the app has, and the copy's indexes are in the app's order",
  arguments: schemas)
func appsOwn(schema: String) throws {
  let scratch = try Scratch()
  let count: Int64?
  do {
    let app = try scratch.open()
    register(in: app)
    try app.execute(schema)
    try app.execute(
      """
      WITH RECURSIVE c (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM c WHERE i < 3000)
      INSERT INTO t (n) SELECT iif(i % 2, 'a', 'B') || substr('zyxwvu', i % 6 + 1, 1) || (i * 7919 % 3000) || substr('xxxx', i % 4) FROM c
      """)
    try app.execute("DELETE FROM t WHERE n LIKE '%5%'; CREATE TABLE other (k PRIMARY KEY)")
    count = try app.first("SELECT count(*) FROM t") { $0.integer(0) }
  }
  let ours = try scratch.open(.readWrite)
  #expect(try ours.integrityFaults() == [])
  #expect(try ours.brokenPage() == nil)
  #expect(throws: (any Error).self, "no stand-in stays where rows are written") {
    try ours.execute("INSERT INTO t (n) VALUES ('q')")
  }
  #expect(try ours.shrink() != nil)
  for mode in [Database.Mode.readWrite, .readOnly] {
    let path = "\(scratch.path).\(mode)"
    try scratch.open(mode).copy(to: path)
    let copy = try Database(path: path, mode: .readWrite)
    #expect(try copy.integrityFaults() == [])
    register(in: copy)
    #expect(try copy.all("PRAGMA integrity_check") { $0.text(0) } == ["ok"], "\(mode)")
    #expect(try copy.first("SELECT count(*) FROM t") { $0.integer(0) } == count)
    #expect(try statements(of: copy) == statements(of: ours), "\(mode)")
  }
}

/// The CREATE statements of all objects in a database.
private func statements(of database: borrowing Database) throws -> [String] {
  try database.all("SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1") {
    $0.text(0)
  }
}

@Test("a table whose own rules sort both ways by an app's collation is named, and the file stays readable")
func bothWaysInOneTable() throws {
  let scratch = try Scratch()
  do {
    let app = try scratch.open()
    register(in: app)
    try app.execute(
      """
      CREATE TABLE t (n TEXT COLLATE unicase UNIQUE, m TEXT COLLATE unicase, PRIMARY KEY (m DESC));
      INSERT INTO t VALUES ('b', 'b'), ('A', 'A')
      """)
  }
  let ours = try scratch.open(.readWrite)
  #expect(try ours.integrityFaults() == [])
  #expect(try ours.brokenPage() == nil)
  let error = #expect(throws: CopyError.self) { try ours.copy(to: scratch.path + ".copy") }
  #expect(error?.message.contains("the table t sorts both up and down by the collation unicase") == true)
  #expect(error?.hint?.contains("rules of the table t") == true)
}

@Test("a damaged index is found beside tables that only the app can check")
func damagedBesideApps() throws {
  let scratch = try Scratch()
  do {
    let app = try scratch.open()
    register(in: app)
    try app.execute("\(schemas[0]); INSERT INTO t VALUES ('a'), ('b'); CREATE TABLE u (a, b); CREATE INDEX j ON u (a)")
    try app.execute("INSERT INTO u VALUES (1, 2), (3, 4)")
    try app.execute(
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE INDEX j ON u (b)' WHERE name = 'j'")
  }
  #expect(try !scratch.open(.readWrite).integrityFaults().isEmpty)
}

@Test("values of another type than their column's, or that a constraint forbids, are no damage, however many")
func valuesAreNoDamage() throws {
  let scratch = try Scratch()
  do {
    let app = try scratch.open()
    try app.execute(
      """
      CREATE TABLE t (a TEXT, b REAL, c INTEGER, d);
      WITH RECURSIVE c (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM c WHERE i < 500) INSERT INTO t SELECT 'x', 1.5, 7, NULL FROM c;
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = 'CREATE TABLE t (a INTEGER, b TEXT, c TEXT CHECK (c > 8), d NOT NULL)' WHERE name = 't';
      """)
  }
  let database = try scratch.open(.readWrite)
  #expect(try database.integrityFaults() == [])
  #expect(try database.brokenPage() == nil)
}
