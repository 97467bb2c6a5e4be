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
  /// Returns the earlier changes of the row that the hub did not take, oldest first, if the device did not know that.
  func notTaken(before pending: Pending, in place: Int) throws -> [ConflictRecord] {
    let step = pending.step
    guard let unknown, !pending.decided, device.refusal == nil, unknown.first < step.generation else { return [] }
    let followsAny =
      try progress.followsAny ?? ConflictTable.hasAny(of: device.id, since: unknown.first, in: store.database)
    progress.followsAny = followsAny
    if !followsAny { return [] }
    let generations = unknown.first.rawValue..<step.generation.rawValue
    let found = try ConflictTable.earlier(
      step.key, of: store.tables[place], device: device.id, in: generations, store.database)
    return try found.filter { try unknown.contains($0) && store.isNotTaken($0, in: place) }
  }

  // MARK: units

  /// Keeps a change as a conflict if its device made it on a change of a unit that was not taken. Returns false, with
  /// no effect, if there is no such unit.
  func noteAfterUnit(_ pending: Pending, met hub: Row?, in place: Int) throws -> Bool {
    let (step, units) = (pending.step, try notTaken(before: pending, in: place).filter { $0.unit != nil })
    guard let last = units.last else { return false }
    let state: ConflictState = units.allSatisfy { $0.state == .settled } ? .settled : .open
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
    let earlier = try notTaken(before: pending, in: place)
    if earlier.isEmpty || earlier.contains(where: { $0.unit != nil }) { return pending }
    var columns: [Int: ColumnChange] = [:]
    for record in earlier {
      guard case .update(let before)? = try? record.change(in: store.tables[place].schema) else {
        columns = [:]
        continue
      }
      columns.add(before)
    }
    columns.add(changes)
    var whole = pending
    whole.step = pending.step.with(.update(columns.values.sorted { $0.column < $1.column }))
    whole.earlier = earlier
    return whole
  }

  /// Keeps a change as a conflict if a person decided that an earlier change, which it contains, is not taken. Returns
  /// false, with no effect, if there is no such decision.
  func noteAfterDecision(_ pending: Pending, met hub: Row?, in place: Int) throws -> Bool {
    guard pending.earlier.contains(where: { $0.state == .resolved }) else { return false }
    let disagreement = Disagreement(kind: .updateUpdate, state: .open).inUnit(pending.step.change, state: .open)
    try note(
      disagreement, pending.step, met: hub, in: place,
      note: "It contains an earlier change of the row, which was decided for the hub.")
    return true
  }

  /// Closes the conflicts of earlier changes that a merged change contains.
  func settleEarlier(_ pending: Pending) throws {
    for record in pending.earlier where record.state == .open || record.state == .held { try settle(record) }
  }
}

extension HubStore {
  /// Whether a device's change waits, or was not taken. A change that waited may have entered since.
  func isNotTaken(_ record: ConflictRecord, in place: Int) throws -> Bool {
    guard record.isNotTaken, record.state == .settled else { return record.isNotTaken }
    var hasEntered = false
    try eachChange(of: past(of: record.key, in: place)) { entry in
      hasEntered = entry.device == record.device.text && entry.stamp == record.stamp
      return hasEntered ? .enough : .more
    }
    return !hasEntered
  }
}

extension Step {
  /// The same step with another change.
  fileprivate func with(_ change: Change) -> Step {
    Step(table: table, key: key, generation: generation, stamp: stamp, first: first, change: change, unit: unit)
  }
}

extension [Int: ColumnChange] {
  /// Adds later changes of the same row. Each column keeps the value from which its first change started. A column
  /// stays if the device changed it back, because the device has written it.
  fileprivate mutating func add(_ later: [ColumnChange]) {
    for change in later {
      self[change.column] = ColumnChange(
        column: change.column, was: self[change.column]?.was ?? change.was, value: change.value)
    }
  }
}
