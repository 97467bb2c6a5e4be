import SatchelDataset
import SatchelPlatform
import SatchelSQLite
import SatchelValues

extension HubStore {
  /// The longest time that the rules may take until the query finds the next row, in milliseconds.
  static let longestRule: Int64 = 10 * 60_000

  /// Runs a query that contains the dataset's rules.
  ///
  /// Throws a `DatasetError` if the query finds no next row in this time, because the rules may never end.
  /// - Parameter body: runs the query, and restarts the time limit after each row.
  func askingRules<T>(of table: Name, _ body: (_ limit: TimeLimit) throws -> T) throws -> T {
    let limit = TimeLimit(milliseconds: Self.longestRule, by: clock)
    do {
      return try database.bounded(by: limit.isOver) { try body(limit) }
    } catch let error as SQLiteError where error.kind == .interrupted {
      throw DatasetError(
        "tables.\(table)",
        "its rules and its parents' rules do not end: a single answer took more than ten minutes",
        hint:
          """
          Look for subqueries that read a whole table for each row, or that lack an index; then: satchel-hub dataset \
          apply FILE
          """
      )
    }
  }
}
