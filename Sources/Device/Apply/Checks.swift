import SatchelRows
import SatchelSQLite
import SatchelValues

/// CHECKs of the app's tables. The hub's rows are written without them, because the hub has accepted these rows.
extension Database {
  /// Runs `body` with CHECKs on. Afterwards they are off.
  func withChecks<T>(_ body: () throws -> T) throws -> T {
    try execute("PRAGMA ignore_check_constraints = OFF")
    let result = try body()
    try execute("PRAGMA ignore_check_constraints = ON")
    return result
  }
}

extension RowTable {
  /// Whether the row with this key breaks a CHECK. No app could write to such a row any more. CHECKs must be on.
  func breaksCheck(_ key: RowKey) throws -> Bool {
    do { try rewrite(key) } catch let error as SQLiteError where error.kind == .constraint { return true }
    return false
  }
}
