import Foundation
import SatchelSQLite
import SatchelValues
import Testing

private func info(_ declaration: String, _ more: String..., table: Name = "t") throws -> TableInfo {
  let database = try memory(declaration)
  for sql in more { try database.execute(sql) }
  return try #require(try database.tableInfo(table))
}

@Test(
  "only a column that is an alias of the rowid counts as one",
  arguments: [
    ("t (id INTEGER PRIMARY KEY)", true), ("t (id integer primary key asc)", true),
    ("t (a, id InTeGeR, PRIMARY KEY (id))", true),
    ("t (id INTEGER, PRIMARY KEY (id DESC))", true), ("t (id INTEGER PRIMARY KEY AUTOINCREMENT)", true),
    ("t (id INTEGER PRIMARY KEY DESC)", false), ("t (id INT PRIMARY KEY)", false),
    ("t (id INTEGER PRIMARY KEY) WITHOUT ROWID", false),
    ("t (id INTEGER, a, PRIMARY KEY (id, a))", false), ("t (id BIGINT PRIMARY KEY)", false),
    ("t (id UNSIGNED INTEGER PRIMARY KEY)", false),
    ("t (id INTEGER(8) PRIMARY KEY)", false), ("t (id PRIMARY KEY)", false), ("t (id \"INTEGER\" PRIMARY KEY)", nil),
    ("t (id [INTEGER] PRIMARY KEY)", nil),
    ("t (id 'INTEGER' PRIMARY KEY)", nil),
  ])
func rowidAlias(declaration: String, isAlias: Bool?) throws {
  let info = try info("CREATE TABLE \(declaration)")
  // SQLite itself confirms this: it makes a value only for the alias of the rowid.
  let database = try memory("CREATE TABLE \(declaration)")
  try? database.execute("INSERT INTO t DEFAULT VALUES")
  let isMade = try database.first("SELECT id IS NOT NULL FROM t") { $0.integer(0) != 0 } ?? false
  #expect((info.rowidAlias != nil) == isMade)
  if let isAlias { #expect(isMade == isAlias) }
}

@Test("columns that are stored, in their order, and the key in its own")
func columns() throws {
  let info = try info(
    "CREATE TABLE t (c, a TEXT, g AS (a) STORED, b INT DEFAULT 1 NOT NULL, v AS (b), PRIMARY KEY (b, a))")
  #expect(info.schema.columns == ["c", "a", "b"])
  #expect(info.schema.key == [2, 1])
  #expect(info.types == ["", "TEXT", "INT"])
  #expect(info.hasDefault == [false, false, true])
  #expect(info.schema.position(of: "v") == nil)
  #expect(try memory().tableInfo("t") == nil)
}

@Test("the kind of a table")
func kinds() throws {
  #expect(try info("CREATE VIEW t AS SELECT 1").isView)
  #expect(try info("CREATE VIRTUAL TABLE t USING fts5(a)").isVirtual)
  #expect(try info("CREATE VIRTUAL TABLE t USING fts5(a)", table: "t_data").isVirtual)
  let plain = try info("CREATE TABLE t (a)")
  #expect(!plain.isView && !plain.isVirtual && plain.schema.key.isEmpty)
  let database = try memory(
    """
    CREATE TABLE b (a); CREATE TABLE a (a); CREATE VIEW v AS SELECT 1; CREATE TABLE Satchel_x (a); CREATE TABLE \
    satchelx (a)
    """
  )
  #expect(try database.tableNames() == ["a", "b", "satchelx"])
  #expect(try database.hasTable("a") && !database.hasTable("v") && !database.hasTable("A"))
}

@Test("the rowid has a name that no column has")
func rowidNames() throws {
  #expect(try info("CREATE TABLE t (a)").rowid == "rowid")
  #expect(try info("CREATE TABLE t (RowID)").rowid == "_rowid_")
  #expect(try info("CREATE TABLE t (oid, rowid AS (1), _rowid_)").rowid == nil)
  #expect(try info("CREATE TABLE t (a PRIMARY KEY) WITHOUT ROWID").rowid == nil)
}

@Test("AUTOINCREMENT is seen")
func autoincrement() throws {
  #expect(try info("CREATE TABLE t (id INTEGER PRIMARY KEY AutoIncrement)").isAutoincrement)
  #expect(try !info("CREATE TABLE t (id INTEGER PRIMARY KEY)").isAutoincrement)
  #expect(try !info("CREATE TABLE t (id INTEGER PRIMARY KEY) /* no autoincrement */").isAutoincrement)
}

@Test(
  "the value with which OR REPLACE replaces NULL",
  arguments: [
    ("1", "1"), ("-1.5", "-1.5"), ("'x'", "'x'"), ("\"x\"\"y'z\"", "'x\"y''z'"), ("x", "'x'"), ("NULL", nil),
    ("TRUE", "1"),
    ("(1 + 1)", "2"), ("x'00'", "x'00'"),
    ("CURRENT_DATE", "CURRENT_DATE"), ("(lower('ABC') || \"\")", "'abc'"),
  ] as [(String, String?)])
func replacements(declared: String, expected: String?) throws {
  // SQLite refuses a default in double quotes inside parentheses.
  if declared.contains("\"\")") { return }
  let info = try info("CREATE TABLE t (id INTEGER PRIMARY KEY, a NOT NULL DEFAULT \(declared), b DEFAULT \(declared))")
  #expect(info.replacements[2] == nil)
  let replacement = info.replacements[1]
  #expect((replacement == nil) == (expected == nil))
  guard let replacement, let expected else { return }
  #expect(
    try memory().first("SELECT \(replacement) IS \(expected) AND typeof(\(replacement)) = typeof(\(expected))") {
      $0.integer(0)
    }
      == 1)
}

