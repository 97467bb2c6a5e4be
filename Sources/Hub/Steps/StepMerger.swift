import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelMerge
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Merges the steps of one bundle into the hub's rows, inside the caller's transaction.
///
/// The merger takes one step after another. If a row cannot be written yet, its step waits until all other steps are
/// merged. The merger tries waiting steps again while that helps. It then tries rows that wait for one another
/// together, one circle at a time. The remaining steps become conflicts.
final class StepMerger {
  let store: HubStore
  let scope: ScopeStore
  let device: EnrolledDevice
  /// The changes in the log that count as the device's own.
  let own: OwnChanges
  let bundle: BundleID?
  /// The state from which the device made its changes.
  let base: ChangeBase
  /// The rows that the device had when it made its changes.
  let held: HeldAtBase
  let now: Int64
  /// The origin of the device's changes. Only the stamp differs from change to change.
  private let origin: Origin
  /// The latest stamp that a change may get: the hub's own time, or a later stamp that the hub has sent. So a device
  /// whose clock is ahead has no advantage.
  let latest: Stamp
  /// The stamps that do not show the order of changes.
  let doubtful: DoubtfulTimes
  /// `waiting` has the waiting steps of each row, in their order. `order` has the rows in the order in which they began
  /// to wait.
  var waiting: [RowReference: [Pending]] = [:]
  var order: [RowReference] = []
  /// Deletes that may belong to families, until all deletes of the generation are known.
  var deletes: [RowReference] = []
  /// The steps of the present generation that belong to units, until all of these steps are known.
  var collected = CollectedUnits()
  /// The units that cannot be merged yet. `grouped` has the numbers of the steps of all waiting groups.
  var waitingUnits: [StepGroup] = []
  var grouped: Set<Int> = []
  /// The unit whose steps are being merged.
  var presentUnit: StepGroup?
  /// The reasons why the hub does not accept the steps of a unit. nil unless the merger looks for these reasons.
  var diagnosis: Diagnosis?
  private var lastNumber = 0
  /// For each row whose delete is refused: a text that names the rows that stay with it.
  var stayingWith: [RowReference: String] = [:]
  /// The indices of the tables that take part in ON DELETE CASCADE, as parent or as child.
  let familyTables: Set<Int>
  /// For each cascading reference: how its values are compared.
  var comparisons: [ForeignKey: [Comparison]] = [:]
  var parents = ParentCache()
  let walks: RowWalks
  /// Whether the device has new rows that are kept out because of their natural key. nil until it is looked up.
  var keepsInserts: Bool?
  /// New rows that are kept out, with the values that their device wrote later.
  var keptRows: [RowReference: Row] = [:]
  /// The device's rows that wait for other rows. nil until they are looked up.
  var undecided: UndecidedReferences?
  /// The conflicts of kept-out rows that their device deleted.
  var deletedKeptRows: [ConflictRecord] = []
  /// The rows as the waiting steps would make them. nil until they are computed.
  var referring: WaitingRowsBelow?
  /// Deletes of rows that this hub never had.
  var unknownDeletes: [(step: Step, place: Int)] = []
  /// The greatest key that a new row may have, for each table that was looked up. A value does not change during the
  /// merge.
  var keyLimits: [Int: Int64] = [:]
  let ranges: PrimaryKeyRanges
  /// For rows with counters: whether the row may already contain an insert of the device, and the newest log entry at
  /// that time. This saves reading a long log again for each of many inserts.
  private var contained: [RowReference: (newest: Cursor?, mayContain: Bool)] = [:]
  /// The scopes of users who deleted rows that the hub never had.
  let deleters: UserScopes
  /// Whether any earlier change of the device waits. nil until it is looked up.
  var holdsAny: Bool? {
    get { progress.holdsAny }
    set { progress.holdsAny = newValue }
  }

  /// The emission that the device had when it made the bundle.
  var received = EmissionNumber.zero
  /// The newest stamp in that emission. The device's later writes have later stamps. nil if the hub does not know it.
  var receivedStamp: Stamp?
  /// The device's last export in an earlier epoch. nil if the bundle does not name it.
  var formerExports: SequenceNumber?
  /// The results that the device did not know when it made the bundle. nil if the hub cannot determine them.
  var unknown: UnknownResults?
  /// Changes that the device itself preferred to the hub's values, by stamps that do not show the order of changes.
  var preferred = PreferredChanges()
  /// The device's earlier changes that were not taken. nil until they are looked up.
  var earlier: EarlierConflicts?
  /// The limits for the device's waiting changes.
  var heldLimit = HeldLimit()
  /// The memory of the waiting steps.
  var memory = StepMemory(most: StepMemory.usual)

