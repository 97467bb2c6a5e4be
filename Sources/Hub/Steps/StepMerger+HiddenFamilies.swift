import SatchelConflicts
import SatchelMerge
import SatchelValues

/// Deletes of several rows that have left the user's sight, and that belong together.
///
/// They are one conflict, which is kept like a unit: a person decides all of these deletes together. The conflict is
/// not reported to the device, because the delete of a deleted row is no conflict.
extension StepMerger {
  /// Makes one conflict of the deletes of a family's hidden rows, if its first row is hidden. `LateWork` accepts all of
  /// them or none.
  func setAsideHidden(_ members: FamilyMembers) throws {
    guard let first = members.heads.first(where: members.hidden.contains) else { return }
    let rows = [first] + (members.heads + members.children).filter { $0 != first && members.hidden.contains($0) }
    // A single delete is an ordinary conflict.
    if rows.count == 1 { return }
    try keepTogether(rows)
  }

  /// Merges a unit that only deletes rows which the hub does not have, which another writer marked as deleted, or which
  /// the user may not see. Returns false, with no effect, if the unit has any other step.
  ///
  /// Such a unit cannot be half taken: no row changes. So the deletes of deleted rows are no conflict, as outside
  /// units. The deletes of hidden rows are one conflict at the hub.
  func takeAbsent(_ unit: StepGroup) throws -> Bool {
    guard unit.isUnit, unit.items.count > 1 else { return false }
    var (gone, hidden): ([StepGroup.Item], [StepGroup.Item]) = ([], [])
    for item in unit.items {
      let (row, isDelete) = (item.row, item.pending.step.change.isDelete)
      // An update may be a mark.
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
      // The tables are in the order in which parents come before their children.
      try keepTogether(hidden.sorted { $0.row.place < $1.row.place }.map(\.row))
    } else {
      gone += hidden
    }
    for item in gone { _ = try attempt(item.pending, in: item.row.place) }
    drop(unit)
    return true
  }

  /// Makes one conflict of the deletes of hidden rows.
  /// - Parameter rows: the row that represents the others comes first.
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
