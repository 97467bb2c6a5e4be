import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Changes that wait at the hub for missing rows. The hub accepts such a change when the missing rows come.
final class HeldRows {
  let store: HubStore
  let now: Int64
  /// The scopes of the users who made the waiting changes.
  private var senders: [Sender: ScopeStore] = [:]
  private let keys: WaitingKeys
  /// The scopes of users who deleted rows that the hub never had.
  private let deleters: UserScopes
  private var lostRights: [Sender: LostRights] = [:]
  private var logs: [Sender: Logs] = [:]
  /// The stamps that do not show the order of changes. nil until they are looked up.
  private var doubtful: DoubtfulTimes?

  /// The changes of the units that became conflicts in this pass.
  var closedInUnits: [ConflictRecord] = []
  /// The waiting changes that became conflicts, because the hub cannot accept them as the device sent them.
  var lost: [ConflictID] = []
  /// While the hub tries a unit: the rows whose changes in this unit have not entered yet.
  var remaining: Set<RowReference> = []
  /// While the hub tries a unit: rows of the unit that the hub took out of their tables. Other rows of the unit get
  /// their UNIQUE values. Each row comes back when its own change enters.
  var aside: [RowReference: ScopeStore.Found] = [:]

  private struct Sender: Hashable {
    let device: ReplicaID
    let user: String
  }

  /// The entries that were read in the logs of rows, for the changes of one sender.
  struct Logs {
    let walks: RowWalks
    let latest: LatestWrites
  }

  init(_ store: HubStore, now: Int64) {
    self.store = store
    self.now = now
    keys = WaitingKeys(store)
    deleters = UserScopes(store)
  }

  /// Tries all waiting changes, and repeats while more changes enter, up to a limit. Beyond the limit the remaining
  /// changes wait for the next import. Returns the number of changes that entered.
  ///
  /// A change that its user may not make waits for a person's decision. Even if the user gets the right later, the
  /// change does not enter by itself.
  func release() throws -> Int {
    var released = 0
    var limit: RetryLimit?
    while true {
      try changeKeys()
      let round = try pass()
      released += round.entered
      var left = limit ?? RetryLimit(steps: round.tried)
      if round.isDone || !left.allowsRound(over: round.tried) { return released }
      limit = left
    }
  }

  /// Gives waiting new rows other keys, if another row has come with the same key or the same natural key. If the key
  /// is the same, the other row keeps it, and the waiting row gets a new key. If the natural key is the same, the two
  /// rows become one row.
  private func changeKeys() throws {
    let references = try PrimaryKeyReferences(store.tables)
    if references.isEmpty { return }
    var entries: [ReplicaID: [PrimaryKeyMap.Entry]] = [:]
    for conflict in try ConflictTable.list([.held], in: store.database) {
      let record = conflict.record
      guard record.operation == .insert, !record.awaitsDecision, let place = store.place(of: record.table),
        let key = store.tables[place].singleKey(record.key),
        let new = try newKey(of: record, conflict.bundle, key, in: place)
      else { continue }
      entries[record.device, default: []].append(.init(place: place, old: key, new: new))
    }
    if entries.isEmpty { return }
    let maps = entries.mapValues { PrimaryKeyMap(references, store.tables, $0) }
    // A device may have very many open conflicts with large values, so they are read in batches.
    try ConflictTable.eachBatch([.held, .open], .time, in: store.database) { batch in
      for other in batch {
        guard let map = maps[other.record.device], let place = store.place(of: other.record.table) else { continue }
        let moved = map.record(other.record, of: place)
        if moved != other.record { try ConflictTable.rename(moved, in: store.database) }
      }
    }
  }

  private func newKey(of record: ConflictRecord, _ bundle: BundleID?, _ key: Value, in place: Int) throws -> Value? {
    let table = store.tables[place]
    if let twin = try twin(of: record, in: place) {
      return twin == key ? nil : try store.rename(key, to: twin, in: place, of: record.device, by: bundle, at: now).new
    }
    guard table.givesNewKeys, try store.rows[place].row(record.key) != nil,
      // If the hub gave this key to a row, the device may already know that. So the row keeps the key.
      try !store.isGiven(key, in: place)
    else { return nil }
    return try store.giveNewKey(to: key, in: place, of: record.device, by: bundle, above: 0, at: now)?.new
  }

