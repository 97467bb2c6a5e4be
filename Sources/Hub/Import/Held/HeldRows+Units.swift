import SatchelConflicts
import SatchelMerge
import SatchelValues
import SatchelWorkspace

/// Waiting units: the whole unit enters, or no part of it.
extension HeldRows {
  private struct NotWhole: Error {}

  /// Lets a unit enter if all of its changes can be accepted as the device sent them.
  ///
  /// If a change of the unit can no longer be accepted, the whole unit becomes one conflict. Later waiting changes of
  /// the unit's rows then also need a person's decision.
  /// - Parameter waiting: the rows that have an earlier waiting change. If the unit does not enter, this method adds
  ///   the unit's rows.
  func release(_ unit: ConflictUnit, behind waiting: inout Set<RowReference>) throws -> Step {
    let rows = unit.members.map { RowReference($0.record) }
    let isBlocked = rows.contains { waiting.contains($0) } || unit.members.contains { $0.record.awaitsDecision }
    if !isBlocked {
      let outcome = try enter(unit.members, Set(rows))
      if outcome == .entered { return outcome }
      waiting.formUnion(rows)
      if outcome == .closed { closedInUnits += unit.members.map(\.record) }
      return outcome
    }
    waiting.formUnion(rows)
    return .waits
  }

  private func enter(_ members: [StoredConflict], _ rows: Set<RowReference>) throws -> Step {
    var records: [ConflictRecord] = []
    lost = []
    let cursor = try store.cursor()
    beginReadingLogs()
    (remaining, aside) = (rows, [:])
    defer { (remaining, aside) = ([], [:]) }
    do {
      try store.database.savepoint {
        guard try releaseAll(members, rows) else { throw NotWhole() }
        if lost.isEmpty { return }
        for id in lost {
          if let known = try ConflictTable.conflict(id, in: store.database) { records.append(known.record) }
        }
        throw NotWhole()
      }
      return .entered
    } catch is NotWhole { forgetLogs(after: cursor) }
    if records.isEmpty { return .waits }
    try close(members, by: records)
    return .closed
  }

  /// Tries all changes of a unit, and repeats while more changes enter, up to a limit. Stops if a change can no longer
  /// be accepted: `lost` then names this change. Returns false if changes still wait and `lost` is empty.
  private func releaseAll(_ members: [StoredConflict], _ rows: Set<RowReference>) throws -> Bool {
    var left = try store.inWaitingOrder(members.sorted { place(of: $0) < place(of: $1) }) { [$0.record] }
    var limit = RetryLimit(steps: left.count)
    while !left.isEmpty {
      let count = left.count
      if !limit.allowsRound(over: count) { return false }
      var blocked: Set<RowReference> = []
      left = try left.filter { member in
        let row = RowReference(member.record)
        if blocked.contains(row) { return true }
        if try release(member.record, member.bundle, with: rows) != .waits {
          remaining.remove(row)
          return false
        }
        blocked.insert(row)
        return true
      }
      if !lost.isEmpty { return true }
      if left.count == count { return false }
    }
    return true
  }

  /// Returns the place of a change in the order of a unit. Children are deleted before their parents, and inserted
  /// after their parents.
  private func place(of conflict: StoredConflict) -> ApplyOrder {
    let table = store.place(of: conflict.record.table) ?? store.tables.count
    return ApplyOrder(
      generation: conflict.record.generation, order: conflict.record.operation == .delete ? -1 - table : table)
  }

  /// Makes one conflict of a unit that can no longer enter.
  /// - Parameter lost: the conflicts of the changes that cannot be accepted, as if these changes belonged to no unit.
  private func close(_ members: [StoredConflict], by lost: [ConflictRecord]) throws {
    let reasons = Dictionary(lost.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let state = ConflictState.ofUnit(lost.map { toldState(of: $0) })
    guard let head = lost.first else { return }
    for member in members {
      var record = reasons[member.record.id] ?? member.record
      let place = store.place(of: record.table)
      let met = try place.flatMap { try store.rows[$0].row(record.key) }
      if reasons[record.id] == nil {
        (record.kind, record.note) = (.unit, ConflictRecord.words(of: head))
        record.hubValues = place.flatMap { place in met.map { store.tables[place].schema.fields($0) } }
      }
      (record.unit, record.state) = (head.id, state)
      (record.rowWinner, record.winners) = (.hub, [])
      try ConflictTable.correct(record, at: now, hidden: hiddenPart(of: record, met: met), in: store.database)
      // The rollback of the attempt also removed the record of the user's rights, so this call records them again.
      if record.kind == .revoked { try noteRights(of: record) }
      if let place { try store.owe(record.key, in: place, to: record.device) }
    }
  }

  private func hiddenPart(of record: ConflictRecord, met: Row?) throws -> HiddenPart {
    guard met != nil, let place = store.place(of: record.table), let scope = try scope(of: record) else {
      return .nothing
    }
    return try scope.maySee(record.key, in: place) ? .nothing : .row
  }

  /// Returns the state of a conflict, as the device receives it. If the row was deleted or is hidden from the user, the
  /// policy alone decides the state.
  private func toldState(of record: ConflictRecord) -> ConflictState {
    guard [.updateDelete, .revoked].contains(record.kind), record.state != .held,
      let place = store.place(of: record.table)
    else { return record.state }
    return store.tables[place].rules.conflict.stateOfUncompared
  }
}
