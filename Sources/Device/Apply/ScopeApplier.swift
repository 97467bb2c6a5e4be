import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Brings a device's tables to the hub's state, row by row, and replays the device's pending changes on top.
///
/// The caller holds one `applyTransaction` around all calls.
final class ScopeApplier {
  let session: DeviceSession
  private let tables: [RowTable]
  /// The lookups of this device's pending changes, by table. A table without pending changes needs no lookup, because
  /// no app can write to the table during the import.
  let pending: [Name: PreImageLookup]
  /// Rows that are not written yet, because another row has one of their UNIQUE values. `finish` writes them after all
  /// other rows.
  private var blocked: [Blocked] = []
  /// Rows from the hub that pending rows keep out.
  var keptOut: [KeptOut] = []
  private var references: [Name: References] = [:]

  /// Rows that combine values of the hub and of this device. The table may forbid this combination.
  private var mixed: [(rows: RowTable, key: RowKey)] = []
  /// The mixed rows that the table forbids.
  private var forbidden: [(rows: RowTable, key: RowKey)] = []

  struct Blocked {
    let table: RowTable
    let key: RowKey
    let row: Row
    let stamp: Stamp
    /// Whether the row is as the hub sent it.
    let isHubs: Bool
    /// Whether this device did not have the row before.
    var isNew = false
  }

  let witness: RowWitness
  /// Compares rows with the digests of their exports; nil: rows are not compared.
  private let exported: ExportedRows?
  /// Rows that were written unseen, by their present keys. Rows that are already recorded as conflicts are not among
  /// them. Empty if the rows were not compared before the bundle was applied.
  var unseen: UnseenRows
  /// Rows that were written unseen, by their keys before the bundle.
  let unseenBefore: UnseenRows
  /// The present emission of the device. `isFollowed`: whether the new bundle follows this emission.
  private let base: EmissionNumber
  private let isFollowed: Bool
  /// The overwritten rows that are not compared yet, by the keys under which the hub has them.
  var overwritten: [RowInTable: [PrimaryKeyCollisions.OverwrittenRow]]
  /// Rows from the hub, by their keys, that this import joins with rows which this device made under other keys.
  private let folded: [Name: Set<RowKey>]
  let orphans: RowsWithoutParent
  let restoredParents: RestoredParents
  let deletedChildren: DeletedChildren
  /// The rows that left with this bundle, or lost referenced values. nil: the bundle is no delta, or it is imported
  /// again to rebuild a database.
  let departed: DepartedRows?
  /// The rows of exported units that the hub did not take, each with the conflict that this bundle brings.
  var refusedUnits: [RowInTable: ConflictRecord] = [:]
  /// Rows that this device did not change and that the hub has with other values. No record shows which of the two
  /// versions is later.
  var undated: Set<RowInTable> = []
  /// The unseen rows that this import turned into pending changes. The stamps of these changes are not the times of the
  /// writes.
  var takenUp: Set<RowInTable> = []
  /// The rows that earlier imports kept, because they were written unseen, if no decision about them is known; nil: not
  /// read yet.
  var keptEarlier: [RowInTable: [ConflictRecord]]?
  /// The lost units; nil: no change belongs to a unit.
  let units: LostUnits?
  /// Whether the bundle continues the hub's history.
  let isOfSameEpoch: Bool

  var tally = RowTally()
  /// The first few new conflicts.
  private(set) var found: [ConflictRecord] = []
  /// Attachments whose rows are gone, or now name other attachments.
  private(set) var unnamed: Set<AttachmentPath> = []
  /// The rows that the first bundle of a new epoch removed, by table. Empty for every other bundle.
  private(set) var removedByEpoch: [Name: Set<RowKey>] = [:]
  var written = 0
  var removed = 0
  private(set) var conflicts = 0