  /// Returns the key of the hub's row that means the same thing as a waiting new row. nil if there is no such row. nil
  /// also if later changes of the new row wait, because they may make the two rows different.
  private func twin(of record: ConflictRecord, in place: Int) throws -> Value? {
    let table = store.tables[place]
    guard table.folds, let scope = try scope(of: record), case .insert(let row)? = try? record.change(in: table.schema),
      try ConflictTable.countHeld(record.key, of: table, device: record.device, in: store.database) == 1
    else { return nil }
    return try store.twin(of: row, in: place, for: scope)
  }

  /// Returns the rules for a change of a table's row, by which stamps decide only if they show the order of changes.
  func rules(in place: Int) throws -> MergeRules {
    let times = try doubtful ?? store.doubtfulTimes()
    doubtful = times
    return store.rows[place].rules.doubting(times)
  }

  static func areThere(_ store: HubStore) throws -> Bool {
    try ConflictTable.isAny(.held, in: store.database)
  }

  struct RowReference: Hashable {
    let device: ReplicaID
    let table: Name
    let key: RowKey

    init(_ record: ConflictRecord) { (device, table, key) = (record.device, record.table, record.key) }
  }

  enum Step { case entered, closed, waits }

  /// Tries each waiting change once. Returns the number of changes that it tried, and the number of changes that
  /// entered. `isDone` says that another pass cannot help.
  private func pass() throws -> (tried: Int, entered: Int, isDone: Bool) {
    var (entered, closed) = (0, 0)
    // The changes of a row enter in their order. If a change still waits, the later changes of its row wait too.
    var waiting: Set<RowReference> = []
    var moved: Set<ConflictID> = []
    let reported = try store.reported()
    // A change that a device reported as a conflict enters only after a person's decision.
    let held = try ConflictTable.list([.held], in: store.database).filter { !reported.contains($0.record.id) }
    let updated = Set(held.filter { $0.record.operation == .update }.map { RowReference($0.record) })
    for unit in try inOrder(held) {
      if !unit.isSingle {
        switch try release(unit, behind: &waiting) {
        case .entered: entered += unit.members.count
        case .closed: closed += 1
        case .waits: break
        }
        continue
      }
      let (conflict, record) = (unit.head, unit.head.record)
      let row = RowReference(record)
      if moved.contains(record.id) || record.awaitsDecision && record.operation != .insert { continue }
      if record.operation != .insert, let place = store.place(of: record.table),
        try ConflictTable.openUniqueInsert(
          record.key, of: store.tables[place].name, device: record.device, in: store.database) != nil
      {
        waiting.insert(row)
        continue
      }
      let isFirst = !waiting.contains(row)
      switch try isFirst && !record.awaitsDecision ? release(record, conflict.bundle) : .waits {
      case .entered: entered += 1
      case .closed: closed += 1
      case .waits:
        // The new row cannot enter yet. Its later changes wait too, unless one of them gives the row another parent.
        let changes = try isFirst && updated.contains(row) ? releaseMoved(record, conflict.bundle) : []
        moved.formUnion(changes)
        entered += changes.count
        if changes.isEmpty { waiting.insert(row) }
      }
    }
    // In this pass, the later changes of these rows wait already.
    try ConflictTable.openHeld(behind: closedInUnits, in: store.database)
    closedInUnits = []
    return (held.count, entered, entered + closed == 0)
  }

  /// Returns the units in an order in which each unit may help the next unit to enter. Units that change the same row
  /// keep the order in which the device made them.
  private func inOrder(_ held: [StoredConflict]) throws -> [ConflictUnit] {
    let units = held.sorted { $0.record.generation < $1.record.generation }.units
    return try store.inWaitingOrder(units) { $0.members.map(\.record) }
  }

