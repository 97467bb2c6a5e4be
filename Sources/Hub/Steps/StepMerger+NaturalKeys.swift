import SatchelConflicts
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Two rows of which only one can exist, because they have the same natural key.
extension StepMerger {
  /// Returns the row that prevents a change. nil if no row or more than one row prevents it.
  func rival(of pending: Pending, in place: Int) throws -> Row? {
    let rivals = try rivals(of: pending, in: place)
    return rivals.count == 1 ? try store.rows[place].row(rivals[0]) : nil
  }

  /// Returns the hub's row of an update that several visible rows prevent. A conflict cannot show all of those rows, so
  /// it shows this row. nil for other changes.
  func rowKeptBySeveral(_ pending: Pending, in place: Int) throws -> Row? {
    guard case .update = pending.step.change else { return nil }
    let seen = try rivals(of: pending, in: place).filter { try scope.maySee($0, in: place) }
    return seen.count > 1 ? try store.rows[place].row(pending.step.key) : nil
  }

  /// Returns the keys of the rows that prevent a change.
  private func rivals(of pending: Pending, in place: Int) throws -> [RowKey] {
    let rows = store.rows[place]
    let hub = try rows.row(pending.step.key)
    let past = try store.past(of: pending.step.key, in: place)
    guard let row = try merged(pending, onto: hub, with: past, in: place).row else { return [] }
    return try rows.rivals(of: row, in: store.database)
  }

  /// Returns which of two rows wins by the table's policy, if only one can exist.
  func verdict(on step: Step, against rival: Row?, in place: Int) throws -> (winner: Winner, state: ConflictState) {
    let key = rival.map { store.rows[place].schema.key(of: $0) }
    // If the user may not see the other row, its stamp must not decide. Otherwise the result would reveal the stamp.
    let past = try key.flatMap { try scope.maySee($0, in: place) ? store.past(of: $0, in: place) : nil }
    return decide(
      store.tables[place].rules.conflict, device: min(step.stamp, latest), hub: past?.stamp ?? .zero, doubtful)
  }

  /// Merges a change whose natural key another row has, if the policy favours the device. The hub deletes the other
  /// row, and a conflict keeps its values. If the policy or the rules do not allow that, this method has no effect and
  /// returns false. A person then decides.
  func prevail(_ pending: Pending, in place: Int) throws -> Bool {
    let step = pending.step
    let rows = store.rows[place]
    let rules = store.tables[place].rules
    guard !pending.decided, device.refusal == nil, rules.delete == .hard, let rival = try rival(of: pending, in: place)
    else {
      return false
    }
    let rivalKey = rows.schema.key(of: rival)
    // The device's other changes of the rival row must be merged first.
    if waiting[RowReference(place: place, key: rivalKey)] != nil { return false }
    if try ConflictTable.isHeld(rivalKey, of: store.tables[place], device: device.id, in: store.database) {
      return false
    }
    let rivalPast = try store.past(of: rivalKey, in: place)
    let verdict = try verdict(on: step, against: rival, in: place)
    guard verdict.winner == .device, try scope.maySee(rivalKey, in: place), try scope.mayWrite(rivalKey, in: place),
      try store.tableWithChildren(of: rival, becoming: nil, in: place) == nil,
      try rules.conflict != .newest || isNewToDevice(rivalPast, in: place)
    else { return false }
    let hub = try rows.row(step.key)
    let past = try store.past(of: step.key, in: place)
    let result = try merged(pending, onto: hub, with: past, in: place)
    guard result.disagreement == nil, let change = Change(from: hub, to: result.row),
      try hub == nil || scope.mayWrite(step.key, in: place), try obstacle(to: result.row, from: hub, in: place) == nil
    else { return false }
    do {
      try store.database.savepoint {
        try rows.write(nil, over: rival, key: rivalKey)
        try write(change, to: result.row, over: hub, key: step.key, in: place)
      }
    } catch is NotAllowed { return false } catch let error as SQLiteError
      where error.kind == .unique || error.kind == .constraint
    {
      return false
    }
    parents.forget()
    let removal = Step(
      table: step.table, key: rivalKey, generation: step.generation, stamp: step.stamp, change: .delete(was: rival))
    try log(removal.change, removal, with: rivalPast, in: place)
    try log(change, step, with: past, in: place, besides: writtenTwice(pending, over: hub, result, in: place))
    try note(Disagreement(kind: .unique, state: verdict.state, rowWinner: .device), step, met: rival, in: place)
    return true
  }

  /// Returns the state of a conflict about a row that is kept out by another row of the same natural key, and whether a
  /// person decides because the stamps do not show which row is the later one.
  ///
  /// With the policy `newest`, the result must not depend on which row came first. The conflict is settled only if, in
  /// the other order, the hub would also have removed the device's row. Otherwise a person decides.
  func stateOfKeptOut(
    _ step: Step, by rival: Row?, in place: Int
  ) throws -> (state: ConflictState, isInDoubt: Bool) {
    let verdict = try verdict(on: step, against: rival, in: place)
    let rules = store.tables[place].rules
    let state = stateOfLoss(by: verdict)
    let isInDoubt = rules.conflict.isInDoubt(by: verdict)
    guard state == .settled, rules.conflict == .newest else { return (state, isInDoubt) }
    guard case .insert(let row) = step.change, rules.delete == .hard else { return (.open, false) }
    return (try isReferredTo(row, of: RowReference(place: place, key: step.key)) ? .open : .settled, false)
  }

  /// Whether a waiting step would make another row refer to this new row.
  private func isReferredTo(_ row: Row, of reference: RowReference) throws -> Bool {
    let below = try referring ?? waitingRows()
    referring = below
    let parent = (row: row, table: store.tables[reference.place].name)
    let number = below.numbers[reference]
    if below.rows.isReferredTo(parent, byAny: { $0 != number }) { return true }
    // If the new row refers to itself, other rows may refer to the values that it gets later.
    guard let own = number, below.rows.isReferredTo(parent, byAny: { $0 == own }) else { return false }
    return below.rows.isReferredTo(below.rows[own], byAny: { $0 != own })
  }

  /// Returns the rows as the waiting steps would make them.
  private func waitingRows() throws -> WaitingRowsBelow {
    var found = WaitingRowsBelow(rows: RowsBelow(among: store.tables, in: store.database))
    for (reference, steps) in waiting {
      var row = try store.rows[reference.place].row(reference.key)
      for step in steps.map(\.step) {
        switch step.change {
        case .insert(let new): row = new
        case .update(let changes): row?.write(changes)
        case .delete: row = nil
        }
      }
      guard let row else { continue }
      found.numbers[reference] = found.numbers.count
      found.rows.add(row, of: store.tables[reference.place].name)
    }
    return found
  }

  /// Whether the other row was made after the emission that the device had. With `newest`, only such a row may be
  /// removed. An older row would not have been removed if its last change had come second.
  private func isNewToDevice(_ past: RowNumbers.Entry?, in place: Int) throws -> Bool {
    let cursor: Cursor?
    switch base {
    case .emission(let known): cursor = known
    case .formerEpoch(let known): cursor = known
    case .forgotten: cursor = nil
    }
    return try cursor.map { try store.changesByOthers(of: past, in: place, after: $0, than: .none).presence } ?? false
  }
}

/// The rows as the waiting steps would make them, and the numbers of these rows.
struct WaitingRowsBelow {
  var rows: RowsBelow
  var numbers: [StepMerger.RowReference: Int] = [:]
}
