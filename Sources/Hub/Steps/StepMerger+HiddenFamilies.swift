import SatchelConflicts
import SatchelMerge
import SatchelValues

/// Deletes of several rows that have left the user's sight, and that belong together.
///
/// These deletes become one conflict, like a unit, so that a person decides all of them together. The device does not
/// receive this conflict, because the delete of an already deleted row gives no conflict either.
extension StepMerger {
  /// Makes one conflict of the deletes of a family's hidden rows, if the family's first row is hidden. `LateWork` then
  /// accepts all of them or none.
  func setAsideHidden(_ members: FamilyMembers) throws {
    guard let first = members.heads.first(where: members.hidden.contains) else { return }
    let rows = [first] + (members.heads + members.children).filter { $0 != first && members.hidden.contains($0) }
    // A single delete becomes an ordinary conflict elsewhere.
    if rows.count == 1 { return }
    try keepTogether(rows)
  }

  /// Merges a unit that only deletes rows without an effect at the hub. These are rows that the hub does not have, that
  /// another writer marked as deleted, or that the user may not see. If the unit has any other step, this method has no
  /// effect and returns false.
  ///
  /// No row changes, so the unit cannot be half taken. As outside units, deletes of deleted rows are no conflict. The
  /// deletes of hidden rows become one conflict at the hub.
  func takeAbsent(_ unit: StepGroup) throws -> Bool {
    guard unit.isUnit, unit.items.count > 1 else { return false }
    var (gone, hidden): ([StepGroup.Item], [StepGroup.Item]) = ([], [])
    for item in unit.items {
      let (row, isDelete) = (item.row, item.pending.step.change.isDelete)
      // An update may mark a row as deleted.
      guard isDelete || store.rows[row.place].rules.deleted != nil, !item.pending.isUnclear,
        try !isHeld(row.key, in: row.place)
      else { return false }
      let found = try scope.find(row.key, in: row.place)
      if let found, !found.isOutOfReach {
        guard try deletesMarked(item.pending, onto: found.row, in: row.place) else { return false }
        gone.append(item)
        continue
      }
      if !isDelete { return false }
      if found == nil { gone.append(item) } else { hidden.append(item) }
    }
    if hidden.count > 1 {
      // The order of the tables has parents before their children.
      try keepTogether(hidden.sorted { $0.row.place < $1.row.place }.map(\.row))
    } else {
      gone += hidden
    }
    for item in gone { _ = try attempt(item.pending, in: item.row.place) }
    drop(unit)
    return true
  }

  /// Makes one conflict of the deletes of hidden rows.
  /// - Parameter rows: the rows. The first row represents the conflict.
  private func keepTogether(_ rows: [RowReference]) throws {
    let state = ConflictState.ofUnit(rows.map { store.tables[$0.place].rules.conflict.stateOfUncompared })
    var counts: [Name: Int] = [:]
    for row in rows.dropFirst() { counts[store.tables[row.place].name, default: 0] += 1 }
    var head: ConflictRecord?
    for row in rows {
      guard let step = waiting[row]?.first?.step else { continue }
      var record = record(
        of: Disagreement(kind: .revoked, state: state), step, met: try store.rows[row.place].row(row.key),
        in: row.place,
        note: head.map { "The device deleted it together with \($0.words)." }
          ?? "The device deleted other rows with this row: \(Self.words(of: counts)). All are decided together.")
      head = head ?? record
      record.unit = head?.id
      try keep(record, of: step, told: ConflictTable.neverTold, hidden: .row)
      progress.refused += 1
      try store.owe(row.key, in: row.place, to: device.id, .ifVisible)
      dropFirst(of: row)
    }
  }
}

extension Change {
  fileprivate var isDelete: Bool { if case .delete = self { true } else { false } }
}
