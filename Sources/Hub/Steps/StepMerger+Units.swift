import SatchelConflicts
import SatchelJSON
import SatchelMerge
import SatchelRows
import SatchelValues
import SatchelWorkspace

/// The steps of one generation that belong to units. The merger collects them before it merges the units.
struct CollectedUnits {
  fileprivate var generation: Generation?
  fileprivate var items: [StepGroup.Item] = []
  /// The rows of these steps that had no waiting step before.
  fileprivate(set) var rows: [StepMerger.RowReference] = []
  /// Families of deletes that contain a step of a unit.
  var families: [StepGroup] = []

  /// Whether the collected steps are of another generation than the next step.
  func isOver(at next: Generation) -> Bool { generation.map { $0 != next } ?? false }
}

/// The reasons why the hub does not accept the steps of a unit.
struct Diagnosis {
  struct Reason {
    let disagreement: Disagreement
    let met: Row?
    let note: String?
    let hidden: HiddenPart?
  }

  /// The rows of the unit.
  let rows: Set<StepMerger.RowReference>
  /// The number of the step that the merger tries now.
  var current = 0
  /// The first reason for each step, by the step's number.
  private(set) var reasons: [Int: Reason] = [:]

  init(rows: Set<StepMerger.RowReference>) { self.rows = rows }

  mutating func note(_ disagreement: Disagreement, met: Row?, note: String?, hidden: HiddenPart?) {
    if disagreement.isWonByDevice || reasons[current] != nil { return }
    reasons[current] = Reason(disagreement: disagreement, met: met, note: note, hidden: hidden)
  }
}

/// Steps that the device wrote as a unit. The hub accepts all of them as sent, or makes one conflict of the whole unit.
///
/// A unit contains only steps of one generation in one bundle. So a device with wrong units can only affect its own
/// changes.
extension StepMerger {
  /// Collects a step until the other steps of its unit are known.
  func collect(_ pending: Pending, of row: RowReference, in unit: UnitNumber) {
    collected.generation = pending.step.generation
    collected.items.append(.init(row: row, pending: pending))
    if waiting[row] == nil { collected.rows.append(row) }
    waiting[row, default: []].append(pending)
    if case .delete = pending.step.change, familyTables.contains(row.place) { deletes.append(row) }
  }

  /// Merges the collected units. Units that cannot be merged yet wait.
  func takeUnits() throws {
    if collected.items.isEmpty { return }
    if !deletes.isEmpty { try takeFamilies() }
    let units = groups()
    let rows = collected.rows
    collected = CollectedUnits()
    for unit in units where try !take(unit) {
      // A unit of one step waits like a step outside units.
      if unit.items.count == 1 { continue }
      waitingUnits.append(unit)
      grouped.formUnion(unit.items.map(\.pending.number))
    }
    order += rows.filter { waiting[$0] != nil }
  }

  /// Returns the collected units. Each unit includes the families of its deletes.
  private func groups() -> [StepGroup] {
    var items = collected.items
    var sets = DisjointSets(count: items.count)
    var places = Dictionary(items.enumerated().map { ($1.pending.number, $0) }, uniquingKeysWith: min)
    var firsts: [UnitNumber: Int] = [:]
    for (place, item) in items.enumerated() {
      guard let unit = item.pending.step.unit else { continue }
      sets.join(place, firsts[unit, default: place])
      firsts[unit] = firsts[unit] ?? place
    }
    for family in collected.families {
      let own = family.items.map { item in
        if let place = places[item.pending.number] { return place }
        items.append(item)
        places[item.pending.number] = items.count - 1
        return sets.add()
      }
      for place in own { sets.join(place, own[0]) }
    }
    var members: [Int: [StepGroup.Item]] = [:]
    for (place, item) in items.enumerated() { members[sets.head(of: place), default: []].append(item) }
    return members.sorted { $0.key < $1.key }.map { StepGroup(items: $0.value, children: [], isUnit: true) }
  }

  // MARK: deletes of rows that are gone

  /// Whether the step that is merged now belongs to a unit with other steps.
  var isInUnit: Bool { diagnosis != nil || presentUnit.map { $0.items.count > 1 } ?? false }

  /// Records a delete of a unit as a conflict if another writer already deleted the row. Returns false, with no effect,
  /// if the delete counts as taken.
  ///
  /// The device made the unit for a row that it believed to exist. For example, two devices may make the same transfer.
  /// If the hub took the rest of both units, the transfer would count twice.
  func noteGone(_ pending: Pending, with past: RowNumbers.Entry?, in place: Int) throws -> Bool {
    guard isInUnit, try deletesNothing(pending, with: past) else { return false }
    try note(.repeatedDelete(by: store.tables[place].rules.conflict), pending.step, met: nil, in: place)
    return true
  }

  /// Whether a step deletes a row that the hub lacks, because another writer deleted it.
  func deletesNothing(_ pending: Pending, with past: RowNumbers.Entry?) throws -> Bool {
    guard case .delete = pending.step.change else { return false }
    return try !store.mayLack(past, from: base, own: pending.own ?? own)
  }

  /// Records a delete of a unit as a conflict if another writer already marked the row as deleted. Returns false, with
  /// no effect, if the delete counts as taken.
  /// - Parameters:
  ///   - result: the result of the merge of the step.
  ///   - hub: the marked row.
  func noteMarked(
    _ pending: Pending, _ result: MergeResult, over hub: Row, with past: RowNumbers.Entry?, in place: Int
  ) throws -> Bool {
    guard isInUnit, try deletesMarked(pending, result, with: past) else { return false }
    try note(.repeatedDelete(by: store.tables[place].rules.conflict), pending.step, met: hub, in: place)
    return true
  }

