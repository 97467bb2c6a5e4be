import SatchelSQLite
import SatchelValues

/// Runs the inserts and updates of one table. If SQLite cannot compute an expression of a row, the write throws the
/// same error as for a row that breaks a CHECK.
///
/// The expression may be in a CHECK, a generated column or an index. For example, `CHECK (json_extract(j, '$.a') >
/// 0)` fails if `j` is no JSON. SQLite then reports an error of the function, and not a broken constraint.
///
/// `RowTable` runs deletes itself, because a delete checks no constraint.
final class RowWriter {
  private let table: Name
  private let savepoint = LazyStatement("SAVEPOINT satchel_row")
  private let rollback = LazyStatement("ROLLBACK TO satchel_row")
  private let release = LazyStatement("RELEASE satchel_row")
  /// Whether an index of the table has computed values; nil if that was not checked yet.
  private var hasComputedIndex: Bool?

  init(_ table: Name) { self.table = table }

  /// Runs an insert. Before SQLite writes anything, it computes all expressions of the new row.
  func insert(_ values: [Value], by statement: KeptStatement) throws {
    try computing(statement) { try statement.statement.run(values) }
  }

  /// Runs an update of one row. If it fails because of the row's values, nothing changes.
  func update(_ values: [Value], by statement: KeptStatement) throws {
    // SQLite computes the index entries of the former row while it removes them. If that fails, some entries of the
    // row are already missing, because SQLite keeps no journal for the update of one row. So a savepoint is
    // necessary.
    guard try computesIndexes(beside: statement.statement) else { return try insert(values, by: statement) }
    try run(savepoint, beside: statement)
    do { try insert(values, by: statement) } catch let error as SQLiteError
      where [.constraint, .unique, .foreignKey].contains(error.kind)
    {
      try run(rollback, beside: statement)
      try run(release, beside: statement)
      throw error
    }
    // Any other error ends the whole transaction and the savepoint too.
    try run(release, beside: statement)
  }

  /// Runs `body`, which must run `statement`. If SQLite cannot compute an expression of the row, throws an error of
  /// the kind `constraint` with SQLite's message.
  func computing<T>(_ statement: KeptStatement, _ body: () throws -> T) throws -> T {
    do { return try body() } catch let error as SQLiteError {
      guard let refusal = error.asConstraint, let sql = error.sql else { throw error }
      // If SQLite can no longer compile the statement, the row is not the cause, for example if a trigger's table is
      // missing.
      _ = try statement.statement.prepareAnother(sql).columnCount
      throw refusal
    }
  }

  private func run(_ statement: LazyStatement, beside other: KeptStatement) throws {
    try statement.prepared(beside: other.statement).statement.run([])
  }

  /// Whether an index of the table is partial, or has an expression or a virtual column.
  private func computesIndexes(beside other: borrowing Statement) throws -> Bool {
    if let hasComputedIndex { return hasComputedIndex }
    let query = try other.prepareAnother(
      """
      SELECT 1 FROM pragma_index_list(?1) AS list JOIN pragma_index_xinfo(list.name) AS part
      WHERE list.partial OR part.cid = -2
        OR part.cid IN (SELECT cid FROM pragma_table_xinfo(?1) WHERE hidden = 2)
      LIMIT 1
      """)
    try query.bind(.string(table.text), at: 1)
    let isFound = try query.step()
    hasComputedIndex = isFound
    return isFound
  }
}
