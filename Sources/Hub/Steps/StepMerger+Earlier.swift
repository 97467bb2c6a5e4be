import SatchelBundle
import SatchelConflicts
import SatchelMerge
import SatchelRows
import SatchelValues
import SatchelWorkspace

/// The results of a device's earlier exports that the device did not know when it made this bundle.
struct UnknownResults {
  /// The oldest generation whose results the device does not know.
  let first: Generation
  /// The changes whose conflicts the device reports in this bundle. The device itself knows these results.
  var reported: Set<ReportedChange> = []

  struct ReportedChange: Hashable {
    let table: Name
    let key: RowKey
    let generation: Generation

    init(_ record: ConflictRecord) { (table, key, generation) = (record.table, record.key, record.generation) }
    init(_ step: Step) { (table, key, generation) = (step.table, step.key, step.generation) }
  }

  func contains(_ record: ConflictRecord) -> Bool { !reported.contains(.init(record)) }
}

/// Changes that a device made on its own earlier change, before it knew that the hub had not taken the earlier change.
///
/// The result must be the same as if one export had both changes. So a unit is not taken after a unit of the same row
/// that was not taken. In tables that merge whole rows, the later change is merged together with the earlier changes of
/// the row.
extension StepMerger {
  /// Returns the earlier changes of the row that the hub did not take, if the device did not know that. Otherwise nil.
  func notTaken(before pending: Pending, in place: Int) throws -> EarlierConflicts.OfRow? {
    let step = pending.step
    guard let unknown, !pending.decided, device.refusal == nil, unknown.first < step.generation else { return nil }
    let known = try earlier ?? EarlierConflicts(store, of: device.id, unknown: unknown)
    earlier = known
    let found = try known.changes(of: RowReference(place: place, key: step.key), before: step.generation)
    return found.isEmpty ? nil : found
  }

  // MARK: units

  /// Records a change as a conflict if it follows a change of a unit that the hub did not take. Returns false, with no
  /// effect, if there is no such unit.
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

  /// In tables that merge whole rows: returns a change together with the row's earlier changes that were not taken. For
  /// other tables, returns the change itself.
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

  /// Records a change as a conflict if it contains an earlier change, and a person decided for the hub's row against
  /// that earlier change. Returns false, with no effect, if there is no such decision. Returns false also if the hub's
  /// row already has all values of the change.
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

  /// Closes the open conflicts of the earlier changes that a merged change contains. Held changes are closed later,
  /// when the hub tries them again.
  func settleEarlier(_ pending: Pending, in place: Int) throws {
    if pending.earlier.isEmpty { return }
    for record in pending.earlier where record.state == .open { try settle(record) }
    earlier?.leaveOutOpen(of: RowReference(place: place, key: pending.step.key))
  }
}

extension Step {
  /// Returns the step with another change.
  fileprivate func with(_ change: Change) -> Step {
    Step(table: table, key: key, generation: generation, stamp: stamp, first: first, change: change, unit: unit)
  }
}
