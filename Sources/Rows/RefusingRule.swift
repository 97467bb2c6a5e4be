import SatchelSQLite
import SatchelValues

/// The rule of a table by which SQLite refuses a row.
public enum RefusingRule {
  /// SQLite cannot compute the row's entry in this index. CREATE INDEX made the index, so it can be dropped by name.
  case index(String)
  /// SQLite cannot compute a generated column of the row. One of these columns is the cause.
  case generatedColumns([String])
  /// The row breaks a constraint. SQLite's message names it.
  case constraint
}

extension RowTable {
  /// Finds the rule by which SQLite refuses a row. Nothing is changed.
  ///
  /// Indexes are dropped on trial. Undoing that ends all open queries of the connection. So this method is only for a
  /// transaction that ends with an error.
  /// - Parameter error: the error of the kind `constraint` with which the row could not be written.
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

  /// The index without which SQLite would write the row; nil: no index is the cause.
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

  /// Whether SQLite can compute everything that it needs to write a row. Nothing is changed.
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