  /// Whether a step deletes a row that another writer has marked as deleted, and the device had not seen the mark.
  func deletesMarked(_ pending: Pending, _ result: MergeResult, with past: RowNumbers.Entry?) throws -> Bool {
    guard result.repeatsDelete else { return false }
    return try !store.mayLack(past, from: base, own: pending.own ?? own)
  }

  /// Whether a step, which is not merged yet, deletes a row that another writer has marked as deleted.
  /// - Parameter hub: the row at the hub.
  func deletesMarked(_ pending: Pending, onto hub: Row, in place: Int) throws -> Bool {
    // Tables without this rule do not mark deleted rows.
    guard store.rows[place].rules.deleted != nil else { return false }
    let past = try store.past(of: pending.step.key, in: place)
    return try deletesMarked(pending, merged(pending, onto: hub, with: past, in: place), with: past)
  }

  // MARK: units that cannot be accepted

  /// Makes one conflict of a unit. The hub accepts no step of the unit, and sends its own rows to the device.
  func refuse(unit: StepGroup) throws {
    let reasons = try reasons(of: unit)
    var state = ConflictState.ofUnit(
      unit.items.compactMap { item in reasons[item.pending.number].map { toldState(of: $0, item.row.place) } })
    let bytes = unit.items.reduce(Int64(0)) { $0 + Int64($1.pending.step.byteCount) }
    if try !mayWait(ConflictSize(count: unit.items.count, bytes: bytes), as: state) { state = .open }
    func record(_ item: StepGroup.Item, _ reason: Diagnosis.Reason?, note: String?) throws -> ConflictRecord {
      let (step, place) = (try whole(item.pending, in: item.row.place).step, item.row.place)
      let disagreement = reason?.disagreement ?? Disagreement(kind: .unit, state: state)
      let met = try reason.map(\.met) ?? store.rows[place].row(step.key)
      return self.record(of: disagreement.inUnit(step.change, state: state), step, met: met, in: place, note: note)
    }
    let first = unit.items.first { reasons[$0.pending.number] != nil } ?? unit.items[0]
    let head = try record(first, reasons[first.pending.number], note: nil)
    for item in unit.items {
      let reason = reasons[item.pending.number]
      var record = try record(item, reason, note: reason.map(\.note) ?? ConflictRecord.words(of: head))
      record.unit = head.id
      let met = try store.rows[item.row.place].row(item.row.key)
      try keep(
        record, of: item.pending.step,
        hidden: reason?.hidden ?? hiddenPart(of: reason?.met ?? met, in: item.row.place))
      try store.owe(item.row.key, in: item.row.place, to: device.id)
    }
    drop(unit)
  }

  /// Returns the reasons why steps of a unit cannot be accepted. To find the reasons, this method tries all steps and
  /// then rolls them back.
  ///
  /// Some steps may only wait for other steps of the unit: for a parent row, or for a UNIQUE value. If there are other
  /// reasons, such a step counts as no reason.
  private func reasons(of unit: StepGroup) throws -> [Int: Diagnosis.Reason] {
    var (found, obstacles): ([Int: Diagnosis.Reason], [Int: Diagnosis.Reason]) = ([:], [:])
    diagnosis = Diagnosis(rows: Set(unit.rows))
    defer { diagnosis = nil }
    var trades: Set<Int> = []
    _ = try takeWhole {
      for (item, obstacle) in try obstaclesLeft(in: unit) {
        let (disagreement, met) = try disagreement(about: obstacle, item.pending, in: item.row.place)
        obstacles[item.pending.number] = .init(disagreement: disagreement, met: met, note: obstacle.words, hidden: nil)
        if obstacle.isOfOwnUnit { trades.insert(item.pending.number) }
      }
      found = diagnosis?.reasons ?? [:]
      throw NotWhole()
    }
    let others = obstacles.filter { !trades.contains($0.key) }
    if found.isEmpty { return others.isEmpty ? obstacles : others }
    return found.merging(others.filter { $0.value.disagreement.kind != .foreignKey }) { found, _ in found }
  }

  /// Whether all rows with a UNIQUE value of this row belong to the unit whose reasons are being found.
  func meetsOwnUnit(_ row: Row, in place: Int) throws -> Bool {
    guard let unit = diagnosis?.rows else { return false }
    return try store.rows[place].rivals(of: row, in: store.database).allSatisfy {
      unit.contains(RowReference(place: place, key: $0))
    }
  }

  /// Tries all steps of a unit, and repeats while more steps are merged, up to a limit. Returns the remaining
  /// obstacles.
  private func obstaclesLeft(in unit: StepGroup) throws -> [(StepGroup.Item, Obstacle)] {
    if !isReady(unit) { return unit.items.map { ($0, Self.itself) } }
    var left = try inOrder(unit.items)
    var obstacles: [Int: Obstacle] = [:]
    var count = Int.max
    var limit = RetryLimit(steps: left.count)
    while !left.isEmpty, left.count < count, limit.allowsRound(over: left.count) {
      count = left.count
      left = try tryEach(left) { item in
        diagnosis?.current = item.pending.number
        obstacles[item.pending.number] = try attempt(item.pending, in: item.row.place)
        return obstacles[item.pending.number] == nil
      }
    }
    return left.map { ($0, obstacles[$0.pending.number] ?? Self.itself) }
  }

  /// Returns the state of a conflict, as the device receives it. If the row was deleted or is hidden, the policy alone
  /// decides the state. A state that depends on a stamp would reveal which of the two is true.
  private func toldState(of reason: Diagnosis.Reason, _ place: Int) -> ConflictState {
    let disagreement = reason.disagreement
    guard [.updateDelete, .revoked].contains(disagreement.kind), disagreement.state != .held else {
      return disagreement.state
    }
    return store.tables[place].rules.conflict.stateOfUncompared
  }
}
