import CSQLite
import SatchelValues

/// Why a database cannot be copied without the app, and the next step.
public struct CopyError: ExplainedError {
  public let message: String
  public let hint: String?
  public var code: Reason { .database }
}

/// Copies a whole database. Each index keeps the order of its entries, even if only the app could sort them.
extension Database {
  /// Writes a copy of the database to `path`. No file may exist there. The copy has every table, view, index and
  /// trigger, and every row under its rowid. It has no bytes of deleted rows.
  ///
  /// VACUUM of a database that this connection may only read drops CHECK constraints. SQLite then finds that the copy's
  /// tables are declared differently, and inserts row by row. This would damage indexes that need the app's collations
  /// or functions, and it would fail at generated columns. Such a database is therefore copied through a temporary
  /// file.
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

  /// A copy of all pages in a temporary file. SQLite deletes the file when the connection closes.
  private func temporaryCopy() throws -> Database {
    let copy = try Database(name: "", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE)
    guard let backup = sqlite3_backup_init(copy.handle, "main", handle, "main") else { throw copy.failure("backup") }
    sqlite3_backup_step(backup, -1)
    guard sqlite3_backup_finish(backup) == SQLITE_OK else { throw copy.failure("backup") }
    return copy
  }

  // MARK: indexes in both directions

  /// An index that a CREATE INDEX statement made.
  private struct DeclaredIndex {
    let name: String
    let sql: String
    /// A declaration by which SQLite copies the index's entries one after the other, without comparing them. SQLite
    /// takes the entries from the first index with the same declaration. Therefore a number in the WHERE makes the
    /// declarations of one table's indexes different.
    let plainSQL: String
  }

  /// The indexes that use a collation which only the app has, if this collation ascends in one index and descends in
  /// another. No substitute for the collation can then sort the entries of all these indexes.
  ///
  /// Indexes that belong to a table's definition are not returned, and neither are indexes of tables WITHOUT ROWID.
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

  /// Replaces the stored CREATE INDEX statements. The entries of the indexes stay unchanged.
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
