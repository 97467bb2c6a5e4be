import CSQLite
import SatchelValues

/// An SQL function that Swift code computes.
private final class ProgramFunction {
  private let answer: ([Value]) throws -> Bool

  init(_ answer: @escaping ([Value]) throws -> Bool) { self.answer = answer }

  func run(_ arguments: [Value], _ context: OpaquePointer?) {
    do { sqlite3_result_int(context, try answer(arguments) ? 1 : 0) } catch {
      sqlite3_result_error(context, "\(error)", -1)
      // If a statement inside `answer` failed, the calling statement ends with the same error code. For example, both
      // end with an interrupt.
      if let error = error as? SQLiteError { sqlite3_result_error_code(context, error.code) }
    }
  }
}

extension Database {
  /// Adds an SQL function with any number of arguments. Its result is 1 or 0.
  ///
  /// Neither triggers nor views can call it. If `answer` throws, the statement that calls the function fails.
  public func addFunction(_ name: Name, _ answer: @escaping ([Value]) throws -> Bool) {
    sqlite3_create_function_v2(
      handle, name.text, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
      Unmanaged.passRetained(ProgramFunction(answer)).toOpaque(),
      { context, count, arguments in
        guard let function = sqlite3_user_data(context) else { return sqlite3_result_null(context) }
        let values = (0..<Int(count)).map { ColumnValue(arguments?[$0]).value }
        Unmanaged<ProgramFunction>.fromOpaque(function).takeUnretainedValue().run(values, context)
      }, nil, nil, { $0.map { Unmanaged<ProgramFunction>.fromOpaque($0).release() } })
  }
}
