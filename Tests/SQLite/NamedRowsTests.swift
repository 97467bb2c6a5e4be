import SatchelSQLite
import SatchelValues
import Testing

private func database(_ sql: String) throws -> Database {
  let database = try Database(path: ":memory:", mode: .create)
  try database.execute(sql)
  return database
}

@Test("a table that other columns identify lacks its integer key, and keeps everything else")
func namedTable() throws {
  let made = try database(
    """
    CREATE TABLE parents (code TEXT PRIMARY KEY);
    CREATE TABLE t (
      a TEXT NOT NULL DEFAULT 'x', fid INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL UNIQUE,
      parent TEXT REFERENCES parents (code), b INT, UNIQUE (b, a), UNIQUE (fid, b));
    CREATE UNIQUE INDEX lowered ON t (lower(uuid)) WHERE b > 1;
    """)
  let info = try #require(try made.tableInfo("t")).named(by: [2])
  #expect(info.schema.columns == ["a", "uuid", "parent", "b"])
  #expect(info.schema.key == [1])
  #expect(info.localKey == "fid" && info.isNamedByColumns && info.rowidAlias == nil && info.isAutoincrement)
  #expect(info.rowid == "rowid")
  #expect(info.types == ["TEXT", "TEXT", "TEXT", "INT"])
  #expect(info.isNotNull == [true, true, false, false] && info.hasDefault == [true, false, false, false])
  #expect(info.replacements == [0: "('x')"])
  #expect(info.schema.foreignKeys.map(\.columns) == [[2]])
  #expect(info.uniqueIndexes.map { $0.parts.map(\.column) }.filter { !$0.contains(nil) } == [[1], [3, 0]])
  #expect(info.uniqueIndexes.contains { $0.mentions("uuid") && $0.mentions("b") && !$0.mentions("fid") })
}

@Test("a table without an integer key keeps all of its columns, whatever identifies its rows")
func namedWithoutLocalKey() throws {
  let made = try database("CREATE TABLE t (id TEXT PRIMARY KEY, uuid TEXT NOT NULL UNIQUE) WITHOUT ROWID")
  let info = try #require(try made.tableInfo("t")).named(by: [1])
  #expect(info.schema.columns == ["id", "uuid"] && info.schema.key == [1] && info.localKey == nil)
  #expect(info.uniqueIndexes.count == 2)
}

@Test("columns that are generated from another one are found, straight and by way of others")
func generatedColumns() throws {
  let made = try database(
    """
    CREATE TABLE t (fid INTEGER PRIMARY KEY, a INT, g AS (fid + 1), h AS ("g" || 'x'), i AS (a), j AS (upper(h)) \
    STORED)
    """
  )
  #expect(try made.columns(of: "t", generatedFrom: "fid") == ["g", "h", "j"])
  #expect(try made.columns(of: "t", generatedFrom: "a") == ["i"])
}
