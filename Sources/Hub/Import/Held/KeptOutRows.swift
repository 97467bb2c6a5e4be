import SatchelCapture
import SatchelConflicts
import SatchelMerge
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Rows that a device deleted because its own new row has the same natural key. The table's policy allows that.
///
/// If the hub does not accept the device's new row, it brings the deleted row back. For example, the new row's parent
/// may be missing, or its user may not make the row. So one of the two rows always exists.
struct KeptOutRows {
  /// A device's new row, and the row that the device deleted for it: `rival`.
  private struct Claim {
    let place: Int
    let key: RowKey
    let rival: RowKey
    let id: ConflictID
  }

  private let store: HubStore
  private let device: EnrolledDevice
  private var claims: [Claim] = []

  init(_ store: HubStore, of device: EnrolledDevice) { (self.store, self.device) = (store, device) }

  /// Records a reported conflict if the device deleted another row in it.
  mutating func note(_ record: ConflictRecord) {
    guard record.kind == .unique, record.state == .settled, record.rowWinner == .device,
      let place = store.place(of: record.table), let rival = record.rivalKey(in: store.tables[place].schema)
    else { return }
    claims.append(Claim(place: place, key: record.key, rival: rival, id: record.id))
  }

  /// Brings back the deleted rows whose place no new row took. The caller has merged the whole bundle before.
  func bringBack(deletedIn bundle: String, at now: Int64) throws {
    for claim in claims {
      let rows = store.rows[claim.place]
      guard try !rows.contains(claim.rival), try isDeleted(claim.rival, in: claim.place, by: bundle),
        let row = try store.lastImage(of: claim.rival, in: claim.place),
        try rows.rivals(of: row, in: store.database).isEmpty
      else { continue }
      do { try store.database.savepoint { try rows.write(row, over: nil, key: claim.rival) } } catch let error
        as SQLiteError
        where error.kind == .constraint
      { continue }
      let stamp = try Capture.tick(now: now, in: store.database)
      let origin = Origin(
        device: nil, user: HubWorkspace.hubUser, stamp: stamp, bundle: nil, returnsToAuthor: false, at: now)
      try store.log(.insert(row), of: claim.rival, in: claim.place, from: origin)
      try store.owe(claim.rival, in: claim.place, to: device.id)
      try reopen(claim, met: row, at: now)
    }
  }

  private func isDeleted(_ key: RowKey, in place: Int, by bundle: String) throws -> Bool {
    var isDeleted = false
    try store.eachChange(of: store.past(of: key, in: place)) { entry in
      isDeleted = entry.operation == .delete && entry.bundle == bundle && entry.device == device.id.text
      return .enough
    }
    return isDeleted
  }

  /// Opens the conflict again that the policy had settled for the device's row, so that a person decides. If the hub
  /// itself found another conflict of the row, the record has another kind or state, and does not change.
  private func reopen(_ claim: Claim, met row: Row, at now: Int64) throws {
    guard var record = try ConflictTable.conflict(claim.id, in: store.database)?.record, record.kind == .unique,
      record.state == .settled
    else { return }
    (record.state, record.rowWinner) = (.open, .hub)
    record.hubValues = store.tables[claim.place].schema.fields(row)
    try ConflictTable.correct(record, at: now, hidden: .nothing, in: store.database)
    try store.owe(record.key, in: claim.place, to: device.id)
  }
}