  /// - Parameters:
  ///   - witness: checks whether a row is a version that the hub may expect.
  ///   - unseen: rows that were written unseen, by their keys before the bundle.
  ///   - scope: the emission; nil: the bundle is no emission and does not say what others wrote.
  ///   - keys: the changes of primary keys of this device's rows with this bundle.
  init(
    _ session: DeviceSession, exported: ExportedRows? = nil, witness: RowWitness? = nil, unseen: UnseenRows = .none,
    scope: Manifest.Scope? = nil, keys: PrimaryKeyCollisions.Outcome = .init()
  ) throws {
    self.session = session
    let folding = Set(session.tables.filter(\.folds).map(\.name))
    folded = Dictionary(grouping: keys.rekeyed.filter { folding.contains($0.table) }, by: \.table).mapValues { rows in
      Set(rows.map { RowKey([$0.new]) })
    }
    base = session.state.received
    isFollowed = scope?.follows?.contains { $0.number == session.state.received } ?? false
    isOfSameEpoch = scope.map { $0.epoch == session.state.epoch } ?? true
    self.exported = exported
    let witness = witness ?? RowWitness(ExportedRows(session))
    self.witness = witness
    unseenBefore = unseen
    self.unseen = unseen.following(keys)
    let tables = try session.tables.map { try RowTable($0, in: session.database) }
    self.tables = tables
    overwritten = Dictionary(grouping: keys.overwritten) { victim in
      let schema = tables.first { $0.name == victim.place.table }?.schema
      let key = schema.flatMap { schema in witness.withNewKeys(victim.row, in: schema).map(schema.key) }
      return RowInTable(table: victim.place.table, key: key ?? victim.place.key)
    }
    var pending: [Name: PreImageLookup] = [:]
    for table in session.tables where try !PreImageStore.isEmpty(table, in: session.database) {
      pending[table.name] = try PreImageLookup(table, in: session.database)
    }
    self.pending = pending
    let changed = tables.filter { pending[$0.schema.name] != nil }
    orphans = RowsWithoutParent(of: changed, in: session.database)
    restoredParents = try RestoredParents(among: changed, of: tables, in: session.database)
    deletedChildren = DeletedChildren(among: changed)
    // Only a delta needs this check, because a full bundle removes each row that the hub does not have.
    departed = scope?.extent == .delta && !session.isRebuilt ? DepartedRows(of: tables) : nil
    let isAnyPending = !pending.isEmpty || !keys.stranded.isEmpty
    if isAnyPending { session.database.writes.turnOn() }
    units = try isAnyPending ? LostUnits(session.tables, beside: keys.stranded, in: session.database) : nil
  }

  /// The references of a table, made at their first use.
  func references(of table: TrackedTable) -> References {
    let known = references[table.name] ?? References(of: table, among: session.tables)
    references[table.name] = known
    return known
  }

  func rows(of name: Name) -> RowTable? { tables.first { $0.schema.name == name } }
  var all: [RowTable] { tables }

