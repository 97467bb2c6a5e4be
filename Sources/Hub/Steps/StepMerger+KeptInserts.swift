import SatchelConflicts
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Changes of a new row that is kept out because another row has the same natural key.
///
/// The device may still have the new row in its table, and its user may change or delete the row there.
extension StepMerger {
  /// Returns the conflict record of the row's insert. nil if the row is not kept out, or if the step inserts the row
  /// again.
  func keptInsert(before step: Step, in place: Int) throws -> ConflictRecord? {
    if case .insert = step.change { return nil }
    let keepsInserts = try self.keepsInserts ?? ConflictTable.keepsInserts(of: device.id, in: store.database)
    self.keepsInserts = keepsInserts
    if !keepsInserts { return nil }
    let first = try ConflictTable.openUniqueInsert(
      step.key, of: store.tables[place].name, device: device.id, in: store.database)
    // A conflict that the device only reported lets no row in.
    return try first.flatMap { try store.isReport($0.id) ? nil : $0 }
  }

  /// Merges a change of a row that is kept out. A delete ends the conflict. An update lets the row in if the row now
  /// fits. Any other update waits behind the insert.
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
      // The device must learn that the row is now a row of the hub.
      try store.owe(step.key, in: place, to: device.id)
    }
    keptRows[reference] = nil
    return nil
  }

  /// Ends the conflicts of new rows that refer to a deleted row which was kept out. The caller calls this after the
  /// other steps: the device may have moved such a row to another parent.
  func endBelowDeleted() throws {
    let gone = try deletedKeptRows.filter { try isGone($0) }
    for record in try gone.waitingBelow(store.tables, in: store.database) { try withdraw(record) }
    deletedKeptRows = []
  }

  /// Whether the device deleted a new row that was kept out, and did not insert it again.
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

  /// Whether the bundle also deletes the new row of a conflict. That delete waits for the row.
  private func isDeleted(_ record: ConflictRecord) -> Bool {
    guard let place = store.place(of: record.table) else { return false }
    return waiting[RowReference(place: place, key: record.key)]?.contains { pending in
      if case .delete = pending.step.change { true } else { false }
    } ?? false
  }

  /// Returns the changes of a new row that wait behind its insert.
  private func behind(_ first: ConflictRecord) throws -> [ConflictRecord] {
    try ConflictTable.held(first.key, of: first.table, device: device.id, in: store.database)
      .filter { $0.id != first.id }
  }

  /// Returns a row that is kept out, with the values that its device wrote before this step. nil if an earlier change
  /// is not an update.
  private func keptRow(_ first: ConflictRecord, in place: Int) throws -> Row? {
    let schema = store.tables[place].schema
    let whole = try first.followed(by: behind(first), in: schema)
    guard case .insert(let row)? = whole.flatMap({ try? $0.change(in: schema) }) else { return nil }
    return row
  }

  /// Inserts a row that was kept out. Returns false, with no effect, if the row still cannot exist.
  private func letIn(_ row: Row, by step: Step, in place: Int) throws -> Bool {
    if try device.refusal != nil || isKeyTooHigh(step.key, in: place) { return false }
    if try obstacle(to: row, from: nil, in: place) != nil { return false }
    do { try write(.insert(row), to: row, over: nil, key: step.key, in: place) } catch is NotAllowed {
      return false
    } catch let error as SQLiteError where error.kind == .unique || error.kind == .constraint { return false }
    try log(.insert(row), step, with: store.past(of: step.key, in: place), in: place)
    return true
  }

  /// Ends the conflict of a new row, with the changes that wait behind its insert.
  private func withdraw(_ first: ConflictRecord) throws {
    for record in try [first] + behind(first) {
      _ = try ConflictTable.resolve(
        record.id, .hub, by: device.user, at: now, note: "The device deleted the row.", in: store.database)
      try ConflictTable.retell(record.id, in: store.database)
    }
    // The device may still have rows that referred to this row.
    if let place = store.place(of: first.table) { try store.owe(first.key, in: place, to: device.id) }
  }

  /// Closes the conflict of a change that is taken with a later change of its row.
  func settle(_ record: ConflictRecord) throws {
    var settled = record
    (settled.state, settled.rowWinner) = (.settled, .device)
    try ConflictTable.correct(settled, at: now, hidden: .nothing, in: store.database)
  }
}