  /// Tries one waiting change.
  /// - Parameter unit: the rows of the unit that the change belongs to. Empty if the change belongs to no unit.
  func release(
    _ kept: ConflictRecord, _ bundle: BundleID?, with unit: Set<RowReference> = []
  ) throws -> Step {
    guard let place = store.place(of: kept.table), let scope = try scope(of: kept) else { return .waits }
    let record = try kept.present(in: store.tables[place].schema, store.database)
    guard var change = try? record.change(in: store.tables[place].schema) else { return .waits }
    let rows = store.rows[place]
    let reference = RowReference(record)
    let found = try aside[reference] ?? scope.find(record.key, in: place)
    if let found, found.isOutOfReach {
      return try closeLost(record, .revoked, met: found.row, in: place, with: unit)
    }
    let hub = found?.row
    let past = try store.past(of: record.key, in: place)
    let since = try ConflictTable.since(record.id, in: store.database)
    if since == nil, hub == nil, past == nil || past.map({ $0.stamp < record.stamp }) == true,
      store.needsRow(change, in: place)
    {
      return .waits
    }
    if since == nil { change = try store.withoutUndone(change, at: record.stamp, with: past, in: place) }
    let base = since.map { ChangeBase.emission($0) } ?? .formerEpoch(nil)
    let own = OwnChanges(of: record.device, by: record.user)
    if case .delete = change, hub == nil, !unit.isEmpty, try !store.mayLack(past, from: base, own: own) {
      return try closeLost(record, .updateDelete, met: nil, in: place, with: unit)
    }
    var others = try store.changesByOthers(
      meeting: change, at: record.stamp, onto: hub, with: past, in: place, from: base, besides: own,
      logs(of: record).walks.walk(past, in: place, from: base, besides: nil, store))
    if since == nil {
      others.uncertain = try store.uncertainColumns(
        of: change, onto: hub, with: past, in: place, since: nil, at: record.stamp)
    }
    if case .insert = change, try hub == nil && keys.forbid(record, in: place) { return .waits }
    let deletion = try store.unknownDeletion(
      meeting: change, record.key, onto: hub, with: past, in: place, &others, deleters)
    let merged = try merged(change, record, onto: hub, with: past, others: others, from: base, in: place)
    let result = deletion?.doubted(merged, in: store) ?? merged
    if result.repeatsDelete, !unit.isEmpty, try !store.mayLack(past, from: base, own: own) {
      return try closeLost(record, .updateDelete, met: hub, in: place, with: unit)
    }
    if let change = Change(from: hub, to: result.row),
      let words = try refusal(of: change, record, mayWrite: found?.mayWrite ?? true, in: place)
    {
      try close(record, change, Disagreement(kind: .forbidden, state: .held), met: hub, in: place, note: words)
      return .closed
    }
    var parents = ParentCache()
    guard try store.brokenReference(of: result.row, from: hub, in: place, using: &parents) == nil else {
      return .waits
    }
    let row = result.row
    let before = aside
    var isWritten = false
    defer { if !isWritten { aside = before } }
    do {
      try store.database.savepoint {
        if let row { try makeRoom(for: row, of: record, scope, in: place) }
        try rows.write(row, over: aside[reference] == nil ? hub : nil, key: record.key)
        if row != nil, try !scope.mayWrite(record.key, in: place) { throw StillHeld() }
      }
    } catch is StillHeld {
      // The user must not notice a hidden parent. So the change waits, as if the parent were missing.
      guard let row, try scope.hiddenParent(of: row, from: hub, in: place) == nil else { return .waits }
      try close(
        record, change, Disagreement(kind: .forbidden, state: .held), met: hub, in: place, note: StepMerger.mayNotMake)
      return .closed
    } catch let error as SQLiteError where error.kind == .constraint {
      return .waits
    } catch let error as SQLiteError where error.kind == .unique {
      // Another row has the same natural key. If both rows mean the same thing, `changeKeys` will fold the new row into
      // the other row, so the change waits.
      if try twin(of: record, in: place) != nil { return .waits }
      try row.map { try collide($0, record, change, in: place) }
      return .closed
    }
    isWritten = true
    aside[reference] = nil
    let made = Change(from: hub, to: row)
    let equal =
      try found?.mayWrite == true ? scope.writtenTwice(change, over: hub, result, from: base, in: place) : []
    // The device does not have the row while the change waits. So the hub sends the row back to the device.
    let origin = Origin(
      device: record.device, user: record.user, stamp: record.stamp, bundle: bundle, returnsToAuthor: true, at: now)
    try store.log(made, besides: equal, of: record.key, with: past, in: place, from: origin)
    if since == nil, let hub, found?.mayWrite == true {
      try store.rememberKnown(change, at: record.stamp, over: hub, of: record.key, with: past, in: place)
    }
    let recorded = result.disagreement.map { change.counted(in: $0) } ?? change
    try close(record, recorded, result.disagreement, met: hub, in: place)
    return made == nil ? .closed : .entered
  }

