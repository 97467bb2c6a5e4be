import SatchelConflicts
import SatchelMerge
import SatchelValues

/// The earlier changes of rows that the hub did not take, for one merge.
///
/// Each conflict is read once, even if a device sends very many changes of one row.
final class EarlierConflicts {
  /// The earlier changes of one row.
  struct OfRow {
    fileprivate var next = 0
    fileprivate var seen: Set<ConflictID> = []
    /// Whether any change was not taken.
    fileprivate(set) var isEmpty = true
    /// The last change that belongs to a unit.
    fileprivate(set) var lastOfUnit: ConflictRecord?
    /// Whether a policy decided all units.
    fileprivate(set) var areUnitsSettled = true
    /// If rows are merged whole: the changes, oldest first, and what they changed together.
    fileprivate(set) var whole: [ConflictRecord] = []
    fileprivate(set) var columns: [Int: ColumnChange] = [:]
    /// Whether a person decided about any of the changes.
    fileprivate(set) var hasDecided = false
  }

  private let store: HubStore
  private let device: ReplicaID
  private let unknown: UnknownResults
  /// The conflicts of each row, in the order in which they were found.
  private var ids: [StepMerger.RowReference: [ConflictID]] = [:]
  private var rows: [StepMerger.RowReference: OfRow] = [:]
  private let entered: EnteredWrites
  /// The rows of which open changes were left out since `begin()`.
  private var reduced: [StepMerger.RowReference] = []

  init(_ store: HubStore, of device: ReplicaID, unknown: UnknownResults) throws {
    (self.store, self.device, self.unknown) = (store, device, unknown)
    entered = EnteredWrites(store, of: device)
    for found in try ConflictTable.found(of: device, since: unknown.first, in: store.database) { add(found) }
  }

  /// Records a conflict that this merge found.
  func add(_ found: ConflictTable.Found) {
    guard let place = store.place(of: found.row.table) else { return }
    ids[.init(place: place, key: found.row.key), default: []].append(found.id)
  }

  /// Forgets what is known of a row, because this conflict about its changes was corrected.
  func forget(_ row: StepMerger.RowReference, because conflict: ConflictID) {
    if rows[row]?.seen.contains(conflict) == true { rows[row] = nil }
  }

  /// Leaves out the open changes of a row, because a later change contains them and was merged. The caller closes their
  /// conflicts.
  func leaveOutOpen(of row: StepMerger.RowReference) {
    guard var known = rows.removeValue(forKey: row) else { return }
    let left = known.whole.filter { $0.state != .open }
    (known.whole, known.columns, known.hasDecided, known.isEmpty) = ([], [:], false, left.isEmpty)
    for record in left { keep(record, in: &known, of: row) }
    rows[row] = known
    reduced.append(row)
  }

  /// Begins a new record of the rows whose logs are read, and of the rows whose changes are left out.
  func begin() {
    entered.begin()
    reduced = []
  }

  /// Forgets the entries of the log after `cursor` and the rows that were changed since `begin()`, because all of that
  /// was rolled back.
  func forget(after cursor: Cursor) {
    entered.forget(after: cursor)
    for row in reduced { rows[row] = nil }
    reduced = []
  }

  /// The changes of a row before this generation.
  func changes(of row: StepMerger.RowReference, before generation: Generation) throws -> OfRow {
    guard let ids = ids[row] else { return OfRow() }
    var known = rows.removeValue(forKey: row) ?? OfRow()
    while known.next < ids.count {
      // A conflict that a merge undid since is not there.
      let record = try ConflictTable.conflict(ids[known.next], in: store.database)?.record
      if let record, record.generation >= generation { break }
      if let record, known.seen.insert(record.id).inserted { try add(record, to: &known, of: row) }
      known.next += 1
    }
    rows[row] = known
    return known
  }

  /// Whether the change waits, or was not taken. A change that waited may have entered since.
  private func isNotTaken(_ record: ConflictRecord, of row: StepMerger.RowReference) throws -> Bool {
    guard record.isNotTaken, record.state == .settled else { return record.isNotTaken }
    return try !entered.contains(record.stamp, of: row)
  }

  private func add(_ record: ConflictRecord, to known: inout OfRow, of row: StepMerger.RowReference) throws {
    guard unknown.contains(record), try isNotTaken(record, of: row) else { return }
    known.isEmpty = false
    if record.unit != nil {
      known.lastOfUnit = record
      known.areUnitsSettled = known.areUnitsSettled && record.state == .settled
    }
    if store.rows[row.place].rules.grain == .row { keep(record, in: &known, of: row) }
  }

  private func keep(_ record: ConflictRecord, in known: inout OfRow, of row: StepMerger.RowReference) {
    known.whole.append(record)
    known.hasDecided = known.hasDecided || record.state == .resolved
    if case .update(let changes)? = try? record.change(in: store.tables[row.place].schema) {
      known.columns.add(changes)
    } else {
      known.columns = [:]
    }
  }
}

extension [Int: ColumnChange] {
  /// Adds later changes of the same row. Each column keeps the value from which its first change started. A column
  /// stays if the device changed it back, because the device has written it.
  mutating func add(_ later: [ColumnChange]) {
    for change in later {
      self[change.column] = ColumnChange(
        column: change.column, was: self[change.column]?.was ?? change.was, value: change.value)
    }
  }
}
