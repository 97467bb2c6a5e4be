import CSQLite
import SatchelValues

/// Why a database cannot be copied without the app, and what to do next.
public struct CopyError: ExplainedError {
  public let message: String
  public let hint: String?
  public var code: Reason { .database }
}

/// Copies of a whole database. Each index keeps its order, even if only the app could sort it.
extension Database {
  /// Writes a copy of the database to `path`. No file may exist there. The copy has every table, view, index and
  /// trigger, and every row under its rowid. It has no bytes of deleted rows.
  ///
  /// SQLite drops the CHECK constraints of a database that it cannot write. It then finds that the tables of the copy
  /// are declared in another way, and inserts row by row. Collations and functions that only the app has would damage
  /// the indexes then, and generated columns would make the copy fail. So such a database is copied by way of a
  /// temporary file.
  /// - Throws: a `CopyError` if an index needs the app.
  public func copy(to path: String) throws {
    let indexes = try indexesSortedBothWays()
    if !isReadOnly, indexes.isEmpty { return try rewrite(to: path) }
    let pages = try temporaryCopy()
    try pages.declare(indexes.map { ($0.name, $0.plainSQL) })
    try pages.rewrite(to: path)
    if !indexes.isEmpty {
      try Database(path: path, mode: .readWrite).declare(indexes.map { ($0.name, $0.sql) })
    }
  }

  private func rewrite(to path: String) throws {
    try withStandIns(for: .copying) { try run("VACUUM main INTO :path", ["path": .string(path)]) }
  }

  /// A copy of all pages in a temporary file that SQLite deletes with the connection.
  private func temporaryCopy() throws -> Database {
    let copy = try Database(name: "", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE)
    guard let backup = sqlite3_backup_init(copy.handle, "main", handle, "main") else { throw copy.failure("backup") }
    sqlite3_backup_step(backup, -1)
    guard sqlite3_backup_finish(backup) == SQLITE_OK else { throw copy.failure("backup") }
    return copy
  }

  // MARK: indexes in both directions

  /// An index of a CREATE INDEX statement.
  private struct DeclaredIndex {
    let name: String
    let sql: String
    /// Declares the index as if SQLite's own order were its order. SQLite then copies its entries one after the other,
    /// and compares none. The number in the WHERE keeps the declarations of one table's indexes different: SQLite takes
    /// the entries from the first index that is declared alike.
    let plainSQL: String
  }

  /// The indexes that use a collation which only the app has, if some columns of indexes ascend by this collation and
  /// others descend: no substitute for the collation can put the entries of all of them in order.
  ///
  /// Indexes that belong to a table's definition are left out, and so are the indexes of tables WITHOUT ROWID.
  private func indexesSortedBothWays() throws -> [DeclaredIndex] {
    try all(
      """
      WITH parts AS (
        SELECT tables.name AS "table", list.name AS "index", list.origin = 'c' AND NOT tables.wr AS declared,
          lower(part.coll) AS coll, part.desc
        FROM pragma_table_list AS tables JOIN pragma_index_list(tables.name) AS list
          JOIN pragma_index_xinfo(list.name) AS part
        WHERE tables.schema = 'main' AND lower(part.coll) NOT IN ('binary', 'nocase', 'rtrim')
      )
      SELECT DISTINCT "index", sql, "table", (SELECT name FROM pragma_table_info("table") LIMIT 1), statements.rowid
      FROM parts JOIN sqlite_schema AS statements ON type = 'index' AND name = "index"
      WHERE declared AND coll IN (SELECT coll FROM parts GROUP BY coll HAVING count(DISTINCT desc) > 1)
      """
    ) { row in
      let (name, column) = (row.text(0), "\(quoted(row.text(3))) COLLATE BINARY")
      return DeclaredIndex(
        name: name, sql: row.text(1),
        plainSQL: "CREATE INDEX \(quoted(name)) ON \(quoted(row.text(2))) (\(column)) WHERE \(row.integer(4))")
    }
  }

  /// Replaces the statements that declare indexes. The entries of the indexes stay as they are.
  private func declare(_ indexes: [(name: String, sql: String)]) throws {
    if indexes.isEmpty { return }
    try execute("PRAGMA writable_schema = ON; BEGIN IMMEDIATE")
    for index in indexes {
      try run(
        "UPDATE sqlite_schema SET sql = :sql WHERE type = 'index' AND name = :name",
        ["sql": .string(index.sql), "name": .string(index.name)])
    }
    try execute("COMMIT; PRAGMA writable_schema = RESET")
  }
}