  /// Brings one row to the version that the hub sends, and replays the row's pending changes on top. `incoming` is nil
  /// if the hub has no such row for this user.
  /// - Parameters:
  ///   - expected: the versions of the row that the hub expects here; empty: the hub does not say.
  ///   - others: the writes of others to the row, as the hub reports them; nil: no report.
  func apply(
    _ incoming: Row?, key: RowKey, at stamp: Stamp, in rows: RowTable, expected: [UInt64?] = [],
    others: @autoclosure () throws -> [OthersWrite]? = nil
  ) throws {
    let current = try rows.row(key)
    let images = try pending[rows.schema.name]?.images(of: key) ?? []
    try exported?.willWrite(key, images, over: current, in: rows.schema)
    try keepIfUnseen(current, images, key: key, met: incoming, in: rows, expected: expected)
    var target = incoming
    if let loss = lossAfterRefusedUnit(images, of: key, in: rows) {
      target = try lose(images, of: key, from: current, to: incoming, as: loss, in: rows)
    } else if !images.isEmpty {
      // The device had seen only its own row, and joins it with the hub's row only now. So the hub's report on a joined
      // row is not complete, and only the values show what others wrote.
      let isWhole = isFollowed && folded[rows.schema.name]?.contains(key) != true
      let told = try others().map { ToldWrites($0, in: rows.schema, beside: stamp, on: base, isWhole: isWhole) }
      // Within one epoch, the hub sends an inserted row back only together with the acknowledgement of the insert. So
      // the hub's row does not contain a pending insert. In a new epoch, another device may have brought the inserted
      // row to the hub.
      var rules = isOfSameEpoch ? rows.rules.addingEqualCounters : rows.rules
      let name = RowInTable(table: rows.name, key: key)
      if undated.contains(name) || takenUp.contains(name) { rules = rules.uncompared }
      let rebased = rebase(images, to: current, onto: incoming, at: stamp, told: told, by: rules)
      for lost in rebased.conflicts { try note(lost, key: key, in: rows) }
      if rebased.images != images {
        try PreImageStore.replace(rebased.images, of: key, in: rows.table, database: session.database)
      }
      // In a new epoch, the hub may lack rows that other devices still bring.
      if isOfSameEpoch, (images + rebased.images).contains(where: \.isGone) { units?.noteGone(key, in: rows.name) }
      units?.note(rebased.repeatedDeletes, of: name)
      target = rebased.row
    }
    guard let change = Change(from: current, to: target) else { return }
    if target == nil { removed += 1 } else { written += 1 }
    if let current {
      if target == nil { orphans.note(current, of: rows.schema) }
      departed?.note(current, becoming: target, of: rows.schema)
    }
    if let target { restoredParents.note(target, over: current, of: rows.schema) }
    if current == nil { deletedChildren.note(images, of: rows.schema) }
    noteFiles(from: current, to: target, in: rows)
    tally.add(change, in: rows.name)
    if target == nil, !isOfSameEpoch { removedByEpoch[rows.name, default: []].insert(key) }
    if target != nil, target != incoming { mixed.append((rows, key)) }
    do { try rows.write(change, of: key) } catch let error as SQLiteError where error.kind == .unique {
      if let target {
        blocked.append(
          Blocked(
            table: rows, key: key, row: target, stamp: stamp, isHubs: images.isEmpty, isNew: current == nil))
      }
    } catch let error as SQLiteError where error.kind == .constraint && target != incoming {
      forbidden.append((rows, key))
    } catch let error as SQLiteError where error.kind == .constraint {
      guard let incoming else { throw error }
      throw UnwritableRow(rows: rows, row: incoming, error: error).refusal(in: session.database)
    }
  }

  private func noteFiles(from row: Row?, to target: Row?, in rows: RowTable) {
    guard let row, !rows.table.rules.attachments.isEmpty else { return }
    unnamed.formUnion(rows.table.attachments(of: row).subtracting(target.map { rows.table.attachments(of: $0) } ?? []))
  }

  private func note(_ lost: Rebased.Lost, key: RowKey, in rows: RowTable) throws {
    try note(lost.disagreement, of: lost.change, image: lost.image, key: key, met: lost.met, in: rows)
  }

  /// Records a change of this device as a conflict, because of `disagreement`. If the change is not accepted, its whole
  /// unit is undone.
  func note(
    _ disagreement: Disagreement, of change: Change, image: PreImage, key: RowKey, met: Row?, in rows: RowTable
  ) throws {
    var disagreement = disagreement
    let isLost =
      !disagreement.isWonByDevice
      && (disagreement.kind == .unit || units?.contains(rows.name, key, image.generation) == true)
    let words = UnknownStart.words(for: disagreement, of: change, first: image.first, by: rows.rules)
    if isLost { disagreement = disagreement.inUnit(change, state: disagreement.state) }
    let record = ConflictRecord(
      disagreement, of: change, at: image.stamp, generation: image.generation, key: key, in: rows.schema, met: met,
      device: session.state.id, user: session.state.user, note: words)
    if isLost { units?.keep(record, because: disagreement.isOfUnit ? .unit : .itself) } else { try keep(record) }
  }

