import CSQLite
import SatchelValues

/// One connection to one SQLite database. It cannot be copied or shared between threads; the compiler sees to it.
public struct Database: ~Copyable {
  let handle: OpaquePointer
  private let cache = StatementCache()
  /// The writes of rows that this connection makes.
  public let writes = RowWrites()

  public enum Mode: Sendable {
    case readOnly
    case readWrite
    /// Makes the file when it is not there.
    case create
  }

  /// How long a connection waits for another writer before it says that it is busy: longer than apps usually do, who
  /// should get theirs first.
  public static let busyTimeoutMilliseconds: Int32 = 10_000

  /// Opens the database at `path`. SQLite looks at the file's content only at the first statement.
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

  /// SQLite counts every byte that it allocates, under a lock. Nobody here asks for the count. Too late where another
  /// part of the process used SQLite before: then it goes on counting.
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

  // Statements that live a moment longer keep the connection open until they go.
  deinit { sqlite3_close_v2(handle) }

  /// Makes the connection ready for the work of one whole command: many rows in one transaction.
  ///
  /// Rows are written as they are, so foreign keys do nothing by themselves; what is committed survives a power cut,
  /// which with FULL could bring back the journal of a transaction, and so undo it after somebody was told of it. An
  /// import goes through several indexes at once, in the order of random keys: with the usual 2 MiB of cache each row
  /// would read and write its pages anew. Rows that go leave none of their bytes in the file, however the library was
  /// built. What is needed to take a single row back stays in memory, up to 64 KiB; what is needed to take back a
  /// statement that writes very many goes into a file.
  public func prepareForCommand() throws(SQLiteError) {
    try execute(
      "PRAGMA foreign_keys = OFF; PRAGMA secure_delete = ON; PRAGMA synchronous = EXTRA; PRAGMA temp_store = FILE; PRAGMA cache_size = -\(Self.cacheKibibytes)"
    )
  }

  private static let cacheKibibytes = 20 << 10

  /// Runs SQL text of one or more statements that take no parameters and return no rows.
  public func execute(_ sql: String) throws(SQLiteError) {
    if sqlite3_exec(handle, sql, nil, nil, nil) != SQLITE_OK { throw failure(sql) }
  }

  /// Prepares one statement. Text behind it is an error: two statements where one was meant are a mistake or an attack.
  public func prepare(_ sql: String) throws(SQLiteError) -> Statement { try Statement.prepare(sql, on: handle) }

  // MARK: statements that are kept

  /// Runs one statement with named parameters to its end. Its preparation is kept for the next time, as in all that
  /// follow.
  public func run(_ sql: String, _ parameters: KeyValuePairs<String, Value> = [:]) throws {
    try using(sql, parameters) { while try $0.step() {} }
  }

  /// Calls `body` for each row of a query.
  public func each(
    _ sql: String, _ parameters: KeyValuePairs<String, Value> = [:], _ body: (borrowing Statement) throws -> Void
  ) throws {
    try using(sql, parameters) { while try $0.step() { try body($0) } }
  }

  /// What `body` makes of each row of a query, in the query's order.
  public func all<T>(
    _ sql: String, _ parameters: KeyValuePairs<String, Value> = [:], _ body: (borrowing Statement) throws -> T
  ) throws -> [T] {
    var result: [T] = []
    try each(sql, parameters) { result.append(try body($0)) }
    return result
  }

  /// What `body` makes of the first row of a query; nil where there is none.
  public func first<T>(
    _ sql: String, _ parameters: KeyValuePairs<String, Value> = [:], _ body: (borrowing Statement) throws -> T
  ) throws -> T? {
    try using(sql, parameters) { try $0.step() ? body($0) : nil }
  }

  /// Calls `body` with the statement for this text, ready to step, and makes it ready for its next use.
  public func using<T>(
    _ sql: String, _ parameters: KeyValuePairs<String, Value> = [:], _ body: (borrowing Statement) throws -> T
  ) throws -> T {
    // Taken out while it is in use: the same text inside `body` gets a statement of its own.
    let kept = try cache.take(sql) ?? KeptStatement(prepare(sql))
    defer {
      kept.statement.reset()
      kept.statement.clearBindings()
      cache.put(kept, sql)
    }
    for (name, value) in parameters { try kept.statement.bind(value, to: name) }
    return try body(kept.statement)
  }

  /// Writes a copy to `path`, where there must be no file yet: every table, view and trigger, every row under its
  /// rowid, and nothing of what was deleted. Indexes are copied in their order, also those that only the app could
  /// sort.
  public func copy(to path: String) throws {
    try withStandIns { try run("VACUUM main INTO :path", ["path": .string(path)]) }
  }

  /// Gives free pages back to the file system. Others wait meanwhile, readers and writers. Returns why it did not
  /// happen; nil: it did.
  public func shrink() throws -> String? {
    do {
      try execute("VACUUM")
      return nil
    } catch  where error.lackingName != nil { return error.message }
  }

  /// How many rows the last INSERT, UPDATE or DELETE touched.
  public var changes: Int64 { sqlite3_changes64(handle) }

  /// Whether nothing can be written into the database by this connection.
  public var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

  public var lastInsertRowID: Int64 { sqlite3_last_insert_rowid(handle) }

  func failure(_ sql: String) -> SQLiteError { SQLiteError(of: handle, sql) }
}
