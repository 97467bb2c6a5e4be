import CSQLite
import SatchelValues

/// Wipes bytes of deleted rows. Satchel's connections overwrite deleted rows with zeros. But copies of deleted rows may
/// remain in pages that SQLite rearranged earlier, or that an app wrote.
extension Database {
  /// Rewrites the whole file, so that no bytes of deleted rows remain. Then empties the write-ahead log.
  ///
  /// Returns false if one of these steps was not possible. For example, another program is reading, the disk is full,
  /// the file is large, or a table of the app would lose its rowids. No row changes in any case.
  public func wipe() throws -> Bool {
    guard try isSmall(), try keepsRowNumbers() else {
      try emptyLog()
      return false
    }
    let isAnew = try waitingBriefly { () throws(SQLiteError) in
      do { try execute("VACUUM") } catch { return false }
      return true
    }
    return try emptyLog() && isAnew
  }

  /// Moves the content of the write-ahead log into the database's file, and empties the log. Returns false if another
  /// program is reading.
  @discardableResult public func emptyLog() throws -> Bool {
    try waitingBriefly { try first("PRAGMA wal_checkpoint(TRUNCATE)", [:]) { $0.integer(0) == 0 } ?? true }
  }

  /// Runs `body` with a busy timeout of half a second. It is for work that is not urgent, because another program may
  /// use the database for a long time.
  public func waitingBriefly<T, E: Error>(_ body: () throws(E) -> T) throws(E) -> T {
    sqlite3_busy_timeout(handle, 500)
    defer { sqlite3_busy_timeout(handle, Self.busyTimeoutMilliseconds) }
    return try body()
  }

  /// Whether the file is small enough to be rewritten. Rewriting a file of 64 MiB takes about half a second. The cost
  /// of an import must not grow with the size of a large file.
  private func isSmall() throws -> Bool {
    let pages = try first("PRAGMA page_count") { $0.integer(0) } ?? 0
    return try pages * (first("PRAGMA page_size") { $0.integer(0) } ?? 0) <= 64 << 20
  }

  /// Whether a rewrite of the file keeps the rowids of all rows. SQLite may change the rowids of a table that has no
  /// key and no index.
  private func keepsRowNumbers() throws -> Bool {
    try first(
      """
      SELECT 1
      FROM pragma_table_list AS list
      WHERE schema = 'main' AND type IN ('table', 'shadow') AND NOT wr AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        AND NOT EXISTS (SELECT 1 FROM pragma_index_list(list.name))
        AND NOT EXISTS (SELECT 1 FROM pragma_table_info(list.name) WHERE pk)
      """
    ) { _ in true } == nil
  }
}
