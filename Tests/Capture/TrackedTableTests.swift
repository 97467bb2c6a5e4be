import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues
import Testing

private func refusal(_ tables: [String], _ setUp: String...) throws -> DatasetError? {
  do {
    _ = try CapturedDatabase(tables, setUp: setUp)
    return nil
  } catch let error as DatasetError { return error }
}

@Test("a table that cannot be kept in step is refused by name, with what to do")
func refusals() throws {
  let missing = try #require(
    try refusal(["x"], "CREATE TABLE t (id INTEGER PRIMARY KEY)", "CREATE TABLE satchel_x (a)"))
  #expect(missing.message == "The dataset's definition, at tables.x: the database has no such table.")
  #expect(missing.hint == "It has: t.")
  let view = try #require(try refusal(["v"], "CREATE VIEW v AS SELECT 1 AS id"))
  #expect(view.place == "tables.v" && view.problem == "it is a view or a virtual table" && view.hint != nil)
  let virtual = try #require(try refusal(["f"], "CREATE VIRTUAL TABLE f USING fts5(a)"))
  #expect(virtual.problem == "it is a view or a virtual table")
  let shadow = try #require(try refusal(["f_data"], "CREATE VIRTUAL TABLE f USING fts5(a)"))
  #expect(shadow.problem == "it is a view or a virtual table")
  let keyless = try #require(try refusal(["t"], "CREATE TABLE t (a)"))
  #expect(keyless.problem.hasPrefix("the table has no PRIMARY KEY") && keyless.hint != nil)
  let expression = try #require(
    try refusal(["t"], "CREATE TABLE t (id INTEGER PRIMARY KEY, a)", "CREATE UNIQUE INDEX i ON t (a > 1)"))
  #expect(
    expression.problem.hasPrefix("the UNIQUE index i is over an expression that compares") && expression.hint != nil)
  let generated = try #require(
    try refusal(["t"], "CREATE TABLE t (id INTEGER PRIMARY KEY, a, g AS (a > 1) UNIQUE)"))
  #expect(generated.problem.contains("uses a generated column") && generated.hint != nil)
  let chain = "CREATE TABLE t (id INTEGER PRIMARY KEY, a, g AS (a + 1), h AS (G + 1) UNIQUE)"
  #expect(try refusal(["t"], chain)?.problem.contains("uses a generated column") == true)
  // An index that is not UNIQUE makes OR REPLACE delete no row.
  #expect(try refusal(["t"], "CREATE TABLE t (id INTEGER PRIMARY KEY, a)", "CREATE INDEX i ON t (lower(a))") == nil)
}

@Test("table names are compared by their bytes")
func names() throws {
  #expect(
    try refusal(["\u{e9}"], "CREATE TABLE \"e\u{301}\" (id INTEGER PRIMARY KEY)")?.problem
      == "the database has no such table")
  #expect(try refusal(["T"], "CREATE TABLE t (id INTEGER PRIMARY KEY)")?.problem == "the database has no such table")
}

private func wide(_ columns: Int, _ key: String) -> String {
  "CREATE TABLE wide (id \(key), " + (2...columns).map { "c\($0)" }.joined(separator: ", ") + ")"
}

@Test(
  "a table of 1,995 columns is captured, and one with more is refused by name",
  arguments: ["INTEGER PRIMARY KEY", "TEXT PRIMARY KEY"])
func widest(key: String) throws {
  let database = try CapturedDatabase(
    ["wide"], setUp: [wide(1_995, key), "INSERT INTO wide (id, c1995) VALUES (1, 'x'), (2, 'y')"])
  try database.write(
    "UPDATE wide SET c1995 = 'X', c2 = 2 WHERE id = 1", "DELETE FROM wide WHERE id = 2",
    "INSERT INTO wide (id, c5) VALUES (3, 5)"
  )
  #expect(try database.faults() == [])
  #expect(try database.steps().count == 3)
  let error = try #require(try refusal(["wide"], wide(1_996, key)))
  #expect(
    error.message
      == "The dataset's definition, at tables.wide: the table has 1996 columns; at most 1995 can be captured.")
}

@Test("a column with a policy must be there and be stored")
func columnsOfRules() throws {
  let scratch = try Scratch()
  let database = try Database(path: scratch("d"), mode: .create)
  try database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a, g AS (a))")
  for column in ["b", "g"] {
    let dataset = try DatasetDefinition(
      json: Array(#"{"dataset":"d","version":1,"tables":{"t":{"columns":{"\#(column)":"hub"}}}}"#.utf8))
    do {
      _ = try TrackedTable.find(dataset, in: database)
      Issue.record("\(column) was taken")
    } catch let error as DatasetError {
      #expect(
        error.place == "tables.t.columns.\(column)"
          && error.problem == "the table has no column of this name; generated columns do not count")
    }
  }
}

@Test("parents come before their children, and a circle keeps the definition's order")
func order() throws {
  func order(_ tables: [String], _ setUp: String...) throws -> [String] {
    try CapturedDatabase(tables, setUp: setUp).tables.map(\.name.text)
  }
  let chain = [
    "CREATE TABLE c (id INTEGER PRIMARY KEY, b REFERENCES B)",
    "CREATE TABLE b (id INTEGER PRIMARY KEY, a REFERENCES a (id))",
    "CREATE TABLE a (id INTEGER PRIMARY KEY, up REFERENCES a)",
  ]
  #expect(try CapturedDatabase(["c", "b", "a"], setUp: chain).tables.map(\.name.text) == ["a", "b", "c"])
  #expect(
    try order(
      ["x", "y"], "CREATE TABLE y (id INTEGER PRIMARY KEY, x REFERENCES x)",
      "CREATE TABLE x (id INTEGER PRIMARY KEY, y REFERENCES y)")
      == ["x", "y"])
}

