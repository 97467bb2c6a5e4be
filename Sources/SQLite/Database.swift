import CSQLite
import SatchelValues

/// One connection to one SQLite database. The compiler ensures that it is not copied or shared between threads.
public struct Database: ~Copyable {
  let handle: OpaquePointer
  private let cache = StatementCache()
  /// The writes of rows that this connection makes.
  public let writes = RowWrites()

  public enum Mode: Sendable {
    case readOnly
    case readWrite
    /// Creates the file if it is missing.
    case create
  }

  /// How long a connection waits for another writer before it throws a busy error. Apps usually wait for a shorter
  /// time, so this connection lets them come first.
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

  /// Turns off SQLite's count of allocated bytes. Satchel does not use the count, and counting needs a lock. If another
  /// part of the process used SQLite before, SQLite continues to count.
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

  // Statements that still exist keep the connection open until they end.
  deinit { sqlite3_close_v2(handle) }

  /// Prepares the connection for the work of one whole command: many rows in one transaction.
  ///
  /// Rows are written as they are, so foreign keys have no effect. EXTRA makes commits survive a power cut. With FULL,
  /// a power cut could bring back a transaction's journal. It could so undo the transaction after the other side has
  /// received its result.
  ///
  /// An import writes several indexes at once, in the order of random keys. With the usual 2 MiB of cache, each row
  /// would read and write its pages again. Deleted rows leave no bytes in the file, whatever the library's build
  /// options are. The data to undo a single row stay in memory, up to 64 KiB. The data to undo a statement that writes
  /// very many rows go into a file.
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

  /// Prepares one statement. Text after the statement is an error: a second statement is a mistake or an attack.
  public func prepare(_ sql: String) throws(SQLiteError) -> Statement { try Statement.prepare(sql, on: handle) }

  // MARK: cached statements

  /// Runs one statement with named parameters to its end. The prepared statement is kept for the next call. All
  /// following functions keep theirs too.
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

  /// The result of `body` for the first row of a query; nil if there is none.
  public func first<T>(
    _ sql: String, _ parameters: KeyValuePairs<String, Value> = [:], _ body: (borrowing Statement) throws -> T
  ) throws -> T? {
    try using(sql, parameters) { try $0.step() ? body($0) : nil }
  }

  /// Calls `body` with the prepared statement for this text. Then resets the statement for its next use.
  public func using<T>(
    _ sql: String, _ parameters: KeyValuePairs<String, Value> = [:], _ body: (borrowing Statement) throws -> T
  ) throws -> T {
    // A statement in use is not in the cache. So the same text inside `body` gets another statement.
    let kept = try cache.take(sql) ?? KeptStatement(prepare(sql))
    defer {
      kept.statement.reset()
      kept.statement.clearBindings()
      cache.put(kept, sql)
    }
    for (name, value) in parameters { try kept.statement.bind(value, to: name) }
    return try body(kept.statement)
  }

  /// Returns free pages to the file system. Other readers and writers wait meanwhile.
  /// - Returns: why SQLite could not do it, if a function or a collation of the app is missing; nil: it is done.
  public func shrink() throws -> String? {
    do {
      try execute("VACUUM")
      return nil
    } catch  where error.lackingName != nil { return error.message }
  }

  /// The number of rows that the last INSERT, UPDATE or DELETE touched.
  public var changes: Int64 { sqlite3_changes64(handle) }

  /// Whether this connection cannot write to the database.
  public var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

  public var lastInsertRowID: Int64 { sqlite3_last_insert_rowid(handle) }

  func failure(_ sql: String) -> SQLiteError { SQLiteError(of: handle, sql) }
}