  var progress = Progress()
  /// The new conflicts about rows that left the user's scope. This list is not part of `progress`, because `progress`
  /// is copied for each unit.
  var lost: [ConflictID] = []
  /// The new conflicts in tables with `"late": "accept"`. After the merge, `LateWork` decides whether to accept their
  /// changes.
  var maybeLate: [ConflictID] = []
  var tally: RowTally { progress.tally }
  /// The first few of the new disagreements.
  var found: [ConflictRecord] { progress.found }
  var taken: Int { progress.taken }
  var conflicts: Int { progress.conflicts }

  init(
    _ store: HubStore, device: EnrolledDevice, own: OwnChanges, scope: ScopeStore, bundle: BundleID?, base: ChangeBase,
    held: HeldAtBase, returnsToAuthor: Bool, now: Int64
  ) throws {
    self.store = store
    self.scope = scope
    self.device = device
    self.own = own
    self.bundle = bundle
    self.base = base
    self.held = held
    self.now = now
    walks = RowWalks(butFor: own)
    deleters = UserScopes(store)
    ranges = try PrimaryKeyRanges(store, of: device)
    origin = Origin(
      device: device.id, user: device.user, stamp: .zero, bundle: bundle, returnsToAuthor: returnsToAuthor, at: now)
    latest = try store.newestBelievedStamp(at: now, slack: 1)
    doubtful = try store.doubtfulTimes()
    familyTables = store.tablesOfFamilies
  }

  /// The reason why a step cannot be merged now.
  struct Obstacle {
    let kind: ConflictKind
    let words: String
    /// Whether the change is held, whatever the kind of the obstacle is.
    var isHeld = false
    /// Whether only rows of the same unit prevent the step. Their own changes may remove the obstacle.
    var isOfOwnUnit = false
  }

  struct RowReference: Hashable {
    let place: Int
    let key: RowKey
  }

  struct Pending {
    /// The number of the step, which is unique in one merge.
    let number: Int
    var step: Step
    /// Whether all of the step was decided before the device's decision reached the hub. If so, the hub's row stays as
    /// it is.
    let decided: Bool
    /// The columns that were decided before the device's decision reached the hub. In these columns the hub's values
    /// stay. Empty if `decided` is true.
    var kept: Set<Int> = []
    /// The changes in the log that count as the device's own for this step. nil if the same changes count as for the
    /// whole bundle.
    var own: OwnChanges?
    /// Whether the device made the row too, under another key, and does not know yet that the two rows became one.
    var isFolded = false
    /// Whether a copy of the device has delivered an unknown part of the change.
    var isUnclear = false
    /// The earlier changes of the row that this change contains. Empty unless the table merges whole rows.
    var earlier: [ConflictRecord] = []
    /// Whether a person decided about one of these earlier changes.
    var followsDecision = false
  }

  /// Merges a step, or lets it wait.
  /// - Parameters:
  ///   - decided: the part of the row that was decided before the device's decision reached the hub. There the hub's
  ///     values stay. nil if nothing was decided before.
  ///   - folded: whether the device made the row too, under another key, and does not know yet that the two rows became
  ///     one.
  ///   - shared: the writes of copies of the device that the device had made before this change.
  func take(
    _ step: Step, in place: Int, decided: DecidedPart? = nil, folded: Bool = false, after shared: Set<SharedWrite> = []
  ) throws {
    let kept: Set<Int>? = if let decided { decided.columns(beside: step.change) } else { [] }
    let pending = Pending(
      number: nextNumber(), step: step, decided: kept == nil, kept: kept ?? [],
      own: shared.isEmpty ? nil : own.with(shared), isFolded: folded)
    try take(pending, of: RowReference(place: place, key: step.key))
  }

