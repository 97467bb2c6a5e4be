import SatchelMerge
import SatchelRows
import SatchelValues
import SatchelWorkspace

/// The stamps of one device's newest writes, for each column of a row. Each log entry is read once, even if very many
/// changes of one row wait.
final class LatestWrites {
  private struct Row: Hashable {
    let place: Int
    let number: Int64
  }

  /// The facts that the hub has read so far in the log of one row.
  private struct OfRow {
    var newest = Cursor.zero
    /// For each column, the newest stamp of the device's writes.
    var stamps: [Int: Stamp] = [:]
  }

  private let store: HubStore
  private let own: OwnChanges
  private var rows: [Row: OfRow] = [:]
  /// The rows that were read since `begin()`.
  private var touched: [Row] = []

  /// - Parameter own: the log entries that count as the device's own.
  init(_ store: HubStore, of own: OwnChanges) { (self.store, self.own) = (store, own) }

  /// Returns the columns that the device wrote later than `stamp`.
  /// - Parameter past: the known history of the row.
  func columns(of past: RowNumbers.Entry?, in place: Int, laterThan stamp: Stamp) throws -> Set<Int> {
    guard let past else { return [] }
    let row = Row(place: place, number: past.number)
    let schema = store.rows[place].schema
    var known = rows.removeValue(forKey: row) ?? OfRow()
    try store.eachChange(of: past, after: known.newest) { entry in
      if own.contains(entry) {
        for column in entry.columns(in: schema) {
          known.stamps[column] = max(known.stamps[column] ?? .zero, entry.stamp)
        }
      }
      return .more
    }
    known.newest = max(known.newest, past.cursor ?? .zero)
    rows[row] = known
    touched.append(row)
    return Set(known.stamps.filter { $0.value > stamp }.keys)
  }

  /// Forgets which rows were read, so that a later `forget` concerns only logs that are read after this call.
  func begin() { touched = [] }

  /// Forgets the logs that were read beyond `cursor` since `begin()`. The caller has rolled back the entries after
  /// `cursor`.
  func forget(after cursor: Cursor) {
    for row in touched where rows[row].map({ $0.newest > cursor }) ?? false { rows[row] = nil }
    touched = []
  }
}
