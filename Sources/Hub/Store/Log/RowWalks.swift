import SatchelMerge
import SatchelRows
import SatchelValues
import SatchelWorkspace

/// Remembers the entries of long logs of rows during the merge of one bundle. So no entry is read twice, even if the
/// bundle has many changes of one row.
final class RowWalks {
  private struct Row: Hashable {
    let place: Int
    let number: Int64
  }

  /// The content of one row's log, as far as it was read.
  struct Walk {
    /// The state from which the device changed the row.
    fileprivate let base: ChangeBase
    /// The cursor of the newest entry that was read.
    fileprivate var newest: Cursor
    /// The newest stamp of each column, by any author.
    fileprivate(set) var stamps: [Int: Stamp] = [:]
    /// The newest stamp of each column, by authors other than the device.
    fileprivate(set) var byOthers: [Int: Stamp] = [:]
    /// The newest stamp of each column that others changed since the device's emission.
    fileprivate(set) var columns: [Int: Stamp] = [:]
    fileprivate(set) var presence = false
    /// The columns that the device itself changed since its emission.
    fileprivate(set) var own: Set<Int> = []
    /// The columns that others changed before the present epoch began.
    fileprivate(set) var disputed: Set<Int> = []
    /// The entries of others. They are counted again if a copy of the device delivered some of them.
    fileprivate var foreign: [LogEntry] = []

    /// The columns that others changed since the device's emission.
    var unseen: Set<Int> { Set(columns.keys) }

    fileprivate init(from base: ChangeBase) {
      self.base = base
      newest = base.start
    }
  }

  /// Only logs with at least this many entries are remembered.
  static let longLog = 16

  private let own: OwnChanges
  private var walks: [Row: Walk] = [:]
  private var touched: [Row] = []

  /// - Parameter own: decides which entries are the device's own.
  init(butFor own: OwnChanges) { self.own = own }

  /// Returns the content of a row's log, including entries since the last call. nil if the log is short.
  /// - Parameters:
  ///   - base: the state from which the device changed the row.
  ///   - shared: decides which further entries count as the device's own in this call.
  func walk(
    _ past: RowNumbers.Entry?, in place: Int, from base: ChangeBase, besides shared: OwnChanges?, _ store: HubStore
  ) throws -> Walk? {
    guard let past else { return nil }
    if case .forgotten = base { return nil }
    let row = Row(place: place, number: past.number)
    if let walk = walks[row], walk.base != base { walks[row] = nil }
    if walks[row] == nil, try !isLong(past, from: base, store) { return nil }
    try read(past, of: row, from: base, store)
    guard let shared, let walk = walks[row] else { return walks[row] }
    var filtered = Walk(from: base)
    (filtered.newest, filtered.stamps, filtered.own) = (walk.newest, walk.stamps, walk.own)
    for entry in walk.foreign where !shared.contains(entry) { add(entry, to: &filtered, store, in: place) }
    return filtered
  }

  /// Begins a new list of the rows whose logs are read after this call.
  func begin() { touched = [] }

  /// Forgets the logs that were read since `begin()`, if they have entries after `cursor`. The caller has rolled back
  /// these entries.
  func forget(after cursor: Cursor) {
    for row in touched where walks[row].map({ $0.newest > cursor }) ?? false { walks[row] = nil }
    touched = []
  }

  private func isLong(_ past: RowNumbers.Entry, from base: ChangeBase, _ store: HubStore) throws -> Bool {
    var count = 0
    try store.eachChange(of: past, after: base.start) { _ in
      count += 1
      return count < Self.longLog ? .more : .enough
    }
    return count == Self.longLog
  }

  private func read(_ past: RowNumbers.Entry, of row: Row, from base: ChangeBase, _ store: HubStore) throws {
    let schema = store.rows[row.place].schema
    var walk = walks.removeValue(forKey: row) ?? Walk(from: base)
    try store.eachChange(from: past.cursor, after: walk.newest) { entry in
      for column in entry.columns(in: schema) { walk.stamps[column] = max(walk.stamps[column] ?? .zero, entry.stamp) }
      if !own.contains(entry) {
        walk.foreign.append(entry)
        add(entry, to: &walk, store, in: row.place)
      } else if entry.cursor > base.start {
        walk.own.formUnion(entry.columns(in: schema))
      }
      return .more
    }
    walk.newest = max(walk.newest, past.cursor ?? .zero)
    walks[row] = walk
    touched.append(row)
  }

  private func add(_ entry: LogEntry, to walk: inout Walk, _ store: HubStore, in place: Int) {
    let columns = entry.columns(in: store.rows[place].schema)
    for column in columns { walk.byOthers[column] = max(walk.byOthers[column] ?? .zero, entry.stamp) }
    guard let since = walk.base.knownCursor, entry.cursor > since else { return }
    if entry.operation != .update { walk.presence = true }
    if entry.cursor <= store.identity.epochCursor { walk.disputed.formUnion(columns) }
    for column in columns { walk.columns[column] = max(walk.columns[column] ?? .zero, entry.stamp) }
  }
}

extension ChangeBase {
  /// The cursor after which a log is read. In a former epoch, all entries are read, because stamps of any age count.
  fileprivate var start: Cursor { cursor ?? .zero }
}
