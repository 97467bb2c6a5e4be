import SatchelConflicts
import SatchelMerge
import SatchelRows
import SatchelValues
import SatchelWorkspace

/// Conflicts about changes that the hub does not accept as the device sent them.
extension StepMerger {
  /// Records a change as a conflict if the user may neither see nor change its row. If the device had the row, the
  /// device receives the same conflict as for a deleted row.
  func noteHidden(_ step: Step, met hub: Row?, in place: Int) throws -> Obstacle? {
    if case .insert = step.change, try !held.contains(step.key, in: place) {
      return try forbid(step, met: hub, in: place, Self.mayNotChange)
    }
    // Nothing about the row is revealed, not even the order of the stamps.
    let state = store.tables[place].rules.conflict.stateOfUncompared
    var told: Int64?
    // Outside units, a repeated delete is no conflict. So the device does not receive this conflict, which would show
    // that the row exists. In a unit, a hidden row and a deleted row give the same conflict, so the device may receive
    // it.
    if case .delete = step.change, !isInUnit { told = ConflictTable.neverTold }
    try note(Disagreement(kind: .revoked, state: state), step, met: hub, in: place, told: told)
    return nil
  }

  /// Records a change as a conflict if its row would refer to a parent that the user may not see. Returns false, with
  /// no effect, if the row refers to no such parent.
  ///
  /// The device receives the same conflict as for a deleted parent. At the hub, the kind of the conflict shows whether
  /// the device had the parent when it made the change.
  func noteHiddenParent(_ step: Step, of row: Row?, met hub: Row?, in place: Int) throws -> Bool {
    guard let row, let parent = try scope.hiddenParent(of: row, from: hub, in: place) else { return false }
    let kind: ConflictKind = try held.contains(parent.key, in: parent.place) ? .revoked : .forbidden
    try note(
      Disagreement(kind: kind, state: .held), step, met: hub, in: place,
      note: MissingParent.words(hiddenIn: store.tables[parent.place].name), hidden: .parent)
    return true
  }

  func noteUnclear(_ step: Step, met: Row?, in place: Int) throws {
    let (kind, columns): (ConflictKind, [Int])
    switch step.change {
    case .update(let changes): (kind, columns) = (.updateUpdate, changes.map(\.column))
    case .insert(let row):
      (kind, columns) = (
        .insertInsert, row.values.indices.filter { column in met.map { $0[column] != row[column] } ?? false }
      )
    case .delete: return
    }
    if columns.isEmpty { return }
    let winners = Dictionary(uniqueKeysWithValues: columns.map { ($0, Winner.hub) })
    try note(
      Disagreement(kind: kind, state: .open, winners: winners), step, met: met, in: place,
      note: "A copy of the device has delivered an unknown part of this.")
  }

  /// Returns, as a text, why the user may not make this row.
  func words(forbidding row: Row?, in place: Int) throws -> String {
    guard let row, try scope.hidesOrphan(row, in: place) else {
      return Self.mayNotMake
    }
    return "The row names no parent, so no user would see it. It needs a parent."
  }

  func forbid(_ step: Step, met: Row?, in place: Int, _ words: String) throws -> Obstacle? {
    try note(Disagreement(kind: .forbidden, state: .held), step, met: met, in: place, note: words)
    return nil
  }

  func note(_ obstacle: Obstacle, _ pending: Pending, in place: Int) throws -> ConflictState {
    let (disagreement, met) = try disagreement(about: obstacle, pending, in: place)
    let step = disagreement.state == .held ? pending.rest : pending.step
    try note(disagreement, step, met: met, in: place, note: obstacle.words)
    return disagreement.state
  }

  /// Returns the disagreement for a remaining obstacle, and the hub's row that prevents the change.
  func disagreement(
    about obstacle: Obstacle, _ pending: Pending, in place: Int
  ) throws -> (Disagreement, met: Row?) {
    let step = pending.step
    var met = try obstacle.kind == .unique ? rival(of: pending, in: place) : store.rows[place].row(step.key)
    var (state, isInDoubt) = (ConflictState.open, false)
    switch obstacle.kind {
    case _ where obstacle.isHeld: state = .held
    // Rows at the hub refer to a row that this change would delete or rename. So a person decides.
    case .foreignKey: break
    default: (state, isInDoubt) = try stateOfKeptOut(step, by: met, in: place)
    }
    if obstacle.kind == .unique, met == nil { met = try rowKeptBySeveral(pending, in: place) }
    return (Disagreement(kind: obstacle.kind, state: state, isInDoubt: isInDoubt), met)
  }

