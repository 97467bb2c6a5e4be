import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelRows
import SatchelSQLite
import SatchelValues

/// The conflicts that were not decided when the device left its hub. Their values may be in no row. So they wait in
/// `LeftConflictTable` until the next hub's first bundle comes. The next export reports them to that hub as conflicts
/// that this device found.
struct LeftConflicts {
  let session: DeviceSession

  /// Stores the left conflicts as conflicts that this device found, for its next hub.
  ///
  /// If this hub's dataset lacks the table or the columns of a conflict, only the kept copy of the database has the
  /// conflict. If the device's own row has the values of a conflict, the conflict ends.
  func takeUp(at now: Int64) throws {
    let left = try LeftConflictTable.takeAll(in: session.database)
    let taken = try left.filter { try session.fitsDataset($0) && !isInRow($0) }
    let open = taken.map { record in
      var open = record
      // No export of the new identity contains the change of the conflict.
      (open.user, open.generation, open.state) = (session.state.user, Generation(0), .open)
      return open
    }
    for record in session.asOwn(open) {
      _ = try ConflictTable.addMeeting(record, bundle: nil, noted: now, in: session.database)
    }
  }

  /// Whether the device's own row has the values of the conflict's change.
  private func isInRow(_ record: ConflictRecord) throws -> Bool {
    guard let table = session.table(record.table) else { return false }
    let row = try RowTable(table, in: session.database).row(record.key).map { table.schema.fields($0) }
    guard let row else { return record.operation == .delete }
    return record.operation != .delete && (record.deviceValues ?? []).allSatisfy { row.contains($0) }
  }
}

extension DeviceSession {
  /// Returns the conflicts with this device's present identity.
  func asOwn(_ records: [ConflictRecord]) -> [ConflictRecord] {
    let names = Dictionary(records.map { ($0.id, $0.name(asChangeOf: state.id)) }) { first, _ in first }
    return records.map { record in
      var own = record
      (own.id, own.device) = (names[record.id] ?? record.id, state.id)
      // If the conflict that represents the unit is not among them, each change is a conflict by itself.
      own.unit = record.unit.flatMap { names[$0] }
      return own
    }
  }

  /// Whether the dataset has the table and the columns of a conflict from another hub.
  func fitsDataset(_ record: ConflictRecord) -> Bool {
    guard let schema = table(record.table)?.schema else { return false }
    return record.key.values.count == schema.key.count
      && (record.deviceValues ?? []).allSatisfy { schema.position(of: $0.name) != nil }
  }
}
