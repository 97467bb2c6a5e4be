import SatchelCapture
import SatchelMerge
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Units of this device that an import cannot keep, because a change of the unit is lost. The import undoes all changes
/// of such a unit, and a person decides them as one conflict.
///
/// If a row returns to the hub's values, the row loses all its pending changes. So the units of all these changes are
/// lost, and a person decides them together.
final class LostUnits {
  /// Why a change is recorded as a conflict.
  enum Cause {
    /// The change itself cannot be accepted.
    case itself
    /// Another change of its unit cannot be accepted.
    case unit
  }

  /// A lost unit, with its changes. The rows of these changes must return to the hub's values.
  struct Lost {
    fileprivate let set: Int
    let members: [StepUnits.Member]
  }

  /// A delete by this device of a row that another writer had already marked as deleted. The delete is no longer
  /// pending, because it changes nothing.
  struct RepeatedDelete {
    let row: RowInTable
    let lost: Rebased.Lost
  }

  private var units: StepUnits
  private let places: [Name: Int]
  /// The conflicts of lost units, in the order in which they were found.
  private var kept: [(member: StepUnits.Member, record: ConflictRecord, cause: Cause)] = []
  private var known: Set<StepUnits.Member> = []
  /// The sets of lost units. A person decides all units of one set together.
  private var sets = DisjointSets()
  private var setOfMember: [StepUnits.Member: Int] = [:]
  private var setOfUnit: [Int: Int] = [:]
  /// Units whose rows must still return to the hub's values.
  private var waiting: [Int] = []
  private var current: Int?
  /// Rows with a pending delete that the hub does not have now, or did not have before the bundle.
  private var gone: [RowInTable] = []
  private var repeated: [RepeatedDelete] = []

  /// Returns nil if the dataset has no units.
  /// - Parameter stranded: pending rows that cannot be in their tables any more.
  init?(_ tables: [TrackedTable], beside stranded: [StrandedRow], in database: borrowing Database)
    throws
  {
    let places = Dictionary(uniqueKeysWithValues: tables.enumerated().map { ($1.name, $0) })
    let others = stranded.compactMap { row in
      places[row.rows.name].map { StepUnits.Row(table: $0, key: row.key, images: row.images, current: row.row) }
    }
    guard let units = try StepUnits(tables, since: .zero, beside: others, in: database) else { return nil }
    (self.units, self.places) = (units, places)
  }

  private func member(_ table: Name, _ key: RowKey, _ generation: Generation) -> StepUnits.Member? {
    places[table].map { .init(table: $0, key: key, generation: generation) }
  }

  /// Whether a change belongs to a unit with other changes.
  func contains(_ table: Name, _ key: RowKey, _ generation: Generation) -> Bool {
    member(table, key, generation).map { unit(of: $0) != nil } ?? false
  }

  private func unit(of member: StepUnits.Member) -> Int? {
    units.unit(of: member).flatMap { unit in units.members(of: unit).contains { $0 != member } ? unit : nil }
  }

  /// Records a row with a pending delete, if the hub no longer has the row, or has the row again.
  func noteGone(_ key: RowKey, in table: Name) { gone.append(RowInTable(table: table, key: key)) }

  /// Records deletes of a row that another writer had marked as deleted.
  func note(_ repeatedDeletes: [Rebased.Lost], of row: RowInTable) {
    repeated += repeatedDeletes.map { RepeatedDelete(row: row, lost: $0) }
  }

  /// Returns the changes of each unit that deletes a recorded row.
  /// - Parameter images: returns the pre-images of a row.
  func unitsOfGoneRows(
    _ images: (RowInTable) throws -> [PreImage]
  ) rethrows -> [(members: [StepUnits.Member], repeated: [RepeatedDelete])] {
    var repeatedOfUnit: [Int: [RepeatedDelete]] = [:]
    var (seen, found): (Set<Int>, [Int]) = ([], [])
    for row in gone {
      for image in try images(row) where image.isGone {
        guard let unit = unit(of: row, image.generation) else { continue }
        if seen.insert(unit).inserted { found.append(unit) }
      }
    }
    for delete in repeated {
      guard let unit = unit(of: delete.row, delete.lost.image.generation) else { continue }
      repeatedOfUnit[unit, default: []].append(delete)
      if seen.insert(unit).inserted { found.append(unit) }
    }
    return found.map { (members: units.members(of: $0), repeated: repeatedOfUnit[$0] ?? []) }
  }

  /// The unit of a change; nil: the unit has no other change.
  private func unit(of row: RowInTable, _ generation: Generation) -> Int? {
    member(row.table, row.key, generation).flatMap { unit(of: $0) }
  }

  /// Records a change that cannot be accepted. The unit of the change is lost.
  func keep(_ record: ConflictRecord, because cause: Cause) {
    guard let member = member(record.table, record.key, record.generation) else { return }
    let set = set(of: member)
    if let current { sets.join(set, current) }
    if known.insert(member).inserted { kept.append((member, record, cause)) }
  }

  private func set(of member: StepUnits.Member) -> Int {
    if let set = setOfMember[member] { return set }
    guard let unit = unit(of: member) else {
      // A change without a unit is decided together with the lost unit whose undoing also undid this change.
      let set = current ?? sets.add()
      setOfMember[member] = set
      return set
    }
    let set = setOfUnit[unit] ?? sets.add()
    if setOfUnit.updateValue(set, forKey: unit) == nil { waiting.append(unit) }
    setOfMember[member] = set
    return set
  }

  /// Returns the next lost unit whose rows must still return to the hub's values; nil: there is none. Changes that are
  /// recorded before the next call count as undone because of this unit.
  func next() -> Lost? {
    current = nil
    guard let unit = waiting.popLast(), let set = setOfUnit[unit] else { return nil }
    current = set
    return Lost(set: set, members: units.members(of: unit))
  }

  /// Returns the conflicts of all lost units.
  func conflicts() -> [ConflictRecord] {
    var groups: [Int: [Int]] = [:]
    var order: [Int] = []
    for (number, change) in kept.enumerated() {
      let head = sets.head(of: setOfMember[change.member] ?? 0)
      if groups[head] == nil { order.append(head) }
      groups[head, default: []].append(number)
    }
    return order.flatMap { conflicts(of: groups[$0] ?? []) }
  }

  private func conflicts(of numbers: [Int]) -> [ConflictRecord] {
    let changes = numbers.map { kept[$0] }
    let causes = changes.filter { $0.cause == .itself }
    guard let head = (causes.first ?? changes.first)?.record else { return [] }
    let state = causes.isEmpty ? .open : ConflictState.ofUnit(causes.map(\.record.state))
    return changes.map { change in
      var record = change.record
      (record.unit, record.state) = (head.id, state)
      if change.cause == .unit { record.note = ConflictRecord.words(of: head) }
      return record
    }
  }
}
