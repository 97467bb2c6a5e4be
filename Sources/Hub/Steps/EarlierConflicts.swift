import SatchelConflicts
import SatchelMerge
import SatchelValues

/// For one merge: the device's earlier changes that the hub did not take, by row.
///
/// Each conflict is read once, even if a device sends very many changes of one row.
final class EarlierConflicts {
  /// The earlier changes of one row.
  struct OfRow {
    fileprivate var next = 0
    fileprivate var seen: Set<ConflictID> = []
    /// Whether the hub took all earlier changes of the row that were read.
    fileprivate(set) var isEmpty = true
    /// The last change that was not taken and belongs to a unit.
    fileprivate(set) var lastOfUnit: ConflictRecord?
    /// Whether a policy decided all of these units, and no person must.
    fileprivate(set) var areUnitsSettled = true
    /// Only for tables that merge whole rows: the changes that were not taken, oldest first.
    fileprivate(set) var whole: [ConflictRecord] = []
    fileprivate(set) var columns: [Int: ColumnChange] = [:]
    /// Whether a person decided about one of these changes.
    fileprivate(set) var hasDecided = false
  }

  private let store: HubStore
  private let device: ReplicaID
  private let unknown: UnknownResults
  /// The conflicts of each row, in the order in which they were found.
  private var ids: [StepMerger.RowReference: [ConflictID]] = [:]
  private var rows: [StepMerger.RowReference: OfRow] = [:]
  private let entered: EnteredWrites
  /// The rows from which open changes were left out since `begin()`.
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

  /// Forgets the facts about a row, because this conflict about its changes was corrected.
  func forget(_ row: StepMerger.RowReference, because conflict: ConflictID) {
    if rows[row]?.seen.contains(conflict) == true { rows[row] = nil }
  }

  /// Leaves out the open changes of a row, because the hub merged a later change that contains them. The caller closes
  /// their conflicts.
  func leaveOutOpen(of row: StepMerger.RowReference) {
    guard var known = rows.removeValue(forKey: row) else { return }
    let left = known.whole.filter { $0.state != .open }
    (known.whole, known.columns, known.hasDecided, known.isEmpty) = ([], [:], false, left.isEmpty)
    for record in left { keep(record, in: &known, of: row) }
    rows[row] = known
    reduced.append(row)
  }

  /// Begins an attempt. A later `forget` undoes only what happens after this call.
  func begin() {
    entered.begin()
    reduced = []
  }

  /// Forgets the entries of the log after `cursor`, and the rows that were changed since `begin()`. The caller has
  /// rolled them back.
  func forget(after cursor: Cursor) {
    entered.forget(after: cursor)
    for row in reduced { rows[row] = nil }
    reduced = []
  }

  /// Returns the changes of a row before this generation that the hub did not take.
  func changes(of row: StepMerger.RowReference, before generation: Generation) throws -> OfRow {
    guard let ids = ids[row] else { return OfRow() }
    var known = rows.removeValue(forKey: row) ?? OfRow()
    while known.next < ids.count {
      // If the merge rolled a conflict back, the table no longer has it.
      let record = try ConflictTable.conflict(ids[known.next], in: store.database)?.record
      if let record, record.generation >= generation { break }
      if let record, known.seen.insert(record.id).inserted { try add(record, to: &known, of: row) }
      known.next += 1
    }
    rows[row] = known
    return known
  }

  /// Whether the change was not taken. A waiting change may have entered the hub's table since then.
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
  /// Adds later changes of the same row. Each column keeps the old value of its first change. If the device restored
  /// this old value, the column still counts as written.
  mutating func add(_ later: [ColumnChange]) {
    for change in later {
      self[change.column] = ColumnChange(
        column: change.column, was: self[change.column]?.was ?? change.was, value: change.value)
    }
  }
}
