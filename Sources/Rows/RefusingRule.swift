import SatchelSQLite
import SatchelValues

/// The rule because of which SQLite refuses a row.
public enum RefusingRule {
  /// SQLite cannot compute the row's entry in this index. CREATE INDEX made the index, so a person can drop it by
  /// this name.
  case index(String)
  /// SQLite cannot compute one of these generated columns for the row.
  case generatedColumns([String])
  /// The row breaks a constraint, which SQLite's message names.
  case constraint
}

extension RowTable {
  /// Finds the rule because of which SQLite refuses a row. The database does not change.
  ///
  /// The method drops indexes and undoes that. This ends all open queries of the connection. So call it only in a
  /// transaction that will be rolled back.
  /// - Parameter error: the error of the kind `constraint` that SQLite reported for the row.
  public func refusingRule(
    for row: Row, _ error: SQLiteError, in database: borrowing Database
  ) throws -> RefusingRule {
    guard error.isOfExpression else { return .constraint }
    if let index = try refusingIndex(for: row, in: database) { return .index(index) }
    let columns = try database.all(
      "SELECT name FROM pragma_table_xinfo(:table) WHERE hidden IN (2, 3)", ["table": .string(name.text)]
    ) { $0.text(0) }
    return columns.isEmpty ? .constraint : .generatedColumns(columns)
  }

  /// The index because of which SQLite cannot write the row; nil if no index is the reason.
  private func refusingIndex(for row: Row, in database: borrowing Database) throws -> String? {
    let indexes = try database.all(
      """
      SELECT DISTINCT list.name FROM pragma_index_list(:table) AS list JOIN pragma_index_xinfo(list.name) AS part
      WHERE list.origin = 'c' AND (list.partial OR part.cid = -2)
      """, ["table": .string(name.text)]
    ) { $0.text(0) }
    var found: String?
    try database.savepoint(.dryRun) {
      for index in indexes where found == nil {
        try database.execute("DROP INDEX \(quoted(index))")
        if try isAccepted(row, in: database) { found = index }
      }
    }
    return found
  }

  /// Whether SQLite can compute all expressions of the row. Writes the row and undoes that.
  private func isAccepted(_ row: Row, in database: borrowing Database) throws -> Bool {
    let key = schema.key(of: row)
    do {
      try database.savepoint(.dryRun) {
        try write(nil, over: self.row(key), key: key)
        try write(.insert(row), of: key)
      }
      return true
    } catch let error as SQLiteError where error.kind == .unique {
      return true
    } catch let error as SQLiteError where error.kind == .constraint {
      return false
    }
  }
}
