import SatchelBundle
import SatchelConflicts
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// New rows that wait for a parent, and whose device later gave them another parent.
extension HeldRows {
  /// Inserts a waiting new row with the values that its device wrote later, if all parents of the row then exist.
  /// Returns the changes that entered: the insert and the later updates. Empty if the row still waits.
  func releaseMoved(_ record: ConflictRecord, _ bundle: BundleID?) throws -> [ConflictID] {
    guard record.operation == .insert, record.unit == nil, let place = store.place(of: record.table),
      try !store.rows[place].contains(record.key),
      let first = try ConflictTable.insertWithoutParent(
        record.key, of: record.table, device: record.device, in: store.database),
      first.id == record.id
    else { return [] }
    let behind = try ConflictTable.held(record.key, of: record.table, device: record.device, in: store.database)
      .filter { $0.id != record.id }
    let present = try first.present(in: store.tables[place].schema, store.database)
    guard let last = behind.last, var whole = present.followed(by: behind, in: store.tables[place].schema),
      try behind.allSatisfy({ try $0.unit == nil && !$0.awaitsDecision && !store.isReport($0.id) })
    else { return [] }
    whole.stamp = last.stamp
    guard try !store.isWrittenTooLate(whole), try release(whole, bundle) == .entered else { return [] }
    for change in behind { try ConflictTable.close(entered: change.id, in: store.database) }
    return [record.id] + behind.map(\.id)
  }
}