@Test("foreign keys, with the parent's key where none is named and in the parent's own spelling")
func foreignKeys() throws {
  let info = try info(
    """
    CREATE TABLE t (id INTEGER PRIMARY KEY, a REFERENCES P, b, c, D REFERENCES q (X), e REFERENCES nowhere, f REFERENCES nowhere (y),
      FOREIGN KEY (c, B) REFERENCES r, FOREIGN KEY (b) REFERENCES t);
    CREATE TABLE p (k TEXT PRIMARY KEY);
    CREATE TABLE q (x UNIQUE);
    CREATE TABLE r (m, n, PRIMARY KEY (n, m));
    """)
  let expected = [
    ForeignKey(columns: [1], parent: "p", parentColumns: ["k"]),
    ForeignKey(columns: [4], parent: "q", parentColumns: ["x"]),
    ForeignKey(columns: [6], parent: "nowhere", parentColumns: ["y"]),
    ForeignKey(columns: [3, 2], parent: "r", parentColumns: ["n", "m"]),
    ForeignKey(columns: [2], parent: "t", parentColumns: ["id"]),
  ]
  #expect(Set(info.schema.foreignKeys) == Set(expected))
}

@Test("UNIQUE indexes, with each part's collation and the condition of a partial one")
func uniqueIndexes() throws {
  let info = try info(
    """
    CREATE TABLE t (k TEXT COLLATE NOCASE PRIMARY KEY, a UNIQUE, b TEXT COLLATE RTRIM, c, g INT CHECK (g <> 5 OR 1) \
    GENERATED ALWAYS AS (c + (1)) VIRTUAL, UNIQUE (b, c))
    """,
    "CREATE UNIQUE INDEX i ON t (b COLLATE NOCASE DESC) WHERE c > 1", "CREATE INDEX plain ON t (c)",
    "CREATE UNIQUE INDEX e ON t (lower(b) COLLATE NOCASE DESC , (c + 1), substr(b, 1, 2)) WHERE c",
    "CREATE UNIQUE INDEX h ON t (g)", "CREATE UNIQUE INDEX o ON t (b = 'x')")
  let indexes = info.uniqueIndexes.map { index in
    index.parts.map { "\(text($0, info)) \($0.collation)" }.joined(separator: ", ")
      + (index.condition.map { " where\($0)" } ?? "")
  }
  #expect(
    Set(indexes) == [
      "k NOCASE", "a BINARY", "b RTRIM, c BINARY", "b NOCASE where c > 1", "generated g from c + (1) BINARY",
      "lower(b) COLLATE NOCASE NOCASE, (c + 1) BINARY, substr(b, 1, 2) BINARY where c",
    ])
  #expect(info.unsupportedIndexes == ["o"])
  #expect(try keyColumns("CREATE TABLE t (a, b, PRIMARY KEY (b, a)) WITHOUT ROWID") == ["b, a"])
}