  func keep(_ record: ConflictRecord) throws {
    let addition = try ConflictTable.addMeeting(
      record, bundle: nil, noted: session.platform.clock.milliseconds(), in: session.database)
    if case .known(let known) = addition, known.state != .resolved,
      record.unit != nil || !known.isNotTaken && record.isNotTaken
    {
      // The conflict table has this conflict already. The change was undone only now, so the record is corrected.
      var corrected = record
      corrected.id = known.id
      return try ConflictTable.correct(
        corrected, at: session.platform.clock.milliseconds(), hidden: .nothing, in: session.database)
    }
    guard case .new = addition, record.unit ?? record.id == record.id else { return }
    conflicts += 1
    if found.count < RowTally.mostShown { found.append(record) }
  }

  // MARK: rows that block each other

  /// Writes the blocked rows. First all blocked rows are deleted, so that they may exchange UNIQUE values. A pending
  /// row that still has such a value gives way, or the policy keeps the blocked row out. Afterwards undoes the pending
  /// changes that do not fit the result.
  func finish() throws {
    for entry in blocked { try entry.table.write(nil, over: try entry.table.row(entry.key), key: entry.key) }
    let rivals = try blocked.map { try $0.table.rivals(of: $0.row, in: session.database) }
    for (entry, own) in zip(blocked, rivals) {
      // A row that blocks several others gives way to all of them.
      let isFair = own.count == 1 && zip(blocked, rivals).filter { $0.table === entry.table && $1 == own }.count == 1
      if isFair, try keepOut(entry, for: own[0]) { continue }
      try enter(entry)
    }
    blocked = []
    try takeBackForbidden()
    try loseUnitsOfGoneRows()
    // A row that goes may leave children behind, and a row that comes back may need a parent. So these steps repeat
    // until nothing changes.
    var isSettled = false
    while !isSettled {
      let (children, parents) = try (orphans.find(in: session.database), restoredParents.find(in: session.database))
      for orphan in children { try takeBack(orphan) }
      for parent in parents { try bringBack(parent) }
      let returning = try deletedChildren.find(in: session.database)
      for child in returning { try bringBack(child) }
      let isAnyLost = try takeBackUnits()
      isSettled = children.isEmpty && parents.isEmpty && returning.isEmpty && !isAnyLost
      if isSettled { isSettled = try !letInFreed() }
    }
    try settleKeptOut()
    try keepLostUnits()
    try session.openBelowLost()
  }

  /// Marks all rows with pending changes for the check in `finish`. A migration may have left rows that their tables
  /// forbid.
  func checkAllPending() throws {
    for rows in tables where pending[rows.schema.name] != nil {
      try PreImageStore.each(rows.table, since: .zero, in: session.database) { key, _, current in
        if current != nil { mixed.append((rows, key)) }
      }
    }
  }

  /// Undoes pending changes if, combined with the hub's changes, they give a row that the table forbids. An app could
  /// no longer update such a row.
  private func takeBackForbidden() throws {
    if mixed.isEmpty, forbidden.isEmpty { return }
    try session.database.withChecks {
      var isCheckable: [Name: Bool] = [:]
      for (rows, key) in mixed {
        // A CHECK may need a function that is missing here. In that case, only the hub checks the row.
        let isChecked = try isCheckable[rows.name] ?? rows.isCheckable()
        isCheckable[rows.name] = isChecked
        if !isChecked { continue }
        if try rows.breaksCheck(key) { forbidden.append((rows, key)) }
      }
    }
    mixed = []
    for (rows, key) in forbidden {
      guard let images = try pending[rows.schema.name]?.images(of: key), let first = images.first else { continue }
      // No policy settles this conflict, because the change waits at the hub until it fits there.
      let loss = Disagreement(kind: .constraint, state: .open)
      try enter(takeBack(images, of: key, to: first.hubRow, as: loss, met: first.hubRow, in: rows))
    }
  }