  /// Records a conflict about a step.
  /// - Parameter told: `ConflictTable.neverTold` if the device must not receive the conflict.
  func note(
    _ disagreement: Disagreement, _ step: Step, met: Row?, in place: Int, note: String? = nil, told: Int64? = nil,
    hidden: HiddenPart? = nil
  ) throws {
    let note = disagreement.words(after: note)
    if diagnosis != nil {
      diagnosis?.note(disagreement, met: met, note: note, hidden: hidden)
      return
    }
    let record = record(of: disagreement, step, met: met, in: place, note: noteWithFamily(note, step, in: place))
    let hidden = try hidden ?? hiddenPart(of: met, in: place)
    try keep(record, of: step, told: told, hidden: hidden)
    if disagreement.isWonByDevice { return }
    progress.refused += 1
    // The device must receive the hub's row, because the hub did not accept the change as sent. A device that deleted a
    // hidden row does not have the row. It receives the row only if its user may see the row again.
    try store.owe(step.key, in: place, to: device.id, told == nil ? .always : .ifVisible)
  }

  func record(
    of disagreement: Disagreement, _ step: Step, met: Row?, in place: Int, note: String?
  ) -> ConflictRecord {
    // The id is computed from the stamp that the device sent, so the device and the hub compute the same id.
    var record = ConflictRecord(
      disagreement, of: step.change, at: step.stamp, generation: step.generation, key: step.key,
      in: store.rows[place].schema,
      met: met, device: device.id, user: device.user, note: note)
    record.stamp = min(step.stamp, latest)
    return record
  }

  /// Puts a record into the conflict table. A unit counts as one new conflict, so only the record that represents the
  /// unit is counted.
  func keep(_ record: ConflictRecord, of step: Step, told: Int64? = nil, hidden: HiddenPart) throws {
    var record = record
    if record.unit == nil, try !mayWait(ConflictSize(record), as: record.state) { record.state = .open }
    if record.state == .held { holdsAny = true }
    if record.kind == .unique { keepsInserts = true }
    let since = try base.sinceOfWaiting(store)
    let addition = try ConflictTable.addMeeting(
      record, bundle: bundle, noted: now, since: since, told: told, hidden: hidden, in: store.database)
    if [.revoked, .unit].contains(record.kind) { lost.append(record.id) }
    switch addition {
    case .new:
      earlier?.add(.init(id: record.id, row: record.rowInTable))
      if record.state == .held { progress.waiting? += ConflictSize(record) }
      if record.state == .held, case .insert = step.change, step.first == nil { try store.rememberJoined(record.id) }
      if let unit = record.unit, unit != record.id { return }
      progress.conflicts += 1
      if store.place(of: record.table).map({ store.tables[$0].rules.late }) == .accept {
        maybeLate.append(record.id)
      }
      if found.count < RowTally.mostShown { progress.found.append(record) }
    case .known(let known):
      record.id = known.id
      let wasReported = try store.isReport(record.id)
      try store.confirmReport(of: record, since: since)
      let isCorrected = try correct(known, by: record, hidden: hidden)
      if wasReported || isCorrected, let place = store.place(of: record.table) {
        earlier?.forget(RowReference(place: place, key: record.key), because: known.id)
      }
    }
  }

  /// Whether more conflicts of this state may be recorded. The number of a device's waiting changes is limited, because
  /// each import tries all of them. Beyond the limit, a change becomes an open conflict, so it is not lost.
  func mayWait(_ more: ConflictSize, as state: ConflictState) throws -> Bool {
    guard state == .held else { return true }
    let known = try progress.waiting ?? ConflictTable.heldSize(of: device.id, in: store.database)
    progress.waiting = known
    return heldLimit.allows(more, besides: known)
  }

  func hiddenPart(of met: Row?, in place: Int) throws -> HiddenPart {
    guard let met else { return .nothing }
    return try scope.maySee(store.rows[place].schema.key(of: met), in: place) ? .nothing : .row
  }

  /// Corrects a conflict that the device also found, in an import from the hub. If the device's result was different,
  /// the hub's result counts.
  /// - Returns: whether the record was changed.
  private func correct(_ known: ConflictRecord, by record: ConflictRecord, hidden: HiddenPart) throws -> Bool {
    if known.state == .resolved { return false }
    if known.kind == record.kind, known.state == record.state, known.winners == record.winners,
      known.rowWinner == record.rowWinner, known.hubValues == record.hubValues, known.unit == record.unit
    {
      return false
    }
    try ConflictTable.correct(record, at: now, hidden: hidden, in: store.database)
    return true
  }
}
