import SatchelRows
import SatchelSQLite
import SatchelValues

/// CHECK constraints of the app's tables. An import writes the hub's rows with CHECKs off, because the hub has accepted
/// these rows.
extension Database {
  /// Runs `body` with CHECKs on, and turns CHECKs off afterwards.
  func withChecks<T>(_ body: () throws -> T) throws -> T {
    try execute("PRAGMA ignore_check_constraints = OFF")
    let result = try body()
    try execute("PRAGMA ignore_check_constraints = ON")
    return result
  }
}

extension RowTable {
  /// Whether the row with this key breaks a CHECK. An app could no longer update such a row. The caller must turn
  /// CHECKs on first.
  func breaksCheck(_ key: RowKey) throws -> Bool {
    do { try rewrite(key) } catch let error as SQLiteError where error.kind == .constraint { return true }
    return false
  }
}
