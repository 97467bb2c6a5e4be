import CSQLite

/// Statements that other people wrote may run for ever. These functions limit their time and the size of their values.
extension Database {
  /// The number of steps of SQLite's virtual machine between two checks. This many steps usually take far less than a
  /// millisecond.
  private static let stepsBetweenLooks: Int32 = 1_000

  /// Runs `body`. If `isOver` returns true, the running statement ends with an error of the kind `interrupted`.
  ///
  /// If this statement writes, SQLite rolls the whole transaction back. Calls of this function must not be nested.
  public func bounded<T: ~Copyable>(by isOver: @escaping () -> Bool, _ body: () throws -> T) throws -> T {
    let bound = Bound(isOver)
    sqlite3_progress_handler(
      handle, Self.stepsBetweenLooks,
      { bound in
        guard let bound else { return 1 }
        return Unmanaged<Bound>.fromOpaque(bound).takeUnretainedValue().isOver() ? 1 : 0
      }, Unmanaged.passUnretained(bound).toOpaque())
    defer { sqlite3_progress_handler(handle, 0, nil, nil) }
    return try withExtendedLifetime(bound, body)
  }

  /// Limits the size of the values that statements of this connection read and make. A larger value ends its statement
  /// with an error of the kind `tooLarge`.
  ///
  /// - Returns: the former limit.
  @discardableResult public func limitValues(toBytes limit: Int32) -> Int32 {
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, limit)
  }
}

private final class Bound {
  let isOver: () -> Bool

  init(_ isOver: @escaping () -> Bool) { self.isOver = isOver }
}
