import SatchelConflicts
import SatchelMerge
import SatchelValues

/// Families of deletes whose first row has left the user's sight.
extension StepMerger {
  /// Makes one conflict of the deletes of a family's hidden rows, if its first row is hidden.
  ///
  /// The conflict is kept like a unit: a person decides all of these deletes together, and `LateWork` accepts all of
  /// them or none. It is not reported to the device, because the delete of a deleted row is no conflict.
  func setAsideHidden(_ members: FamilyMembers) throws {
    guard let first = members.heads.first(where: members.hidden.contains) else { return }
    let rows = [first] + (members.heads + members.children).filter { $0 != first && members.hidden.contains($0) }
    // A single delete is an ordinary conflict.
    if rows.count == 1 { return }
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
      try keep(record, told: 0, hidden: .row)
      progress.refused += 1
      progress.untold += 1
      try store.owe(row.key, in: row.place, to: device.id, .ifVisible)
      dropFirst(of: row)
    }
  }
}