@Test(
  "an arrow into JSON in a UNIQUE index is no comparison, and a comparison beside it is one",
  arguments: [
    ("c -> '$.n'", true), ("c ->> '$.n'", true), ("- c ->> b", true), ("c ->> '$.n' > 1", false),
    ("- 'x' > c", false), ("c - 'x' > 1", false), ("b > c", false),
  ])
func arrows(expression: String, isKnown: Bool) throws {
  let info = try info("CREATE TABLE t (k PRIMARY KEY, b, c)", "CREATE UNIQUE INDEX e ON t (\(expression))")
  #expect(info.unsupportedIndexes.isEmpty == isKnown)
}

private func text(_ part: UniqueIndex.Part, _ info: TableInfo) -> String {
  switch part.source {
  case .column(let place): info.schema.columns[place].text
  case .generated(let name, let sql): "generated \(name) from \(sql)"
  case .expression(let sql): sql.trimmingCharacters(in: .whitespaces)
  }
}

private func keyColumns(_ declaration: String) throws -> [String] {
  let info = try info(declaration)
  return info.uniqueIndexes.map { $0.parts.map { text($0, info) }.joined(separator: ", ") }
}

@Test("a file of someone else is opened read-only and without triggers, and a damaged one is refused")
func untrusted() throws {
  let scratch = try Scratch()
  let database = try scratch.open()
  try database.execute("CREATE TABLE t (a); CREATE VIEW v AS SELECT a FROM t; INSERT INTO t VALUES (1)")
  let opened = try Database.untrusted(path: scratch.path)
  #expect(try opened.first("SELECT a FROM t") { $0.integer(0) } == 1)
  #expect(throws: SQLiteError.self) { try opened.execute("DELETE FROM t") }
  #expect(throws: SQLiteError.self) { try opened.execute("SELECT * FROM v") }
  #expect(throws: SQLiteError.self) { try opened.execute("ATTACH ':memory:' AS x") }
  let other = try Scratch()
  try other.put("SQLite format 3\0 and nothing else")
  #expect(throws: SQLiteError.self) { _ = try Database.untrusted(path: other.path) }
}

@Test("how a column's values are compared: by its declared type and its collation")
func comparisons() throws {
  let database = try memory(
    """
    CREATE TABLE t (a INTEGER PRIMARY KEY, b BIGINT, c varchar(5) COLLATE nocase, d, e FLOATING POINT, f DOUBLE, g \
    DECIMAL, h ANY, i CLOB)
    """
  )
  func comparison(_ column: Name) -> Comparison? { database.comparison(of: column, in: "t") }
  let found = (["a", "b", "c", "d", "e", "f", "g", "i"] as [Name]).map { comparison($0)?.affinity }
  #expect(found == [.integer, .integer, .text, Comparison.Affinity.none, .integer, .real, .numeric, .text])
  #expect(
    comparison("c")?.collation == "NOCASE" && comparison("c")?.isBinary == false && comparison("a") == comparison("b"))
  #expect(comparison("h") == nil && comparison("x") == nil)
}