  /// Closes the record of a waiting change after its merge. If the change disagreed with another change, the record
  /// becomes an ordinary conflict.
  private func close(
    _ record: ConflictRecord, _ change: Change, _ disagreement: Disagreement?, met: Row?, in place: Int,
    note: String? = nil
  ) throws {
    try store.forgetJoined(record.id)
    guard let disagreement else { return try ConflictTable.close(entered: record.id, in: store.database) }
    if !disagreement.isWonByDevice { lost.append(record.id) }
    var found = ConflictRecord(
      disagreement, of: change, at: record.stamp, generation: record.generation, key: record.key,
      in: store.tables[place].schema,
      met: met, device: record.device, user: record.user)
    found.id = record.id
    (found.note, found.unit) = (disagreement.words(after: note), record.unit)
    let isHidden =
      try met.map { try scope(of: record)?.maySee(store.tables[place].schema.key(of: $0), in: place) != true } ?? false
    try ConflictTable.correct(found, at: now, hidden: isHidden ? .row : .nothing, in: store.database)
    try store.owe(record.key, in: place, to: record.device)
  }

  /// Returns, as a text, why the user may not make a change. nil if the user may make it. The user may have lost the
  /// right while the change waited.
  private func refusal(
    of change: Change, _ record: ConflictRecord, mayWrite: Bool, in place: Int
  ) throws -> String? {
    if let words = try store.device(record.device)?.refusal { return words }
    if try store.isWrittenTooLate(record) { return "It was written after the last day of the device or its user." }
    if case .delete = change, store.tables[place].rules.delete == .never { return StepMerger.isNeverDeleted }
    return mayWrite ? nil : StepMerger.mayNotChange
  }

  /// Makes a conflict of a waiting update whose row was deleted or left its user's scope. Deletes in a unit are treated
  /// in the same way. Both cases look equal, so the device cannot distinguish a deleted row from a hidden row.
  /// - Parameter met: the hidden row, or the row that is marked as deleted. nil if the row was deleted.
  private func closeLost(
    _ kept: ConflictRecord, _ kind: ConflictKind, met: Row?, in place: Int, with unit: Set<RowReference>
  ) throws -> Step {
    guard kept.operation == .update || kept.operation == .delete && !unit.isEmpty else { return .waits }
    var record = kept
    (record.kind, record.state) = (kind, store.tables[place].rules.conflict.stateOfUncompared)
    (record.winners, record.rowWinner) = ([], .hub)
    record.hubValues = met.map { store.tables[place].schema.fields($0) }
    lost.append(record.id)
    try ConflictTable.correct(record, at: now, hidden: kind == .revoked ? .row : .nothing, in: store.database)
    if kind == .revoked { try noteRights(of: record) }
    try store.owe(record.key, in: place, to: record.device)
    return .closed
  }

