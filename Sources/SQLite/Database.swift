import CSQLite
import SatchelValues

/// One connection to one SQLite database. The compiler prevents copies of the connection, and sharing between threads.
public struct Database: ~Copyable {
  let handle: OpaquePointer
  private let cache = StatementCache()
  /// Reports the rows that this connection writes.
  public let writes = RowWrites()

  public enum Mode: Sendable {
    case readOnly
    case readWrite
    /// Creates the file if it is missing.
    case create
  }

  /// How long a connection waits for another writer before it throws a busy error. Apps usually wait for a shorter
  /// time, so the apps can write first.
  public static let busyTimeoutMilliseconds: Int32 = 10_000

  /// Opens the database at `path`. SQLite reads the file's content only at the first statement.
  public init(path: String, mode: Mode) throws(SQLiteError) {
    let access: Int32 =
      switch mode {
      case .readOnly: SQLITE_OPEN_READONLY
      case .readWrite: SQLITE_OPEN_READWRITE
      case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      }
    try self.init(name: path, flags: access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE)
    sqlite3_busy_timeout(handle, Self.busyTimeoutMilliseconds)
  }

  /// Turns off SQLite's count of allocated bytes. Satchel does not use the count, and counting needs a lock. The
  /// setting has no effect if another part of the process used SQLite before.
  private static let countsNoMemory: Int32 = satchel_config_memstatus(0)

  init(name: String, flags: Int32) throws(SQLiteError) {
    _ = Self.countsNoMemory
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(name, &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      sqlite3_close_v2(opened)
      throw SQLiteError(code: code, message: message)
    }
    addGeometryFunctions(to: opened)
    handle = opened
  }

  // If statements of the connection still exist, SQLite closes the connection when the last of them ends.
  deinit { sqlite3_close_v2(handle) }

  /// Prepares the connection for the work of one whole command: many rows in one transaction.
  ///
  /// Foreign keys are off, because rows are written as they are. `synchronous = EXTRA` makes commits survive a power
  /// cut. With FULL, a power cut could bring back a transaction's journal and so undo the transaction. The other side
  /// may already have received the transaction's result.
  ///
  /// An import writes several indexes at once, in the order of random keys. With the usual cache of 2 MiB, SQLite would
  /// read and write their pages again for each row. `secure_delete` overwrites deleted rows, whatever the library's
  /// build options are. The data to undo a statement stay in memory up to 64 KiB, which is enough for one row. Beyond
  /// this size, SQLite puts these data into a file.
  public func prepareForCommand() throws(SQLiteError) {
    try execute(
      """
      PRAGMA foreign_keys = OFF; PRAGMA secure_delete = ON; PRAGMA synchronous = EXTRA; PRAGMA temp_store = FILE; \
      PRAGMA cache_size = -\(Self.cacheKibibytes)
      """
    )
  }

  private static let cacheKibibytes = 20 << 10

  /// Runs SQL text of one or more statements that take no parameters and return no rows.
  public func execute(_ sql: String) throws(SQLiteError) {
    if sqlite3_exec(handle, sql, nil, nil, nil) != SQLITE_OK { throw failure(sql) }
  }

  /// Prepares one statement. Text after the statement is an error, because a second statement is a mistake or an
  /// attack.
  public func prepare(_ sql: String) throws(SQLiteError) -> Statement { try Statement.prepare(sql, on: handle) }

  // MARK: cached statements

  /// Runs one statement with named parameters to its end. This function and all following functions keep the prepared
  /// statement for their next call.
  public func run(_ sql: String, _ parameters: KeyValuePairs<String, Value> = [:]) throws {
    try using(sql, parameters) { while try $0.step() {} }
  }

  /// Calls `body` for each row of a query.
  public func each(
    _ sql: String, _ parameters: KeyValuePairs<String, Value> = [:], _ body: (borrowing Statement) throws -> Void
  ) throws {
    try using(sql, parameters) { while try $0.step() { try body($0) } }
  }

  /// The results of `body` for each row of a query, in the query's order.
  public func all<T>(
    _ sql: String, _ parameters: KeyValuePairs<String, Value> = [:], _ body: (borrowing Statement) throws -> T
  ) throws -> [T] {
    var result: [T] = []
    try each(sql, parameters) { result.append(try body($0)) }
    return result
  }

  /// The result of `body` for the first row of a query; nil if the query returns no row.
  public func first<T>(
    _ sql: String, _ parameters: KeyValuePairs<String, Value> = [:], _ body: (borrowing Statement) throws -> T
  ) throws -> T? {
    try using(sql, parameters) { try $0.step() ? body($0) : nil }
  }

  /// Calls `body` with the prepared statement for this SQL text. Then resets the statement for its next use.
  public func using<T>(
    _ sql: String, _ parameters: KeyValuePairs<String, Value> = [:], _ body: (borrowing Statement) throws -> T
  ) throws -> T {
    // A statement in use is not in the cache. If `body` uses the same SQL text, it gets another statement.
    let kept = try cache.take(sql) ?? KeptStatement(prepare(sql))
    defer {
      kept.statement.reset()
      kept.statement.clearBindings()
      cache.put(kept, sql)
    }
    for (name, value) in parameters { try kept.statement.bind(value, to: name) }
    return try body(kept.statement)
  }

  /// Returns free pages of the file to the file system. Other readers and writers wait meanwhile.
  /// - Returns: nil if the file was shrunk. Otherwise why not: a function or a collation that only the app has is
  ///   missing.
  public func shrink() throws -> String? {
    do {
      try execute("VACUUM")
      return nil
    } catch  where error.lackingName != nil { return error.message }
  }

  /// The number of rows that the last INSERT, UPDATE or DELETE wrote or deleted.
  public var changes: Int64 { sqlite3_changes64(handle) }

  /// Whether this connection may not write to the database.
  public var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

  public var lastInsertRowID: Int64 { sqlite3_last_insert_rowid(handle) }

  func failure(_ sql: String) -> SQLiteError { SQLiteError(of: handle, sql) }
}
