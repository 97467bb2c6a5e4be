import SatchelMerge
import SatchelValues

/// The writes of one device in the logs of rows. Each log entry is read once, even if a bundle has very many changes of
/// one row.
final class EnteredWrites {
  /// The stamps of the device's writes in one row's log, as far as the log was read.
  private struct OfRow {
    var newest = Cursor.zero
    var stamps: Set<Stamp> = []
  }

  private let store: HubStore
  private let device: ReplicaID
  private var rows: [StepMerger.RowReference: OfRow] = [:]
  /// The rows that were read since `begin()`.
  private var touched: [StepMerger.RowReference] = []

  init(_ store: HubStore, of device: ReplicaID) { (self.store, self.device) = (store, device) }

  /// Whether the log contains a write of the row by this device, with this stamp.
  func contains(_ stamp: Stamp, of row: StepMerger.RowReference) throws -> Bool {
    guard let past = try store.past(of: row.key, in: row.place) else { return false }
    var known = rows.removeValue(forKey: row) ?? OfRow()
    try store.eachChange(of: past, after: known.newest) { entry in
      if try entry.device == device.text && !entry.changesNothing { known.stamps.insert(entry.stamp) }
      return .more
    }
    known.newest = max(known.newest, past.cursor ?? .zero)
    rows[row] = known
    touched.append(row)
    return known.stamps.contains(stamp)
  }

  /// Begins an attempt. A later `forget` concerns only logs that are read after this call.
  func begin() { touched = [] }

  /// Forgets the logs that were read beyond `cursor` since `begin()`. The caller has rolled back the entries after
  /// `cursor`.
  func forget(after cursor: Cursor) {
    for row in touched where rows[row].map({ $0.newest > cursor }) ?? false { rows[row] = nil }
    touched = []
  }
}