  private func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  private func take(_ pending: Pending, of row: RowReference) throws {
    let (step, place) = (pending.step, row.place)
    if collected.isOver(at: step.generation) { try takeUnits() }
    if let unit = step.unit {
      collect(pending, of: row, in: unit)
      return try countWaiting(step)
    }
    if waiting[row] != nil {
      waiting[row]?.append(pending)
      return try countWaiting(step)
    }
    if case .delete = step.change, familyTables.contains(place) {
      setAside(pending, of: row)
      return try countWaiting(step)
    }
    if !deletes.isEmpty { try takeFamilies() }
    if try attempt(pending, in: place) != nil {
      waiting[row] = [pending]
      order.append(row)
      try countWaiting(step)
    }
  }

  /// Counts a new waiting step. Throws a `Refusal` if all waiting steps need too much memory.
  private func countWaiting(_ step: Step) throws {
    try memory.add(step) {
      waiting.values.reduce(0) { sum, steps in steps.reduce(sum) { $0 + StepMemory.bytes(of: $1.step) } }
    }
  }

  static let itself = Obstacle(
    kind: .foreignKey, words: "It waits for the row itself, which waits for another.", isHeld: true)

  // MARK: one step

  /// Merges a step, or records why it cannot be merged. Returns an obstacle if a later step may remove it.
  func attempt(_ sent: Pending, in place: Int) throws -> Obstacle? {
    let found = try scope.find(sent.step.key, in: place)
    let hub = found?.row
    if hub == nil, let first = try keptInsert(before: sent.step, in: place) {
      return try follow(sent.step, first, in: place)
    }
    if try isHeld(sent.step.key, hub == nil, in: place) { return Self.itself }
    let past = try store.past(of: sent.step.key, in: place)
    if awaitsRow(sent.step, onto: hub, with: past, in: place) { return Self.awaited }
    if sent.isUnclear {
      try noteUnclear(sent.step, met: hub, in: place)
      return nil
    }
    var pending = sent
    pending.step = try withoutUndone(sent.step, with: past, in: place)
    pending = try whole(pending, in: place)
    // If the change has to wait, only this part of it waits, because its other columns were decided before.
    let step = pending.rest
    // A comparison with a hidden row would reveal the content of the row.
    if let found, found.isOutOfReach { return try noteHidden(step, met: hub, in: place) }
    if hub == nil, try noteGone(pending, with: past, in: place) { return nil }
    if try noteAfterUnit(pending, met: hub, in: place) { return nil }
    if try noteAfterDecision(pending, met: hub, in: place) { return nil }
    if let words = try rememberDeletion(step, onto: hub, with: past, in: place) {
      return try forbid(step, met: nil, in: place, words)
    }
    let result = try merged(pending, onto: hub, with: past, in: place)
    if isInUnit, let disagreement = pending.overruled(in: result) {
      try note(disagreement, pending.step, met: hub, in: place)
      return nil
    }
    if let hub, try noteMarked(pending, result, over: hub, with: past, in: place) { return nil }
    if let change = Change(from: hub, to: result.row) {
      if let words = device.refusal { return try forbid(step, met: hub, in: place, words) }
      if case .delete = change, store.tables[place].rules.delete == .never {
        return try forbid(step, met: hub, in: place, Self.isNeverDeleted)
      }
      if let found, !found.mayWrite { return try forbid(step, met: hub, in: place, Self.mayNotChange) }
      if case .insert = step.change, hub == nil, let words = try keyFault(of: step, in: place) {
        try note(Disagreement(kind: .constraint, state: .held), step, met: nil, in: place, note: words)
        return nil
      }
      if let obstacle = try obstacle(to: result.row, from: hub, in: place) { return obstacle }
      do { try write(change, to: result.row, over: hub, key: step.key, in: place) } catch let error as SQLiteError
        where error.kind == .unique
      {
        if try noteHiddenParent(step, of: result.row, met: hub, in: place) { return nil }
        let isOfOwnUnit = try result.row.map { try meetsOwnUnit($0, in: place) } ?? false
        return Obstacle(kind: .unique, words: error.message, isOfOwnUnit: isOfOwnUnit)
      } catch let error as SQLiteError where error.kind == .constraint {
        if try noteHiddenParent(step, of: result.row, met: hub, in: place) { return nil }
        try note(Disagreement(kind: .constraint, state: .held), step, met: hub, in: place, note: error.message)
        return nil
      } catch is NotAllowed {
        if try noteHiddenParent(step, of: result.row, met: hub, in: place) { return nil }
        return try forbid(step, met: hub, in: place, words(forbidding: result.row, in: place))
      }
      try log(change, step, with: past, in: place, besides: writtenTwice(pending, over: hub, result, in: place))
    } else if found?.mayWrite == true, device.refusal == nil {
      try log(nil, step, with: past, in: place, besides: writtenTwice(pending, over: hub, result, in: place))
    }
    if result.disagreement?.isWonByDevice != false { try settleEarlier(pending, in: place) }
    if let hub, found?.mayWrite == true { try rememberKnown(pending, over: hub, with: past, in: place) }
    try noteOutcome(of: pending.step, result, over: hub, with: past, in: place)
    return nil
  }

