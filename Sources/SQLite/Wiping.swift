import CSQLite
import SatchelValues

/// Bytes of rows that are gone. A connection that is ready for a command writes zeros over what it deletes, but pages
/// that SQLite brought into a new order before that hold copies of it, and so may those that an app wrote.
extension Database {
  /// Writes the whole file anew, so that it holds rows and nothing else, and empties the write-ahead log.
  ///
  /// Says false where that did not happen: another program reads just now, the disk is full, the file is large, or a
  /// table of the app's would not stay as it is. Nothing has changed then.
  public func wipe() throws -> Bool {
    guard try isSmall(), try keepsRowNumbers() else {
      try emptyLog()
      return false
    }
    let isAnew = try patient { () throws(SQLiteError) in
      do { try execute("VACUUM") } catch { return false }
      return true
    }
    return try emptyLog() && isAnew
  }

  /// Brings what lies in the write-ahead log into the database's file, and empties the log. Says false where another
  /// program is reading just now.
  @discardableResult public func emptyLog() throws -> Bool {
    try patient { try first("PRAGMA wal_checkpoint(TRUNCATE)", [:]) { $0.integer(0) == 0 } ?? true }
  }

  /// A reader may take as long as it likes, and nothing that was promised to somebody waits for this.
  private func patient<T, E: Error>(_ body: () throws(E) -> T) throws(E) -> T {
    sqlite3_busy_timeout(handle, 500)
    defer { sqlite3_busy_timeout(handle, Self.busyTimeoutMilliseconds) }
    return try body()
  }

  /// What an import costs must not depend on the size of a large file. So many bytes take about half a second.
  private func isSmall() throws -> Bool {
    let pages = try first("PRAGMA page_count") { $0.integer(0) } ?? 0
    return try pages * (first("PRAGMA page_size") { $0.integer(0) } ?? 0) <= 64 << 20
  }

  /// Whether no table's rows get other numbers when the file is written anew: those of tables that have neither a key
  /// nor an index do.
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
