import CSQLite
import Glibc
import SatchelValues

/// One prepared statement. It belongs to the connection that prepared it. Its deinitialiser finalizes it.
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

  /// Binds the parameter `:name`. Does nothing if the statement has no such parameter, because a rule need not use
  /// every attribute.
  public func bind(_ value: Value, to name: String) throws(SQLiteError) {
    let index = sqlite3_bind_parameter_index(handle, ":" + name)
    if index > 0 { try bind(value, at: index) }
  }

  /// Binds the parameters in order. The first of them has the number `first`.
  public func bind(_ values: [Value], from first: Int32 = 1) throws(SQLiteError) {
    var index = first
    for value in values {
      try bind(value, at: index)
      index += 1
    }
  }

  /// Binds the columns of another statement's current row, in order, without making `Value`s from them.
  public func bind(rowOf other: borrowing Statement) throws(SQLiteError) {
    for index in 0..<sqlite3_column_count(other.handle) {
      try check(satchel_bind_value(handle, index + 1, sqlite3_column_value(other.handle, index)))
    }
  }

  /// The names of the parameters, without their colon; nil for a parameter without a name.
  public var parameterNames: [String?] {
    let count = sqlite3_bind_parameter_count(handle)
    return (0..<count).map { index in
      sqlite3_bind_parameter_name(handle, index + 1).map { String(String(cString: $0).dropFirst()) }
    }
  }

  /// Runs the statement to its next row. Returns true if there is a row to read, and false at the end.
  public func step() throws(SQLiteError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw failure(code)
    }
  }

  /// Resets the statement, so that it can run again. The bindings stay.
  public func reset() { sqlite3_reset(handle) }

  func clearBindings() { sqlite3_clear_bindings(handle) }

  /// Runs a statement that returns no row, with these parameters, and then resets the statement.
  public func run(_ values: [Value]) throws(SQLiteError) {
    defer { reset() }
    for (place, value) in values.enumerated() { try bindInPlace(value, at: Int32(place + 1)) }
    // The statement reads texts and blobs in the caller's memory. This is safe: this step runs the statement to its
    // end, and each later run binds all parameters again.
    _ = try withExtendedLifetime(values) { () throws(SQLiteError) in try step() }
  }

  /// Binds a value like `bind`, but SQLite makes no copy. The value must exist unchanged until the statement is reset.
  /// Copies took a twentieth of the time of an import.
  private func bindInPlace(_ value: Value, at index: Int32) throws(SQLiteError) {
    switch value {
    case .text(let bytes) where !bytes.isEmpty:
      try check(bytes.withUnsafeBytes { satchel_bind_text_in_place(handle, index, $0.baseAddress, Int32($0.count)) })
    case .blob(let bytes) where !bytes.isEmpty:
      try check(bytes.withUnsafeBytes { satchel_bind_blob_in_place(handle, index, $0.baseAddress, Int32($0.count)) })
    default: try bind(value, at: index)
    }
  }

  /// Prepares another statement on the same connection.
  public func prepareAnother(_ sql: String) throws(SQLiteError) -> Statement {
    try Statement.prepare(sql, on: sqlite3_db_handle(handle))
  }

  /// Prepares one statement. Text after the statement is an error, because a second statement is a mistake or an
  /// attack.
  static func prepare(_ sql: String, on connection: OpaquePointer) throws(SQLiteError) -> Statement {
    var prepared: OpaquePointer?
    var rest = 0
    let code = sql.withCString { text in
      var tail: UnsafePointer<CChar>?
      let code = sqlite3_prepare_v3(connection, text, -1, 0, &prepared, &tail)
      if let tail { rest = strlen(tail) }
      return code
    }
    guard code == SQLITE_OK else { throw SQLiteError(of: connection, sql) }
    guard let prepared else { throw SQLiteError(code: SQLITE_ERROR, message: "there is no statement here", sql: sql) }
    let statement = Statement(handle: prepared)
    if rest > 0 { throw SQLiteError(code: SQLITE_ERROR, message: "there is more than one statement here", sql: sql) }
    return statement
  }

  public var columnCount: Int { Int(sqlite3_column_count(handle)) }

  /// The value in the column at `index`, counted from 0, with its storage class.
  public func value(_ index: Int) -> Value {
    ColumnValue(of: handle, at: index).value
  }

  /// The values of `count` columns, beginning with the column `first`.
  public func values(from first: Int, count: Int) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(count)
    for index in first..<first + count { values.append(value(index)) }
    return values
  }

  /// Whether a column holds the same value as a column of another statement. The result is the same as with `==`, but
  /// no value is copied.
  public func isSame(_ index: Int, as other: borrowing Statement, _ otherIndex: Int) -> Bool {
    let (own, theirs) = (ColumnValue(of: handle, at: index), ColumnValue(of: other.handle, at: otherIndex))
    guard own.type == theirs.type else { return false }
    switch own.type {
    case SQLITE_INTEGER: return own.integer == theirs.integer
    case SQLITE_FLOAT: return own.real.bitPattern == theirs.real.bitPattern
    case SQLITE_TEXT, SQLITE_BLOB:
      let (own, theirs) = (own.bytes, theirs.bytes)
      guard own.count == theirs.count else { return false }
      guard let start = own.baseAddress, let other = theirs.baseAddress else { return true }
      return memcmp(start, other, own.count) == 0
    default: return true
    }
  }

  public func integer(_ index: Int) -> Int64 { sqlite3_column_int64(handle, Int32(index)) }

  public func text(_ index: Int) -> String {
    guard case .text(let bytes) = value(index) else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }

  public func optionalText(_ index: Int) -> String? { isNull(index) ? nil : text(index) }

  public func optionalInteger(_ index: Int) -> Int64? { isNull(index) ? nil : integer(index) }

  public func isNull(_ index: Int) -> Bool { sqlite3_column_type(handle, Int32(index)) == SQLITE_NULL }

  private func check(_ code: Int32) throws(SQLiteError) {
    if code != SQLITE_OK { throw failure(code) }
  }

  private func failure(_ code: Int32) -> SQLiteError {
    SQLiteError(of: sqlite3_db_handle(handle), sqlite3_sql(handle).map { String(cString: $0) })
  }
}

