import SatchelBundle
import SatchelConflicts
import SatchelDataset
import SatchelMerge
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Accepts changes that became conflicts only because their user has lost the right to make them.
///
/// Each such change first becomes a conflict. Afterwards the hub merges the change under two conditions: the table has
/// `"late": "accept"`, and `FormerRights` shows that the user had the right when the device made the change. The user
/// still does not see the changed rows.
final class LateWork {
  private let merger: StepMerger
  private let rights: FormerRights
  private let own: OwnChanges
  private let bundle: BundleID
  private let now: Int64
  /// The entries that were read in the logs of rows. The key is the cursor after which the entries begin.
  private var walks: [Cursor: RowWalks] = [:]
  private var store: HubStore { merger.store }
  private var device: EnrolledDevice { merger.device }
  /// The conflicts whose changes this object has accepted.
  private(set) var taken: Set<ConflictID> = []
  /// The number of accepted conflicts. A family counts once.
  private(set) var takenConflicts = 0

  init(_ merger: StepMerger, _ rights: FormerRights, own: OwnChanges, bundle: BundleID, now: Int64) {
    (self.merger, self.rights, self.own, self.bundle, self.now) = (merger, rights, own, bundle, now)
  }

  /// Accepts the changes of these new conflicts, if the rules allow that.
  func take(_ found: [ConflictID]) throws {
    var units: Set<ConflictID> = []
    var left = try found.compactMap { try act(of: $0, but: &units) }
    if left.isEmpty { return }
    let order = try merger.scope.links.order
    let ranks = Dictionary(uniqueKeysWithValues: order.enumerated().map { (store.tables[$1].name, $0) })
    left.sort { (ranks[$0[0].table] ?? 0, $0[0].generation) < (ranks[$1[0].table] ?? 0, $1[0].generation) }
    // Parents must enter before their children, and children must be deleted before their parents. A visibility rule
    // may also depend on rows that the changes do not refer to, so the hub repeats its attempts.
    left = try store.inWaitingOrder(left) { $0 }
    func count() -> Int { left.reduce(0) { $0 + $1.count } }
    var limit = RetryLimit(steps: count())
    while !left.isEmpty, limit.allowsRound(over: count()) {
      let before = left.count
      left = try rest(of: left)
      if left.count == before { return }
    }
  }

  /// Returns the changes that the hub accepts together: a single change, or the deletes of a family. nil if `LateWork`
  /// must not accept them.
  /// - Parameter units: the units that were read before. So a unit with very many changes is read only once.
  private func act(of id: ConflictID, but units: inout Set<ConflictID>) throws -> [ConflictRecord]? {
    guard let found = try ConflictTable.conflict(id, in: store.database) else { return nil }
    if let unit = found.record.unit, !units.insert(unit).inserted { return nil }
    let whole = try ConflictTable.whole(found, in: store.database)
    let records = whole.isSingle ? [found.record] : whole.members.map(\.record)
    // The changes of one act are accepted together or not at all.
    guard records.allSatisfy({ mayBeLate($0) }), whole.isSingle ? !isOfUnits(records[0]) : isFamily(records)
    else { return nil }
    return records
  }

  /// Whether all records are deletes of one family. In tables with a `unit`, deletes belong to units and not to
  /// families.
  private func isFamily(_ records: [ConflictRecord]) -> Bool {
    records.allSatisfy { record in
      guard record.operation == .delete, let rules = rules(of: record) else { return false }
      return rules.unit == nil && rules.late == .accept
    }
  }

  /// Whether the record is a delete in a table whose changes belong to units. The delete may be a part of a family.
  private func isOfUnits(_ record: ConflictRecord) -> Bool {
    record.operation == .delete && rules(of: record)?.unit != nil
  }

  private func rules(of record: ConflictRecord) -> TableRules? {
    store.place(of: record.table).map { store.tables[$0].rules }
  }

  private func mayBeLate(_ record: ConflictRecord) -> Bool {
    guard record.device == device.id, Name(record.user) == Name(device.user), device.refusal == nil,
      // A change that was merged before is not judged again.
      record.generation.rawValue >= device.merged.rawValue, record.state != .resolved
    else { return false }
    return [.revoked, .forbidden, .foreignKey].contains(record.kind)
  }

  /// Accepts the changes that can enter now, and returns the others. The changes of one row enter in their order.
  private func rest(of acts: [[ConflictRecord]]) throws -> [[ConflictRecord]] {
    var stopped: Set<StepMerger.RowReference> = []
    return try acts.filter { act in
      let rows = act.compactMap { record in
        store.place(of: record.table).map { StepMerger.RowReference(place: $0, key: record.key) }
      }
      if rows.count == act.count, stopped.isDisjoint(with: rows), try take(act) { return false }
      stopped.formUnion(rows)
      return true
    }
  }