  /// Takes rows of the unit out of their table if they have the natural key of `row`, and if their own changes have not
  /// entered yet. In this way, rows of one unit may trade UNIQUE values.
  private func makeRoom(for row: Row, of record: ConflictRecord, _ scope: ScopeStore, in place: Int) throws {
    if remaining.isEmpty { return }
    for key in try store.rows[place].rivals(of: row, in: store.database) where key != record.key {
      var rival = record
      rival.key = key
      let reference = RowReference(rival)
      guard remaining.contains(reference), let found = try scope.find(key, in: place) else { continue }
      aside[reference] = found
      try store.rows[place].write(nil, over: found.row, key: key)
    }
  }

  /// Makes a conflict of a change whose missing rows came. While the change waited, another row got the same natural
  /// key.
  private func collide(_ row: Row, _ record: ConflictRecord, _ change: Change, in place: Int) throws {
    let rows = store.rows[place]
    let rivals = try rows.rivals(of: row, in: store.database)
    let state = store.tables[place].rules.conflict.stateOfUncompared
    let met = try rivals.count == 1 ? rows.row(rivals[0]) : nil
    try close(record, change, Disagreement(kind: .unique, state: state), met: met, in: place)
  }

  /// Returns the scope of the user who made the change. The device may have another user by now. nil if the device was
  /// removed.
  func scope(of record: ConflictRecord) throws -> ScopeStore? {
    let sender = Sender(device: record.device, user: record.user)
    if let known = senders[sender] { return known }
    guard try store.device(record.device) != nil else { return nil }
    senders[sender] = try ScopeStore(store, userNamed: record.user)
    return senders[sender]
  }

  /// Returns the logs that were read for the sender of a waiting change.
  func logs(of record: ConflictRecord) -> Logs {
    let sender = Sender(device: record.device, user: record.user)
    if let known = logs[sender] { return known }
    let own = OwnChanges(of: record.device, by: record.user)
    let made = Logs(walks: RowWalks(butFor: own), latest: LatestWrites(store, of: own))
    logs[sender] = made
    return made
  }

  /// Begins an attempt. A later `forgetLogs` concerns only logs that are read after this call.
  func beginReadingLogs() {
    for read in logs.values {
      read.walks.begin()
      read.latest.begin()
    }
  }

  /// Forgets the logs that were read beyond `cursor`. The caller has rolled back the entries after `cursor`.
  func forgetLogs(after cursor: Cursor) {
    for read in logs.values {
      read.walks.forget(after: cursor)
      read.latest.forget(after: cursor)
    }
  }

  /// Records whether the user could change the row before the user lost sight of it. The row left the user's scope
  /// while the change waited.
  func noteRights(of record: ConflictRecord) throws {
    let sender = Sender(device: record.device, user: record.user)
    if lostRights[sender] == nil, let scope = try scope(of: record), var device = try store.device(record.device) {
      device.user = record.user
      lostRights[sender] = LostRights(scope, device)
    }
    try lostRights[sender]?.note([record.id])
  }

  private struct StillHeld: Error {}
}

extension ConflictRecord {
  /// Returns the record of a new row, with the values that the device later wrote into the row. nil if a later change
  /// is not an update.
  /// - Parameter behind: the later waiting changes of the row, in their order.
  func followed(by behind: [ConflictRecord], in schema: TableSchema) -> ConflictRecord? {
    guard case .insert(var row)? = try? change(in: schema) else { return nil }
    for record in behind {
      guard case .update(let changes)? = try? record.change(in: schema) else { return nil }
      row.write(changes)
    }
    var whole = self
    whole.deviceValues = schema.fields(row)
    return whole
  }

  /// Whether the change waits for a person's decision only, because its user may not make it.
  var awaitsDecision: Bool { kind == .forbidden || kind == .revoked }

  /// Returns the device's change as the device sent it.
  func change(in schema: TableSchema) throws -> Change {
    switch operation {
    case .insert: return .insert(try schema.row(deviceValues ?? []))
    case .delete: return .delete(was: try schema.row(baseValues ?? []))
    case .update:
      return .update(
        try zip(baseValues ?? [], deviceValues ?? []).map { was, new in
          guard let column = schema.position(of: new.name) else {
            throw LineProblem("the table has no column \(new.name)")
          }
          return ColumnChange(column: column, was: was.value, value: new.value)
        })
    }
  }
}
