import SatchelConflicts
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Later changes of a new row that the hub does not accept, because another row has the same natural key. Such a row is
/// kept out.
///
/// The device may still have the new row in its table, and its user may change or delete the row there.
extension StepMerger {
  /// Returns the conflict record of a row that is kept out. nil if the row is not kept out, or if the step inserts the
  /// row again.
  func keptInsert(before step: Step, in place: Int) throws -> ConflictRecord? {
    if case .insert = step.change { return nil }
    let keepsInserts = try self.keepsInserts ?? ConflictTable.keepsInserts(of: device.id, in: store.database)
    self.keepsInserts = keepsInserts
    if !keepsInserts { return nil }
    let first = try ConflictTable.openUniqueInsert(
      step.key, of: store.tables[place].name, device: device.id, in: store.database)
    // A reported conflict that the hub has not found itself does not count.
    return try first.flatMap { try store.isReport($0.id) ? nil : $0 }
  }

  /// Merges a later change of a row that is kept out. A delete ends the conflict. An update inserts the row if the row
  /// now fits. Any other update waits for the row.
  func follow(_ step: Step, _ first: ConflictRecord, in place: Int) throws -> Obstacle? {
    let reference = RowReference(place: place, key: step.key)
    switch step.change {
    case .insert: return nil
    case .delete where device.refusal != nil:
      return try forbid(step, met: nil, in: place, device.refusal ?? Self.mayNotChange)
    case .delete:
      try withdraw(first)
      if !waiting.isEmpty {
        let known = try undecided ?? UndecidedReferences(of: device.id, store.tables, in: store.database)
        undecided = known
        for record in known.below([first]) where isDeleted(record) { try withdraw(record) }
      }
      deletedKeptRows.append(first)
    case .update(let changes):
      guard var row = try keptRows[reference] ?? keptRow(first, in: place) else { return Self.itself }
      keptRows[reference] = row
      row.write(changes)
      if try !letIn(row, by: step, in: place) { return Self.itself }
      for record in try [first] + behind(first) { try settle(record) }
      // The device must receive the row, so that it knows that the hub accepted the row.
      try store.owe(step.key, in: place, to: device.id)
    }
    keptRows[reference] = nil
    return nil
  }

  /// Ends the conflicts of new rows that refer to a kept-out row which the device deleted. The caller merges the other
  /// steps first, because the device may have given such a new row another parent.
  func endBelowDeleted() throws {
    let gone = try deletedKeptRows.filter { try isGone($0) }
    for record in try gone.waitingBelow(store.tables, in: store.database) { try withdraw(record) }
    deletedKeptRows = []
  }

  /// Whether the device deleted a kept-out row, and did not insert it again.
  private func isGone(_ first: ConflictRecord) throws -> Bool {
    guard let place = store.place(of: first.table),
      try ConflictTable.conflict(first.id, in: store.database)?.record.state == .resolved,
      try !store.rows[place].contains(first.key)
    else { return false }
    let unique = try ConflictTable.openUniqueInsert(
      first.key, of: first.table, device: device.id, in: store.database)
    let waiting = try ConflictTable.insertWithoutParent(
      first.key, of: first.table, device: device.id, in: store.database)
    return unique == nil && waiting == nil
  }

  /// Whether the bundle also deletes the new row of a conflict. That delete still waits.
  private func isDeleted(_ record: ConflictRecord) -> Bool {
    guard let place = store.place(of: record.table) else { return false }
    return waiting[RowReference(place: place, key: record.key)]?.contains { pending in
      if case .delete = pending.step.change { true } else { false }
    } ?? false
  }

  /// Returns the later changes of a new row that wait for the row.
  private func behind(_ first: ConflictRecord) throws -> [ConflictRecord] {
    try ConflictTable.held(first.key, of: first.table, device: device.id, in: store.database)
      .filter { $0.id != first.id }
  }

  /// Returns a kept-out row with the values that its device wrote before this step. nil if an earlier change is not an
  /// update.
  private func keptRow(_ first: ConflictRecord, in place: Int) throws -> Row? {
    let schema = store.tables[place].schema
    let whole = try first.followed(by: behind(first), in: schema)
    guard case .insert(let row)? = whole.flatMap({ try? $0.change(in: schema) }) else { return nil }
    return row
  }

  /// Inserts a row that was kept out. If the row still cannot be inserted, this method has no effect and returns false.
  private func letIn(_ row: Row, by step: Step, in place: Int) throws -> Bool {
    if try device.refusal != nil || isKeyTooHigh(step.key, in: place) { return false }
    if try obstacle(to: row, from: nil, in: place) != nil { return false }
    do { try write(.insert(row), to: row, over: nil, key: step.key, in: place) } catch is NotAllowed {
      return false
    } catch let error as SQLiteError where error.kind == .unique || error.kind == .constraint { return false }
    try log(.insert(row), step, with: store.past(of: step.key, in: place), in: place)
    return true
  }

  /// Ends the conflict of a new row, and the conflicts of its later changes.
  private func withdraw(_ first: ConflictRecord) throws {
    for record in try [first] + behind(first) {
      _ = try ConflictTable.resolve(
        record.id, .hub, by: device.user, at: now, note: "The device deleted the row.", in: store.database)
      try ConflictTable.retell(record.id, in: store.database)
    }
    // The device may still have rows that referred to this row.
    if let place = store.place(of: first.table) { try store.owe(first.key, in: place, to: device.id) }
  }

  /// Closes the conflict of a change, because the hub took a later change of the row that contains it.
  func settle(_ record: ConflictRecord) throws {
    var settled = record
    (settled.state, settled.rowWinner) = (.settled, .device)
    try ConflictTable.correct(settled, at: now, hidden: .nothing, in: store.database)
  }
}
