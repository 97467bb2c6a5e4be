import SatchelCapture
import SatchelJSON
import SatchelRows
import SatchelSQLite
import SatchelValues

/// Finds the rows whose UNIQUE values a decision needs.
extension RowTable {
  /// The rows of this table that have UNIQUE values of decided rows. The decided rows themselves are not in the
  /// result.
  func rowsInTheWay(of decided: [DecidedRow], in database: borrowing Database) throws -> [RowInTable] {
    var known = Set(decided.map(\.key))
    let found = try database.withoutTriggers {
      try decided.compactMap(\.target).flatMap { try rivals(of: $0, in: database) }
    }
    return found.filter { known.insert($0).inserted }.map { RowInTable(table: name, key: $0) }
  }
}

extension ConflictRecord {
  /// Whether a decision for the device may need a UNIQUE value of another row of this table. That is possible for
  /// each kind of conflict. For example, a `forbidden` change was not compared with other rows when it came.
  private func mayNeedValues(of table: TrackedTable) -> Bool {
    kind == .unique || operation != .delete && !table.naturalColumns.isEmpty
  }

  /// The rows that have UNIQUE values of the conflict's row, as a decision for the device would write it. The first
  /// is the row that the conflict shows, even if it no longer has such a value. The record must have the present
  /// columns of its table.
  /// - Parameters:
  ///   - rows: the conflict's table.
  ///   - whole: returns the conflict's row before it was deleted; nil if it exists or is not known.
  public func rivals(
    in rows: RowTable, _ database: borrowing Database, whole: () throws -> Row?
  ) throws -> [RowInTable] {
    guard mayNeedValues(of: rows.table) else { return [] }
    let shown = rivalKey(in: rows.schema)
    var keys = [shown].compactMap(\.self)
    do {
      let target = try ConflictDecision.deviceRow(
        for: self, current: rows.row(key), whole: whole(), schema: rows.schema, rules: rows.rules)
      if let target {
        keys += try database.withoutTriggers { try rows.rivals(of: target, in: database) }.filter { $0 != shown }
      }
    } catch is WorkspaceError {
      // The decision itself will be refused with this error.
    }
    return keys.map { RowInTable(table: table, key: $0) }
  }
}

extension RowInTable {
  /// The row's name for messages.
  var words: String { "\(table) \(String(decoding: canonicalKey(key), as: UTF8.self))" }
}

extension WorkspaceError {
  /// The error for a decided row that the database does not allow.
  /// - Parameter others: the other rows that have UNIQUE values of this row.
  init(decidedRowFailed error: SQLiteError, because others: [RowInTable]) {
    if others.isEmpty {
      self.init(
        .notAllowed, "The database does not allow the row as you decided it: \(error.message).",
        hint: "Decide with other values: --set COLUMN=VALUE")
    } else {
      self.init(
        .valueTaken,
        """
        The row as you decided it has values that only one row may have, and other rows have them: \
        \(others.map(\.words).sorted().joined(separator: ", ")).
        """,
        hint: """
          In the app, give those rows other values or delete them, and decide again. Or decide with other values: \
          --set COLUMN=VALUE
          """)
    }
  }
}