  /// Records the disagreement of a merged step, and whether the device must receive the row. The caller has written and
  /// logged the row before.
  /// - Parameters:
  ///   - hub: the row before the step.
  ///   - past: the history of the row before the step.
  func noteOutcome(
    of step: Step, _ result: MergeResult, over hub: Row?, with past: RowNumbers.Entry?, in place: Int
  ) throws {
    if let disagreement = result.disagreement {
      let words = UnknownStart.words(
        for: disagreement, of: step.change, first: step.first, by: store.rows[place].rules)
      try note(
        disagreement, step.with(step.change.counted(in: disagreement)), met: hub, in: place,
        note: isUncertain(disagreement, step, onto: hub, with: past, in: place) ? Self.mayBeCounted : words)
      if !disagreement.isWonByDevice { return }
    }
    if step.isShownByHub(result.row, over: hub) {
      let equal = try result.disagreement == nil ? equalCursor(step, onto: hub, with: past, in: place) : nil
      try store.owe(step.key, in: place, to: device.id, equalAt: equal)
    } else if step.isAltered(in: result.row), try scope.maySee(step.key, in: place) {
      try store.owe(step.key, in: place, to: device.id)
    }
  }

  /// Whether a change of the row must wait for an earlier waiting change. If the row exists, only waiting units count.
  func isHeld(_ key: RowKey, _ isGone: Bool, in place: Int) throws -> Bool {
    if isGone { return try isHeld(key, in: place) }
    return try self.holdsAny != false && isHeld(key, in: place)
      && ConflictTable.isInHeldUnit(key, of: store.tables[place], device: device.id, in: store.database)
  }

  /// Whether an earlier change of the row waits.
  func isHeld(_ key: RowKey, in place: Int) throws -> Bool {
    // Most devices have no waiting changes, so this is looked up once.
    let holdsAny = try self.holdsAny ?? ConflictTable.holdsAny(of: device.id, in: store.database)
    self.holdsAny = holdsAny
    return try holdsAny
      && ConflictTable.isHeld(key, of: store.tables[place], device: device.id, in: store.database)
  }

  func merged(_ pending: Pending, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int) throws -> MergeResult {
    let step = pending.step
    let schema = store.rows[place].schema
    let stamp = min(step.stamp, latest)
    if pending.decided {
      let all = OthersChanges(columns: Dictionary(uniqueKeysWithValues: schema.columns.indices.map { ($0, .zero) }))
      return merge(step.change, at: stamp, onto: hub, others: all, by: .hubWins(schema))
    }
    if try formerVersion(step, onto: hub, with: past, in: place) != nil { return MergeResult(row: hub) }
    let base = try base(of: past, in: place)
    var others = try store.changesByOthers(
      meeting: step.change, at: stamp, onto: hub, with: past, in: place, from: base, besides: pending.own ?? own,
      walks.walk(past, in: place, from: base, besides: pending.own, store))
    if try meetsDelete(step, onto: hub, with: past, in: place, besides: pending.own ?? own) {
      others.presence = true
    }
    let deletion = try store.unknownDeletion(
      meeting: step.change, step.key, onto: hub, with: past, in: place, &others, deleters)
    others.uncertain = try uncertainColumns(step, onto: hub, with: past, in: place)
    preferred.contest(step, at: past?.stamp ?? .zero, &others, in: schema)
    let rules = store.rows[place].rules.doubting(doubtful).forChange(step.change, first: step.first)
      .keeping(decided: pending.kept)
    let isOwn = try rules.hasCounters && hub != nil && mayBeOwn(pending, with: past, in: place)
    let result = merge(
      step.change, at: stamp, onto: hub,
      others: pending.isFolded ? others.meetingFolded(step.change, onto: hub) : others,
      by: isOwn ? rules : rules.addingEqualCounters)
    return deletion?.doubted(result, in: store) ?? result
  }

