import CSQLite
import SatchelValues

/// One prepared statement. It belongs to the connection that prepared it and is closed when it goes out of sight.
public struct Statement: ~Copyable {
  let handle: OpaquePointer

  init(handle: OpaquePointer) { self.handle = handle }

  deinit { sqlite3_finalize(handle) }

  /// Binds the parameter at `index`, counted from 1.
  public func bind(_ value: Value, at index: Int32) throws(SQLiteError) {
    let code: Int32 =
      switch value {
      case .null: sqlite3_bind_null(handle, index)
      case .integer(let number): sqlite3_bind_int64(handle, index, number)
      case .real(let number): sqlite3_bind_double(handle, index, number)
      case .text(let bytes):
        bytes.withUnsafeBytes { satchel_bind_text(handle, index, $0.baseAddress ?? emptyText, Int32($0.count)) }
      case .blob(let bytes): bytes.withUnsafeBytes { satchel_bind_blob(handle, index, $0.baseAddress, Int32($0.count)) }
      }
    try check(code)
  }

  /// Binds `:name`. A name that the statement does not have is left alone: rules need not use every attribute.
  public func bind(_ value: Value, to name: String) throws(SQLiteError) {
    let index = sqlite3_bind_parameter_index(handle, ":" + name)
    if index > 0 { try bind(value, at: index) }
  }

  /// Binds the parameters in their order, from `first` on.
  public func bind(_ values: [Value], from first: Int32 = 1) throws(SQLiteError) {
    var index = first
    for value in values {
      try bind(value, at: index)
      index += 1
    }
  }

  /// The names of the parameters, without their colon; nil for one that has none.
  public var parameterNames: [String?] {
    let count = sqlite3_bind_parameter_count(handle)
    return (0..<count).map { index in
      sqlite3_bind_parameter_name(handle, index + 1).map { String(String(cString: $0).dropFirst()) }
    }
  }

  /// True where there is a row to read, false at the end.
  public func step() throws(SQLiteError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw failure(code)
    }
  }

  /// Makes the statement ready to run again; bindings stay.
  public func reset() { sqlite3_reset(handle) }

  func clearBindings() { sqlite3_clear_bindings(handle) }

  /// Runs a statement that returns no row, with these parameters, and makes it ready again.
  public func run(_ values: [Value]) throws(SQLiteError) {
    defer { reset() }
    try bind(values)
    _ = try step()
  }

  public var columnCount: Int { Int(sqlite3_column_count(handle)) }

  /// The value in the column at `index`, counted from 0, with the storage class that it has.
  public func value(_ index: Int) -> Value {
    let i = Int32(index)
    switch sqlite3_column_type(handle, i) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, i))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, i))
    case SQLITE_TEXT:
      let start = UnsafeRawPointer(sqlite3_column_text(handle, i))
      return .text(bytes(start, sqlite3_column_bytes(handle, i)))
    case SQLITE_BLOB:
      let start = sqlite3_column_blob(handle, i)
      return .blob(bytes(start, sqlite3_column_bytes(handle, i)))
    default: return .null
    }
  }

  /// The values of `count` columns from `first` on.
  public func values(from first: Int, count: Int) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(count)
    for index in first..<first + count { values.append(value(index)) }
    return values
  }

  public func integer(_ index: Int) -> Int64 { sqlite3_column_int64(handle, Int32(index)) }

  public func text(_ index: Int) -> String {
    guard case .text(let bytes) = value(index) else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }

  public func optionalText(_ index: Int) -> String? { isNull(index) ? nil : text(index) }

  public func optionalInteger(_ index: Int) -> Int64? { isNull(index) ? nil : integer(index) }

  public func isNull(_ index: Int) -> Bool { sqlite3_column_type(handle, Int32(index)) == SQLITE_NULL }

  private func bytes(_ start: UnsafeRawPointer?, _ count: Int32) -> [UInt8] {
    guard let start, count > 0 else { return [] }
    return Array(UnsafeRawBufferPointer(start: start, count: Int(count)))
  }

  private func check(_ code: Int32) throws(SQLiteError) {
    if code != SQLITE_OK { throw failure(code) }
  }

  private func failure(_ code: Int32) -> SQLiteError {
    let database = sqlite3_db_handle(handle)
    return SQLiteError(
      code: sqlite3_extended_errcode(database), message: String(cString: sqlite3_errmsg(database)),
      sql: sqlite3_sql(handle).map { String(cString: $0) })
  }
}

/// A text of no bytes still needs an address: SQLite reads a null pointer as NULL.
nonisolated(unsafe) private let emptyText: UnsafeRawPointer = UnsafeRawPointer(UnsafeMutablePointer<UInt8>.allocate(capacity: 1))