  /// Accepts all changes of one act. If one of them cannot be accepted, this method has no effect and returns false.
  private func take(_ act: [ConflictRecord]) throws -> Bool {
    if act.count == 1 {
      guard let place = store.place(of: act[0].table), try take(act[0], in: place) else { return false }
      takenConflicts += 1
      return true
    }
    let before = taken
    let isWhole = try merger.takeWhole {
      var left = try store.inWaitingOrder(act) { [$0] }
      var limit = RetryLimit(steps: left.count)
      while !left.isEmpty {
        let count = left.count
        if !limit.allowsRound(over: count) { throw StepMerger.NotWhole() }
        left = try left.filter { record in try store.place(of: record.table).map { try !take(record, in: $0) } ?? true }
        if left.count == count { throw StepMerger.NotWhole() }
      }
    }
    if isWhole {
      takenConflicts += 1
    } else {
      // The logs may contain entries that the rollback removed.
      (taken, walks) = (before, [:])
      rights.forgetRowsAbove()
    }
    return isWhole
  }

  private func take(_ record: ConflictRecord, in place: Int) throws -> Bool {
    let rows = store.rows[place]
    guard let change = try? record.change(in: rows.schema) else { return false }
    let found = try merger.scope.find(record.key, in: place)
    guard let grant = try grant(change, of: record.key, found, in: place) else { return false }
    let stamp = min(record.stamp, merger.latest)
    // The device wrote this change after all its earlier bundles, and `newestStamp` is the newest stamp in them. So the
    // change cannot be older than `newestStamp`.
    guard max(stamp, device.newestStamp) < grant.until else { return false }
    let past = try store.past(of: record.key, in: place)
    let base = ChangeBase.emission(grant.emission.cursor)
    let walks = walks[grant.emission.cursor] ?? RowWalks(butFor: own)
    self.walks[grant.emission.cursor] = walks
    let others = try store.changesByOthers(
      meeting: change, at: stamp, onto: found?.row, with: past, in: place, from: base, besides: own,
      walks.walk(past, in: place, from: base, besides: nil, store))
    let result = merge(change, at: stamp, onto: found?.row, others: others, by: rows.rules.doubting(merger.doubtful))
    if result.disagreement?.state == .open { return false }
    let made = Change(from: found?.row, to: result.row)
    let equal = try merger.scope.writtenTwice(change, over: found?.row, result, from: base, in: place)
    if let made {
      guard try write(made, to: result.row, over: found?.row, key: record.key, in: place) else { return false }
      merger.count(made, in: place)
    }
    let origin = Origin(
      device: device.id, user: device.user, stamp: stamp, bundle: bundle, returnsToAuthor: true, at: now)
    try store.log(made, besides: equal, of: record.key, with: past, in: place, from: origin)
    try close(record, as: result.disagreement, met: found, in: place)
    return true
  }

  /// Returns the right by which the user could make a change. nil if the user never had the right. nil also if the user
  /// has the right now, because then the conflict has another reason.
  private func grant(
    _ change: Change, of key: RowKey, _ found: ScopeStore.Found?, in place: Int
  ) throws -> FormerRights.Grant? {
    // If a change affects who may see or change rows, a person must decide about it.
    guard try merger.scope.decidesNothing(change, in: place) else { return nil }
    switch (change, found) {
    case (.insert(let row), nil):
      if try merger.keyFault(of: key, isFromBefore: false, in: place) != nil { return nil }
      return try rights.toMake(row, in: place)
    case (.update, let found?):
      return found.mayWrite ? nil : try rights.toChange(key, found.row, in: place)
    case (.delete, let found?):
      if store.tables[place].rules.delete == .never { return nil }
      return found.mayWrite ? nil : try rights.toChange(key, found.row, in: place)
    default: return nil
    }
  }

  /// Writes a change. If the new row cannot exist, this method has no effect and returns false.
  private func write(_ change: Change, to row: Row?, over hub: Row?, key: RowKey, in place: Int) throws -> Bool {
    merger.parents.forget()
    if try merger.obstacle(to: row, from: hub, in: place) != nil { return false }
    do { try store.database.savepoint { try store.rows[place].write(change, of: key) } } catch let error as SQLiteError
      where error.kind == .unique || error.kind == .constraint
    { return false }
    merger.parents.forget()
    return true
  }

  /// Records that the change was accepted. The device receives this result. It receives the row only if its user may
  /// see the row.
  private func close(
    _ record: ConflictRecord, as disagreement: Disagreement?, met found: ScopeStore.Found?, in place: Int
  ) throws {
    let columns = store.tables[place].schema.columns
    var closed = record
    (closed.kind, closed.state, closed.rowWinner) = (.revoked, .settled, .device)
    closed.winners = (disagreement?.winners ?? [:]).sorted { $0.key < $1.key }.map {
      ColumnWinner(columns[$0.key], $0.value)
    }
    closed.hubValues = found.map { store.tables[place].schema.fields($0.row) }
    let hidden: HiddenPart = found.map { $0.maySee ? .nothing : .row } ?? .parent
    try ConflictTable.correct(closed, at: now, hidden: hidden, in: store.database)
    try store.owe(record.key, in: place, to: device.id)
    taken.insert(record.id)
    if record.operation == .insert { rights.noteTakenLate(record.key, in: place) }
  }
}
