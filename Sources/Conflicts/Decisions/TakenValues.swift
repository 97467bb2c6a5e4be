import SatchelCapture
import SatchelJSON
import SatchelRows
import SatchelSQLite
import SatchelValues

/// Rows that have UNIQUE values which a decision needs.
extension RowTable {
  /// The rows that have UNIQUE values of these rows of this table, as they were decided. The decided rows themselves
  /// are not among them.
  func rowsInTheWay(of decided: [DecidedRow], in database: borrowing Database) throws -> [RowInTable] {
    var known = Set(decided.map(\.key))
    let found = try database.withoutTriggers {
      try decided.compactMap(\.target).flatMap { try rivals(of: $0, in: database) }
    }
    return found.filter { known.insert($0).inserted }.map { RowInTable(table: name, key: $0) }
  }
}

extension ConflictRecord {
  /// Whether a decision for the device may need a UNIQUE value of another row of this table. A conflict of any kind may
  /// need one: a change that its user may not make, for example, was compared with no other row.
  private func mayNeedValues(of table: TrackedTable) -> Bool {
    kind == .unique || operation != .delete && !table.naturalColumns.isEmpty
  }

  /// The rows that have UNIQUE values of the conflict's row, as a decision for the device would make it. First the row
  /// that the conflict shows, even if that row has no such value any more. The record has the columns that its table
  /// has now.
  /// - Parameters:
  ///   - rows: the conflict's table.
  ///   - whole: returns the conflict's row before it was deleted; nil: it is there, or not known.
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
      // The decision is impossible, and is refused for this reason.
    }
    return keys.map { RowInTable(table: table, key: $0) }
  }
}

extension RowInTable {
  /// The row, as messages name it.
  var words: String { "\(table) \(String(decoding: canonicalKey(key), as: UTF8.self))" }
}

extension WorkspaceError {
  /// The refusal if the database does not allow a row as it was decided.
  /// - Parameter others: the rows that have UNIQUE values of the row.
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