/// The value of a column, or of a function's argument, in SQLite's memory. It is valid until the statement's next step.
///
/// This struct reads SQLite's own object directly. Reading each property through the statement and the column's number
/// takes 1.5 times as long. Direct reading is allowed because connections are not shared between threads.
struct ColumnValue {
  private let pointer: OpaquePointer?
  let type: Int32

  init(of statement: OpaquePointer, at index: Int) { self.init(sqlite3_column_value(statement, Int32(index))) }

  init(_ pointer: OpaquePointer?) {
    self.pointer = pointer
    type = sqlite3_value_type(pointer)
  }

  var integer: Int64 { sqlite3_value_int64(pointer) }
  var real: Double { sqlite3_value_double(pointer) }

  /// A copy of the value, with the same storage class. The copy stays valid after the statement's next step.
  var value: Value {
    switch type {
    case SQLITE_INTEGER: .integer(integer)
    case SQLITE_FLOAT: .real(real)
    case SQLITE_TEXT: .text(Array(bytes))
    case SQLITE_BLOB: .blob(Array(bytes))
    default: .null
    }
  }

  /// The bytes of a text or blob. The buffer has no address if there are no bytes.
  var bytes: UnsafeRawBufferPointer {
    // The pointer must be read before the count. If the file has another text encoding, reading the pointer converts
    // the text. Only after this conversion is the count right.
    let start = type == SQLITE_TEXT ? UnsafeRawPointer(sqlite3_value_text(pointer)) : sqlite3_value_blob(pointer)
    let count = Int(sqlite3_value_bytes(pointer))
    return UnsafeRawBufferPointer(start: count > 0 ? start : nil, count: start == nil ? 0 : count)
  }
}

/// The address of an empty text. SQLite would read a null pointer as NULL.
nonisolated(unsafe) private let emptyText: UnsafeRawPointer = UnsafeRawPointer(
  UnsafeMutablePointer<UInt8>.allocate(capacity: 1))
