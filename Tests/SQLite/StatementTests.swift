import SatchelSQLite
import SatchelValues
import Testing

private let values: [Value] = [
  .null, .integer(0), .integer(.min), .integer(.max), .integer(1 << 53 + 1), .real(0), .real(-0.0), .real(1),
  .real(.infinity),
  .real(-.infinity), .real(.leastNonzeroMagnitude), .real(.greatestFiniteMagnitude), .real(0.1), .string(""),
  .string("e\u{301}"),
  .string("\u{e9}"), .text([0xff, 0xfe]), .text([0]), .text([97, 0, 98]), .blob([]), .blob([0]), .blob([97]),
  .text([UInt8](repeating: 120, count: 100_000)), .blob([UInt8](repeating: 0, count: 100_000)),
]

@Test("every value comes back as it went in, through a column and straight", arguments: values)
func roundTrip(value: Value) throws {
  let database = try memory("CREATE TABLE t (a)")
  try database.run("INSERT INTO t VALUES (:a)", ["a": value])
  #expect(try database.first("SELECT a FROM t") { $0.value(0) } == value)
  #expect(try database.first("SELECT :a", ["a": value]) { $0.value(0) } == value)
  let isText = if case .text = value { true } else { false }
  #expect(try database.first("SELECT typeof(a) FROM t") { $0.text(0) == "text" } == isText)
}

@Test("columns of two statements are the same exactly where their values are equal")
func sameness() throws {
  let database = try memory()
  let one = try database.prepare("SELECT ?")
  let other = try database.prepare("SELECT NULL, ?")
  for a in values {
    for b in values {
      try one.bind([a])
      try other.bind([b])
      _ = try (one.step(), other.step())
      let isSame = one.isSame(0, as: other, 1)
      #expect(isSame == (a == b), "\(a) and \(b)")
      one.reset()
      other.reset()
    }
  }
}

@Test("a row is copied from one statement to another unchanged", arguments: values)
func rowToRow(value: Value) throws {
  let database = try memory("CREATE TABLE t (a, b); CREATE TABLE u (a, b)")
  try database.run("INSERT INTO t VALUES (1, :a)", ["a": value])
  let query = try database.prepare("SELECT a, b FROM t")
  let insertion = try database.prepare("INSERT INTO u VALUES (?, ?)")
  _ = try query.step()
  try insertion.bind(rowOf: query)
  _ = try insertion.step()
  #expect(try database.first("SELECT b FROM u") { $0.value(0) } == value)
}

@Test("a statement that is run with text of its caller's keeps nothing of it for the next time")
func inPlace() throws {
  let database = try memory("CREATE TABLE t (a, b)")
  let insertion = try database.prepare("INSERT INTO t VALUES (?, ?)")
  for round in 0..<100 {
    try insertion.run([
      .text([UInt8](repeating: UInt8(round), count: 500)), round.isMultiple(of: 2) ? .null : .blob([1]),
    ])
  }
  let rows = try database.all("SELECT a, b FROM t ORDER BY rowid") { ($0.value(0), $0.value(1)) }
  for (round, row) in rows.enumerated() {
    #expect(row.0 == .text([UInt8](repeating: UInt8(round), count: 500)))
    #expect(row.1 == (round.isMultiple(of: 2) ? .null : .blob([1])))
  }
}

@Test("parameters are bound by position and by name, and an unknown name is ignored")
func parameters() throws {
  let database = try memory()
  let statement = try database.prepare("SELECT :b, :a, :b")
  #expect(statement.parameterNames == ["b", "a"])
  try statement.bind(.integer(1), to: "a")
  try statement.bind(.integer(2), to: "b")
  try statement.bind(.integer(3), to: "c")
  #expect(try statement.step())
  #expect(statement.columnCount == 3)
  #expect(statement.values(from: 0, count: 3) == [.integer(2), .integer(1), .integer(2)])
  #expect(try !statement.step())
  statement.reset()
  try statement.bind([.string("x"), .null])
  #expect(try statement.step())
  #expect(statement.optionalText(0) == "x" && statement.optionalText(1) == nil && statement.optionalInteger(1) == nil)
  #expect(throws: SQLiteError.self) { try database.prepare("SELECT 1").bind(.null, at: 2) }
}

