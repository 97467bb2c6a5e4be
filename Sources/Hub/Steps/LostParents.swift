import SatchelConflicts
import SatchelValues

/// New rows that the hub did not accept, and the changes that wait for these rows.
///
/// No later bundle brings such a row. So a change that refers to it becomes an open conflict, and a person decides.
struct LostParents {
  let store: HubStore

  init(_ store: HubStore) { self.store = store }

  /// Opens the waiting changes that refer to a lost row, directly or through other waiting rows.
  func openBelow() throws {
    let waiting = try ConflictTable.list([.held], in: store.database).map(\.record)
    for (device, records) in Dictionary(grouping: waiting, by: \.device) {
      let lost = try records.below(lostRowsOf: device, store.tables, in: store.database) { key, table in
        try store.place(of: table).map { try store.rows[$0].contains(key) } ?? true
      }
      try ConflictTable.open(lost, in: store.database)
    }
  }

  /// Lets open changes wait again for a row that a person has accepted. The changes refer to this row. Changes beyond
  /// the limit stay open.
  /// - Parameters:
  ///   - below: the conflicts of the rows that refer to the row, directly or through other rows. All are of one device.
  ///   - limit: the limits for the device's waiting changes.
  func waitAgain(_ below: [ConflictRecord], within limit: HeldLimit) throws {
    guard let device = below.first?.device else { return }
    var held = try ConflictTable.heldSize(of: device, in: store.database)
    for record in below where record.state == .open && limit.allows(ConflictSize(record), besides: held) {
      if try store.isReport(record.id) {
        try store.holdReport(of: record)
      } else if record.unit == nil {
        try ConflictTable.setState(.held, of: record.id, in: store.database)
      } else {
        continue
      }
      held += ConflictSize(record)
    }
  }
}
