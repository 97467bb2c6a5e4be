import SatchelBundle
import SatchelConflicts
import SatchelMerge
import SatchelRows
import SatchelValues
import SatchelWorkspace

/// The results of earlier exports that a device did not know when it made a bundle.
struct UnknownResults {
  /// The oldest generation whose results the device does not know.
  let first: Generation
  /// Changes whose conflicts the device reports in this bundle. The device knows the results of these changes.
  var reported: Set<ReportedChange> = []

  struct ReportedChange: Hashable {
    let table: Name
    let key: RowKey
    let generation: Generation

    init(_ record: ConflictRecord) { (table, key, generation) = (record.table, record.key, record.generation) }
  }

  func contains(_ record: ConflictRecord) -> Bool { !reported.contains(.init(record)) }
}

/// Changes of a row that the device made on its own earlier change, before it knew that the hub had not taken that
/// change.
///
/// One export would have carried both changes as one. So a unit is not taken after a unit that was not taken. If rows
/// are merged whole, the later change is merged together with the earlier changes of the row.
extension StepMerger {
  /// Returns the earlier changes of the row that the hub did not take, if the device did not know that. nil if there is
  /// no such change.
  func notTaken(before pending: Pending, in place: Int) throws -> EarlierConflicts.OfRow? {
    let step = pending.step
    guard let unknown, !pending.decided, device.refusal == nil, unknown.first < step.generation else { return nil }
    let known = try earlier ?? EarlierConflicts(store, of: device.id, unknown: unknown)
    earlier = known
    let found = try known.changes(of: RowReference(place: place, key: step.key), before: step.generation)
    return found.isEmpty ? nil : found
  }

  // MARK: units

  /// Keeps a change as a conflict if its device made it on a change of a unit that was not taken. Returns false, with
  /// no effect, if there is no such unit.
  func noteAfterUnit(_ pending: Pending, met hub: Row?, in place: Int) throws -> Bool {
    guard let earlier = try notTaken(before: pending, in: place), let last = earlier.lastOfUnit else { return false }
    let (step, state) = (pending.step, earlier.areUnitsSettled ? ConflictState.settled : .open)
    let disagreement = Disagreement(kind: .unit, state: state).inUnit(step.change, state: state)
    try note(
      disagreement, step, met: hub, in: place,
      note: "It was made on an earlier unit of the device, and the change of \(last.words) in it was not taken.")
    return true
  }

  // MARK: whole rows

  /// Returns a change together with the earlier changes of the row that were not taken, if rows are merged whole.
  /// Otherwise returns the change as it is.
  func whole(_ pending: Pending, in place: Int) throws -> Pending {
    guard store.rows[place].rules.grain == .row, pending.earlier.isEmpty,
      case .update(let changes) = pending.step.change
    else { return pending }
    guard let earlier = try notTaken(before: pending, in: place), earlier.lastOfUnit == nil else { return pending }
    var columns = earlier.columns
    columns.add(changes)
    var whole = pending
    whole.step = pending.step.with(.update(columns.values.sorted { $0.column < $1.column }))
    (whole.earlier, whole.followsDecision) = (earlier.whole, earlier.hasDecided)
    return whole
  }

  /// Keeps a change as a conflict if a person decided that an earlier change, which it contains, is not taken. Returns
  /// false, with no effect, if there is no such decision, or if the hub's row has all values of the change.
  func noteAfterDecision(_ pending: Pending, met hub: Row?, in place: Int) throws -> Bool {
    guard pending.followsDecision, case .update(let all) = pending.step.change else { return false }
    let changes = all.filter { $0.value != hub?[$0.column] }
    if changes.isEmpty { return false }
    let step = pending.step.with(.update(changes))
    let disagreement = Disagreement(kind: .updateUpdate, state: .open).inUnit(step.change, state: .open)
    try note(
      disagreement, step, met: hub, in: place,
      note: "It contains an earlier change of the row, which was decided for the hub.")
    return true
  }

  /// Closes the open conflicts of earlier changes that a merged change contains. Waiting changes are closed when they
  /// are tried again.
  func settleEarlier(_ pending: Pending, in place: Int) throws {
    if pending.earlier.isEmpty { return }
    for record in pending.earlier where record.state == .open { try settle(record) }
    earlier?.leaveOutOpen(of: RowReference(place: place, key: pending.step.key))
  }
}

extension Step {
  /// The same step with another change.
  fileprivate func with(_ change: Change) -> Step {
    Step(table: table, key: key, generation: generation, stamp: stamp, first: first, change: change, unit: unit)
  }
}
