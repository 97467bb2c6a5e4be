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

  /// Makes the conflicts that were taken out this device's own at its next hub.
  ///
  /// A conflict stays only in the kept copy of the database if its table or its columns are not in the dataset of this
  /// hub. A conflict ends if the device's own row has its values.
  func takeUp(at now: Int64) throws {
    let left = try LeftConflictTable.takeAll(in: session.database)
    let taken = try left.filter { try session.fitsDataset($0) && !isInRow($0) }
    let open = taken.map { record in
      var open = record
      // No export of the new identity contains the change.
      (open.user, open.generation, open.state) = (session.state.user, Generation(0), .open)
      return open
    }
    for record in session.asOwn(open) {
      _ = try ConflictTable.addMeeting(record, bundle: nil, noted: now, in: session.database)
    }
  }

  /// Whether the device's own row is as its change left it.
  private func isInRow(_ record: ConflictRecord) throws -> Bool {
    guard let table = session.table(record.table) else { return false }
    let row = try RowTable(table, in: session.database).row(record.key).map { table.schema.fields($0) }
    guard let row else { return record.operation == .delete }
    return record.operation != .delete && (record.deviceValues ?? []).allSatisfy { row.contains($0) }
  }
}

extension DeviceSession {
  /// The conflicts as changes of this device's present identity.
  func asOwn(_ records: [ConflictRecord]) -> [ConflictRecord] {
    let names = Dictionary(records.map { ($0.id, $0.name(asChangeOf: state.id)) }) { first, _ in first }
    return records.map { record in
      var own = record
      (own.id, own.device) = (names[record.id] ?? record.id, state.id)
      // Without the conflict that represents its unit, each change is a conflict by itself.
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