  /// Whether an insert meets a row that may already contain this insert's counters.
  private func mayBeOwn(_ pending: Pending, with past: RowNumbers.Entry?, in place: Int) throws -> Bool {
    guard case .insert = pending.step.change else { return false }
    let row = RowReference(place: place, key: pending.step.key)
    if pending.own == nil, let known = contained[row], known.newest == past?.cursor { return known.mayContain }
    let own = pending.own ?? own
    let mayContain = try store.mayContain(insertOf: past, in: place, from: base, holding: held) { own.contains($0) }
    if pending.own == nil { contained[row] = (past?.cursor, mayContain) }
    return mayContain
  }

  /// Records a change as an open conflict, because a copy of the device has delivered an unknown part of the change. If
  /// the change belongs to a unit, the hub does not take the unit.
  func keepUnclear(_ step: Step, in place: Int) throws {
    if step.unit == nil { return try noteUnclear(step, met: store.rows[place].row(step.key), in: place) }
    let pending = Pending(number: nextNumber(), step: step, decided: false, isUnclear: true)
    try take(pending, of: RowReference(place: place, key: step.key))
  }

  static let mayNotChange = "The user may not change this row."
  static let mayNotMake = "The user may not make this row as it is."
  static let isNeverDeleted = "Rows of this table are not deleted."

  struct NotAllowed: Error {}

  /// Writes a merged row. Throws `NotAllowed`, with no effect, if the user may not make the new row.
  /// - Parameter change: the change from the hub's row to `row`.
  func write(_ change: Change, to row: Row?, over hub: Row?, key: RowKey, in place: Int) throws {
    let rows = store.rows[place]
    // This write may remove the parent of other rows, so the known parents are forgotten.
    if hub != nil, !store.references[place].children.isEmpty { parents.forget() }
    guard try needsCheck(row, over: hub, in: place) else { return try rows.write(change, of: key) }
    if store.isReversible[place] {
      try rows.write(change, of: key)
      if try scope.mayWrite(key, in: place) { return }
      try rows.write(hub, over: row, key: key)
      throw NotAllowed()
    }
    try store.database.savepoint {
      try rows.write(change, of: key)
      if try !scope.mayWrite(key, in: place) { throw NotAllowed() }
    }
  }

  /// Whether the user's right to make the new row must be checked.
  private func needsCheck(_ row: Row?, over hub: Row?, in place: Int) throws -> Bool {
    guard let row else { return false }
    return try hub.map { try scope.mayDiffer($0, row, in: place) } ?? true
  }

  /// Counts a merged change.
  func count(_ change: Change, in place: Int) {
    progress.tally.add(change, in: store.rows[place].name)
    progress.taken += 1
  }

  /// Logs a merged change, and counts it.
  /// - Parameters:
  ///   - change: nil if the step changes nothing.
  ///   - equal: values that the device wrote although the row had them already.
  func log(
    _ change: Change?, _ step: Step, with past: RowNumbers.Entry?, in place: Int, besides equal: [ColumnChange] = []
  ) throws {
    let origin = origin.at(min(step.stamp, latest))
    try store.log(change, besides: equal, of: step.key, with: past, in: place, from: origin)
    if let change { count(change, in: place) }
  }

  func obstacle(to row: Row?, from hub: Row?, in place: Int) throws -> Obstacle? {
    try store.brokenReference(of: row, from: hub, in: place, using: &parents).map {
      Obstacle(kind: .foreignKey, words: $0.words, isHeld: $0.mayGoAway)
    }
  }
}

extension Step {
  /// Whether the device must receive the row although its change was accepted. There are three cases.
  /// - The device deleted a row that the hub only marks as deleted.
  /// - The device inserted a row that the hub has. The row counts as the device's own, even if its user may not see it.
  /// - The device brought a row that was deleted in the meantime.
  fileprivate func isShownByHub(_ row: Row?, over hub: Row?) -> Bool {
    switch change {
    case .delete: row != nil
    case .insert: hub != nil || row == nil
    case .update: false
    }
  }

  /// Whether the hub's row has another value than an update of the device gave it. For example, the device counted on
  /// from a value that the hub never had, so the hub added only the difference.
  fileprivate func isAltered(in row: Row?) -> Bool {
    guard case .update(let changes) = change, let row else { return false }
    return changes.contains { row[$0.column] != $0.value }
  }
}