@Test("rows without a name are written, counted and not captured")
func nameless() throws {
  let captured = try CapturedDatabase(["t"], setUp: ["CREATE TABLE t (a TEXT, b, PRIMARY KEY (a, b))"])
  try captured.write("INSERT INTO t VALUES (NULL, 1), ('x', NULL), ('x', 1), (NULL, NULL), (NULL, 1)")
  let database = try captured.open()
  #expect(try captured.tables[0].namelessRows(in: database) == 4)
  #expect(try captured.steps() == ["insert t 'x', 1"])
}

@Test("a trigger that an app drops, changes or outgrows is reported")
func drift() throws {
  func missing(_ changes: String...) throws -> [String] {
    let captured = try CapturedDatabase(["t"], setUp: ["CREATE TABLE t (id INTEGER PRIMARY KEY, u UNIQUE, \"\u{e9}\")"])
    for change in changes { try captured.write(change) }
    let database = try captured.open()
    // The tables as they are now, which a command would find.
    let tables = try TrackedTable.find(definition(["t"]), in: database)
    return try Capture.missingTriggers(in: database, tables: tables).map(\.text)
  }
  #expect(try missing() == [])
  #expect(try missing("VACUUM", "CREATE INDEX i ON t (u)", "CREATE TABLE other (a)") == [])
  #expect(try missing("DROP TRIGGER \"satchel_before_delete:t\"") == ["satchel_before_delete:t"])
  #expect(try !missing("DROP TABLE t", "CREATE TABLE t (id INTEGER PRIMARY KEY, u UNIQUE, \"\u{e9}\")").isEmpty)
  #expect(try !missing("ALTER TABLE t ADD COLUMN more").isEmpty)
  #expect(try !missing("CREATE UNIQUE INDEX i ON t (\"\u{e9}\")").isEmpty)
  #expect(try !missing("ALTER TABLE t RENAME COLUMN \"\u{e9}\" TO \"e\u{301}\"").isEmpty)
}

@Test("a second connection reads and waits while the first one writes")
func twoConnections() throws {
  let captured = try CapturedDatabase(
    ["t"],
    setUp: ["PRAGMA journal_mode = WAL", "CREATE TABLE t (id INTEGER PRIMARY KEY, a)", "INSERT INTO t VALUES (1, 'x')"])
  let first = try captured.open()
  let second = try captured.open()
  try second.execute("PRAGMA busy_timeout = 0")
  try first.execute("BEGIN IMMEDIATE; UPDATE t SET a = 'first' WHERE id = 1")
  #expect(try captured.steps() == [])
  #expect(throws: SQLiteError.self) { try captured.busyWrite("UPDATE t SET a = 'second'") }
  try second.execute("BEGIN")
  #expect(try second.first("SELECT a FROM t") { $0.text(0) } == "x")
  try first.execute("COMMIT")
  #expect(try second.first("SELECT count(*) FROM satchel_before_t") { $0.integer(0) } == 0)
  try second.execute("COMMIT; INSERT INTO t (a) VALUES ('second')")
  #expect(try captured.steps() == ["update t 1: a 'x' -> 'first'", "insert t 2, 'second'"])
}

@Test("a database is captured that is attached to another")
func attached() throws {
  let captured = try CapturedDatabase(
    ["t"], setUp: ["CREATE TABLE t (id INTEGER PRIMARY KEY, u UNIQUE)", "INSERT INTO t VALUES (1, 'x'), (2, 'y')"])
  let other = try Database(path: captured.scratch("other.sqlite"), mode: .create)
  try other.execute(
    """
    CREATE TABLE t (id INTEGER PRIMARY KEY, u);
    INSERT INTO t VALUES (7, 'other');
    CREATE TABLE satchel_capture (one, generation, stamp);
    ATTACH '\(captured.path)' AS field;
    REPLACE INTO field.t VALUES (2, 'x');
    INSERT INTO field.t (u) SELECT u FROM main.t;
    """)
  #expect(try captured.steps() == ["delete t 1, 'x'", "update t 2: u 'y' -> 'x'", "insert t 3, 'other'"])
  #expect(try captured.faults() == [])
}

extension CapturedDatabase {
  /// Writes through a connection that does not wait for a lock.
  func busyWrite(_ statement: String) throws {
    let database = try open()
    try database.execute("PRAGMA busy_timeout = 0")
    try database.execute(statement)
  }
}

@Test("a key that compares by a collation of the app's own is refused with that reason")
func ownCollation() throws {
  let scratch = try Scratch()
  do {
    let database = try Database(path: scratch("d"), mode: .create)
    try database.execute("CREATE TABLE t (k TEXT PRIMARY KEY COLLATE NOCASE, a)")
    try database.execute("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'NOCASE', 'german')")
  }
  let database = try Database(path: scratch("d"), mode: .readWrite)
  do {
    _ = try TrackedTable.find(definition(["t"]), in: database)
    Issue.record("it was taken")
  } catch let error as DatasetError {
    #expect(error.place == "tables.t" && error.problem.contains("collation german, which only the app knows"))
  }
}
