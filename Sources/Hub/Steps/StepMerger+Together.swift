import SatchelMerge
import SatchelSQLite
import SatchelValues

extension StepMerger {
  private struct NotTogether: Error {}

  /// The change that all waiting steps of one row make together.
  private struct Move {
    let row: RowReference
    let before: Row?
    let after: Row?
    /// The history of the row before its waiting steps.
    let past: RowNumbers.Entry?
    let steps: [Written]
  }

  /// A step with its result.
  private struct Written {
    let step: Step
    /// The row before the step.
    let before: Row?
    let result: MergeResult
    let equal: [ColumnChange]

    var change: Change? { Change(from: before, to: result.row) }
  }

  /// Merges rows that cannot be merged one by one. For example, two rows trade a UNIQUE value, or a new row gets the
  /// key of a deleted parent.
  ///
  /// The hub first removes all rows, then writes all rows, and then checks the references. If any row cannot be merged,
  /// nothing is changed. Disagreements about other columns are recorded as for a single row.
  /// - Returns: whether the rows were merged.
  func takeTogether(_ rows: [RowReference]) throws -> Bool {
    var moves: [Move] = []
    for row in rows {
      guard let move = try move(row) else { return false }
      moves.append(move)
    }
    do { try store.database.savepoint { try carryOut(moves) } } catch is NotTogether { return false } catch let error
      as SQLiteError
      where error.kind == .unique || error.kind == .constraint
    { return false }
    for move in moves {
      for written in move.steps {
        let past = try store.past(of: written.step.key, in: move.row.place)
        try log(written.change, written.step, with: past, in: move.row.place, besides: written.equal)
        try noteOutcome(
          of: written.step, written.result, over: written.before, with: move.past, in: move.row.place)
      }
      waiting[move.row] = nil
    }
    return true
  }

  /// Returns the change that all waiting steps of a row make together, and the row after them. nil if the row cannot be
  /// merged.
  func outcome(of row: RowReference) throws -> (change: Change?, after: Row?)? {
    try move(row).map { (Change(from: $0.before, to: $0.after), $0.after) }
  }

  /// Returns the change that all waiting steps of a row make together. nil if the row cannot be merged, even if all
  /// other rows can be.
  private func move(_ row: RowReference) throws -> Move? {
    let before = try store.rows[row.place].row(row.key)
    if try isHeld(row.key, before == nil, in: row.place) { return nil }
    var after = before
    let past = try store.past(of: row.key, in: row.place)
    var steps: [Written] = []
    for sent in waiting[row] ?? [] {
      if try sent.isUnclear || notTaken(before: sent, in: row.place) != nil { return nil }
      if awaitsRow(sent.step, onto: after, with: past, in: row.place) { return nil }
      if after == nil, try keptInsert(before: sent.step, in: row.place) != nil { return nil }
      var pending = sent
      pending.step = try withoutUndone(sent.step, with: past, in: row.place)
      if after == nil, grouped.contains(pending.number), try deletesNothing(pending, with: past) { return nil }
      let result = try merged(pending, onto: after, with: past, in: row.place)
      if grouped.contains(pending.number), try deletesMarked(pending, result, with: past) { return nil }
      if let disagreement = result.disagreement, after == nil || isRefused(pending, for: disagreement) { return nil }
      var equal = try writtenTwice(pending, over: after, result, in: row.place)
      if !equal.isEmpty, before != nil, try !scope.mayWrite(row.key, in: row.place) { equal = [] }
      steps.append(Written(step: pending.step, before: after, result: result, equal: equal))
      after = result.row
    }
    if device.refusal != nil { return nil }
    if before == nil, after != nil,
      try steps.contains(where: { try $0.change != nil && keyFault(of: $0.step, in: row.place) != nil })
    {
      return nil
    }
    if before != nil, after == nil, store.tables[row.place].rules.delete == .never { return nil }
    let isCompared = before != after || steps.contains { $0.result.disagreement != nil }
    if before != nil, isCompared, try !scope.mayWrite(row.key, in: row.place) { return nil }
    return Move(row: row, before: before, after: after, past: past, steps: steps)
  }

  /// Whether a disagreement prevents the merge of a step. The steps of units and families must be accepted as sent.
  private func isRefused(_ pending: Pending, for disagreement: Disagreement) -> Bool {
    grouped.contains(pending.number) && !disagreement.isWonByDevice
  }

  /// Whether a reference still has no parent after all rows were written.
  private func isObstructed(_ move: Move) throws -> Bool {
    let place = move.row.place
    if let after = move.after,
      try store.missingParent(of: after, changedFrom: move.before, in: place, using: &parents) != nil
    {
      return true
    }
    guard let before = move.before else { return false }
    // For example, a new row 'A' replaced the row 'a'. With the collation NOCASE, a child of 'a' then refers to 'A'.
    return try store.references[place].tableWithOrphans(
      of: before, becoming: move.after, store.rows[place].schema, in: store.database) != nil
  }

  private func carryOut(_ moves: [Move]) throws {
    let changing = moves.filter { $0.before != $0.after }
    parents.forget()
    defer { parents.forget() }
    for move in changing { try store.rows[move.row.place].write(nil, over: move.before, key: move.row.key) }
    for move in changing { try store.rows[move.row.place].write(move.after, over: nil, key: move.row.key) }
    for move in changing {
      if try isObstructed(move) { throw NotTogether() }
      if move.after != nil, try !scope.mayWrite(move.row.key, in: move.row.place) { throw NotTogether() }
    }
  }
}
