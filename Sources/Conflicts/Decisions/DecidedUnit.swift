import SatchelSQLite
import SatchelValues

extension ConflictUnit {
  /// The changes of the unit that are not decided yet. Throws a `WorkspaceError` if a person entered values for a
  /// unit of several changes.
  public func undecided(for decision: ConflictDecision) throws -> [StoredConflict] {
    if !isSingle, case .set = decision {
      throw WorkspaceError(
        .unit, "The conflict is about a unit of \(members.count) changes, which are decided as one.",
        hint: "Use --keep hub or --keep device. For other values keep the hub's, and change the rows afterwards.")
    }
    return members.filter { $0.record.state != .resolved }
  }
}

extension [StoredConflict] {
  /// Calls `body` for each conflict, to carry out a decision. Throws the first error if some conflict cannot be
  /// decided.
  ///
  /// A row may need another row to be written first. So failed rows are tried again as long as other rows succeed.
  /// Deletes come first, children before parents. Inserts and updates follow, parents before children. The rows that
  /// are left may trade UNIQUE values, so `together` writes them at once.
  /// - Parameters:
  ///   - table: returns the index of a table. Parents have lower indexes than their children.
  ///   - together: carries out the decision about all remaining conflicts at once.
  public func decideEach(
    in database: borrowing Database, table: (Name) -> Int, _ body: (StoredConflict) throws -> Void,
    together: ([StoredConflict]) throws -> Void
  ) throws {
    if count == 1 { return try body(self[0]) }
    var left = sorted { $0.record.place(table) < $1.record.place(table) }
    while !left.isEmpty {
      let before = left.count
      var reason: WorkspaceError?
      var blocked: Set<RowInTable> = []
      left = try left.filter { member in
        let row = member.record.rowInTable
        if blocked.contains(row) { return true }
        do { try database.savepoint { try body(member) } } catch let error as WorkspaceError {
          reason = reason ?? error.about([member])
          blocked.insert(row)
          return true
        }
        return false
      }
      if left.count == before, let reason {
        if left.count == 1 { throw reason }
        do { try database.savepoint { try together(left) } } catch let error as WorkspaceError {
          // A decision about one row may have failed because of a row that the joint decision moves. The error of the
          // joint decision names the rows that really prevent it.
          throw error.code == .valueTaken ? error.about(left) : reason
        }
        return
      }
    }
  }
}

extension ConflictRecord {
  fileprivate func place(_ table: (Name) -> Int) -> ApplyOrder {
    let place = table(self.table)
    return ApplyOrder(generation: generation, order: operation == .delete ? -1 - place : place)
  }
}

extension WorkspaceError {
  /// - Parameter conflicts: the conflicts whose decision failed. The message names the first three.
  fileprivate func about(_ conflicts: [StoredConflict]) -> WorkspaceError {
    let isUnit = conflicts.contains { $0.record.unit != nil }
    let outcome = isUnit ? "No change of the unit is taken" : "Nothing is decided"
    let rows = conflicts.prefix(3).map(\.record.words).joined(separator: ", ")
    return WorkspaceError(
      code, "\(outcome), because of \(rows): \(message)",
      hint: hint ?? "Keep the hub's rows with --keep hub, and make the change again in another way.")
  }
}