@Test("one statement is one statement")
func oneStatement() throws {
  let database = try memory("CREATE TABLE t (a)")
  for sql in ["", "  ", "-- nothing", "SELECT 1; SELECT 2", "DELETE FROM t; DROP TABLE t", "SELECT"] {
    #expect(throws: SQLiteError.self, "\(sql)") { _ = try database.prepare(sql).columnCount }
  }
  #expect(try database.prepare("SELECT 1;").columnCount == 1)
}

@Test("an error has SQLite's code and words, the statement and a kind")
func errors() throws {
  let database = try memory(
    """
    PRAGMA foreign_keys = ON;
    CREATE TABLE t (id INTEGER PRIMARY KEY, u UNIQUE, c CHECK (c > 0), n DEFAULT 1 NOT NULL, r REFERENCES t);
    CREATE TABLE s (k INT PRIMARY KEY) STRICT;
    INSERT INTO t (id, u) VALUES (1, 1)
    """)
  func kind(_ sql: String) -> SQLiteError.Kind? {
    do { try database.execute(sql) } catch { return error.sql == sql && !error.message.isEmpty ? error.kind : nil }
    return nil
  }
  #expect(kind("INSERT INTO t (id) VALUES (1)") == .unique)
  #expect(kind("INSERT INTO t (u) VALUES (1)") == .unique)
  #expect(kind("INSERT INTO t (r) VALUES (9)") == .foreignKey)
  #expect(kind("INSERT INTO t (c) VALUES (0)") == .constraint)
  #expect(kind("INSERT INTO t (n) VALUES (NULL)") == .constraint)
  #expect(kind("INSERT INTO t (id) VALUES ('x')") == .constraint)
  #expect(kind("INSERT INTO s VALUES ('x')") == .constraint)
  #expect(kind("SELECT nothing") == .other)
}

@Test("a file that is missing, cannot be written or is no database is reported as such")
func files() throws {
  let scratch = try Scratch()
  func kind(_ body: () throws -> Void) -> SQLiteError.Kind? {
    do { try body() } catch { return (error as? SQLiteError)?.kind }
    return nil
  }
  #expect(kind { _ = try scratch.open(.readWrite) } == .cannotOpen)
  #expect(kind { _ = try scratch.open(.readOnly) } == .cannotOpen)
  let database = try scratch.open()
  try database.execute("CREATE TABLE t (a)")
  #expect(kind { try scratch.open(.readOnly).execute("INSERT INTO t VALUES (1)") } == .readOnly)
  let other = try Scratch()
  try other.put("this is no database, whatever its name says")
  #expect(kind { try other.open(.readWrite).execute("SELECT * FROM sqlite_schema") } == .notADatabase)
}

@Test("counts of what was written")
func counts() throws {
  let database = try memory("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
  try database.run("INSERT INTO t (id) VALUES (4), (7)")
  #expect(database.changes == 2 && database.lastInsertRowID == 7)
  try database.run("DELETE FROM t")
  #expect(database.changes == 2)
  #expect(try database.all("SELECT id FROM t") { $0.integer(0) } == [])
  #expect(try database.first("SELECT id FROM t") { $0.integer(0) } == nil)
}

@Test(
  "identifiers and texts are quoted so that SQL reads them back",
  arguments: [
    "t", "select", "a b", "\"", "\"\"", "'", "''", "a\"; DROP TABLE x; --", "[x]", "`", "e\u{301}", "\"\u{301}",
    "'\u{301}",
    "naïve 🏕", "",
  ])
func quoting(text: String) throws {
  let database = try memory("CREATE TABLE \(quoted(text)) (\(quoted(text)) DEFAULT \(quotedText(text)))")
  try database.execute("INSERT INTO \(quoted(text)) DEFAULT VALUES")
  #expect(try database.first("SELECT name FROM sqlite_schema") { Name($0.text(0)) } == Name(text))
  #expect(try database.first("SELECT \(quoted(text)) FROM \(quoted(text))") { $0.value(0) } == .string(text))
  #expect(quotedList([Name(text), "b"], prefix: "x.") == "x.\(quoted(text)), x.\"b\"")
}