  /// Undoes this device's delete of a row, because a row from the hub refers to that row. The delete is recorded as a
  /// conflict.
  private func bringBack(_ parent: RestoredParents.Parent) throws {
    guard let row = parent.images.first?.hubRow, try parent.rows.row(parent.key) == nil else { return }
    let loss = Disagreement(kind: .foreignKey, state: .open)
    deletedChildren.note(parent.images, of: parent.rows.schema)
    try enter(takeBack(parent.images, of: parent.key, to: row, as: loss, met: row, in: parent.rows))
    written += 1
  }

  /// Restores a row that was deleted together with its parent, after the parent's delete is undone. The parent's
  /// conflict covers both rows.
  private func bringBack(_ child: DeletedChildren.Child) throws {
    guard try child.rows.row(child.key) == nil else { return }
    if let last = child.images.last, units?.contains(child.rows.name, child.key, last.generation) == true {
      let loss = Disagreement(kind: .foreignKey, state: .open)
      let row = child.images.first?.hubRow
      deletedChildren.note(child.images, of: child.rows.schema)
      try enter(takeBack(child.images, of: child.key, to: row, as: loss, met: row, in: child.rows))
      written += 1
      return
    }
    try exported?.willWrite(child.key, child.images, over: nil, in: child.rows.schema)
    restoredParents.note(child.row, over: nil, of: child.rows.schema)
    deletedChildren.note(child.images, of: child.rows.schema)
    try enter(
      Blocked(
        table: child.rows, key: child.key, row: child.row, stamp: child.images.last?.stamp ?? .zero, isHubs: true))
    written += 1
  }

  /// Undoes pending changes that make a row refer to a row which this import removed. The row gets the values that the
  /// hub sends. Its changes are recorded as conflicts, like the changes of a deleted row.
  private func takeBack(_ orphan: RowsWithoutParent.RowWithoutParent) throws {
    let (rows, images) = (orphan.rows, try pending[orphan.rows.schema.name]?.images(of: orphan.key) ?? [])
    guard let first = images.first else { return }
    // If another row keeps the parent out, a new child is held, and comes back together with its parent.
    let loss = Disagreement(kind: .foreignKey, state: orphan.isBelowKeptRow && first.hubRow == nil ? .held : .open)
    try enter(
      takeBack(
        images, of: orphan.key, to: first.hubRow, as: loss, met: first.hubRow, in: rows,
        departure: orphan.isBelowKeptRow ? .kept : .gone))
    if first.hubRow != nil { written += 1 }
  }

  /// Removes a row, so that the hub's last version can replace it. Records each lost pending change as a conflict.
  /// Returns the row that the caller must write; nil: none.
  func takeBack(
    _ images: [PreImage], of key: RowKey, to row: Row?, as disagreement: Disagreement, met: Row?, in rows: RowTable,
    departure: RowsWithoutParent.Departure = .gone
  ) throws -> Blocked? {
    let current = try rows.row(key)
    try exported?.willWrite(key, images, over: current, in: rows.schema)
    for (image, change) in changes(from: images, to: current) {
      try note(disagreement, of: change, image: image, key: key, met: met, in: rows)
    }
    noteFiles(from: current, to: row, in: rows)
    let calm = images.map { $0.with(row: row) }
    try PreImageStore.replace(calm, of: key, in: rows.table, database: session.database)
    // The row leaves first: another pending row may hold the UNIQUE values to which it goes back.
    // The caller writes the row when these values are free.
    try rows.write(nil, over: current, key: key)
    guard let row else {
      if let current {
        removed += 1
        orphans.note(current, of: rows.schema, departure)
        departed?.note(current, of: rows.schema)
      }
      return nil
    }
    restoredParents.note(row, over: current, of: rows.schema)
    if let current { departed?.note(current, becoming: row, of: rows.schema) }
    return Blocked(table: rows, key: key, row: row, stamp: images.last?.stamp ?? .zero, isHubs: true)
  }
}
