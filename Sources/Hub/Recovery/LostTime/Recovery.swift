import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelMerge
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The result of merging the lost time.
public struct RecoveryReport: Sendable {
  /// The number of emissions whose rows were merged.
  public var emissions = 0
  /// The number of rows that came back, wholly or in part.
  public var rows = 0
  /// The number of settled conflicts that keep a value beside a newer value.
  public var kept = 0
  /// The number of rows with a counter or a set that had another value in the lost time. The hub's own changes of that
  /// time are missing in it.
  public var counts = 0
  /// The number of rows with a counter or a set that came back as a whole. The devices' changes of that time are in
  /// them. A change that comes later may be one of these.
  public var whole = 0
  /// The number of attached files that came back.
  public var files = 0
  /// Those of them that are kept beside a present file.
  public var beside: [ArrivingAttachments.Arrival] = []
  /// The number of rows that a device lost in the lost time. A person checks them.
  public var gone = 0
  /// The number of changes that waited for rows which no device delivered again.
  public var abandoned = 0
  /// The number of collected bundles whose files are missing or damaged. Their changes are not merged.
  public var unreadable = 0

  public init() {}
}

/// The recovery of the lost time. A restored or set-back hub gets its own signed emissions from that time from the
/// devices' archives.
///
/// The hub merges these emissions after every device has delivered again. An earlier merge would bring in whole rows,
/// and then the devices' own changes of these rows would count twice.
extension HubWorkspace {
  /// Merges the collected emissions now, without the devices that have not delivered yet. Throws a `WorkspaceError` if
  /// there is nothing to recover.
  public func finishRecovery() throws -> RecoveryReport {
    try applying { store in
      guard try store.isRecovering() else {
        throw WorkspaceError(
          .noRecovery,
          "This hub collects nothing from the devices: it was not set back, or everything is merged already.")
      }
      return try finishRecovery(store)
    }
  }

  /// Whether the lost time can be merged. Every active device must have delivered in this epoch and brought all its
  /// emissions from the lost time. All of these emissions must be readable.
  func isRecoveryComplete(_ store: HubStore) throws -> Bool {
    guard try store.isRecovering() else { return false }
    let silent = try store.devices().contains { $0.state == .active && $0.proved < store.identity.firstEmission }
    return try !silent && store.awaitedEmissions().isEmpty && unreadableLost(store).isEmpty
  }

  /// Merges the collected emissions and ends the recovery. The caller holds a transaction without triggers.
  func finishRecovery(_ store: HubStore) throws -> RecoveryReport {
    let recovery = try Recovery(self, store)
    let emissions = try store.lostEmissionsToMerge()
    try recovery.learnKeys(of: emissions)
    for (rank, emission) in emissions.enumerated() { try recovery.merge(emission, rank) }
    for (rank, emission) in emissions.enumerated() { try recovery.noteGone(emission, rank) }
    try recovery.bringFilesBack(from: emissions)
    try recovery.finish()
    return recovery.report
  }
}

/// One merge of the lost time.
private final class Recovery {
  private let hub: HubWorkspace
  private let store: HubStore
  private let now: Int64
  private let staging: StagingFolder
  private let known: BaselineRows
  private let former: FormerColumns
  private let seen: SeenRows
  private let redelivered: RedeliveredRows
  private var keys: PrimaryKeyMap
  /// The hub's cursor when the first emission was merged.
  private var begin = Cursor.zero
  private var unreadable: Set<String> = []
  /// The ranks of the emissions that took rows away from their device.
  private var takingAway: Set<Int> = []
  private(set) var report = RecoveryReport()

  init(_ hub: HubWorkspace, _ store: HubStore) throws {
    self.hub = hub
    self.store = store
    now = hub.platform.clock.milliseconds()
    staging = try StagingFolder(in: hub.folder.inbox, platform: hub.platform)
    known = try BaselineRows(at: staging.file("columns.sqlite"), like: store.database, tables: store.tables)
    former = try VersionTable.columns(in: store.database)
    seen = try SeenRows(store)
    redelivered = try RedeliveredRows(store)
    keys = PrimaryKeyMap(try PrimaryKeyReferences(store.tables), store.tables)
  }

  /// Finds the keys that rows had in the lost time and that differ from their keys here. If a change waits for such a
  /// row, the change then waits for the row's key here.
  func learnKeys(of emissions: [LostEmission]) throws {
    for emission in emissions {
      guard let file = emission.file else { continue }
      guard let bundle = try believedBundle(file) else { continue }
      for entry in try store.otherKeys(of: bundle, emission.link.number) { keys.add(entry) }
    }
    if !keys.isEmpty { try moveWaiting() }
    begin = try store.cursor()
  }

  private func moveWaiting() throws {
    for record in try ConflictTable.list([.held], in: store.database).map(\.record) {
      guard let place = store.place(of: record.table) else { continue }
      let moved = keys.record(record, of: place)
      if moved != record { try ConflictTable.rename(moved, in: store.database) }
    }
    _ = try HeldRows(store, now: now).release()
  }

  /// Returns the bundle of a collected emission. nil if its file is missing or damaged. nil also if the signing key was
  /// lost after the emission was collected, because then its author is unknown.
  private func believedBundle(_ file: String) throws -> VerifiedBundle? {
    do {
      return try hub.believedLost(file, store)
    } catch BundleError.unknownKey { return nil } catch is BundleError {} catch PlatformError.missing {}
    unreadable.insert(file)
    return nil
  }

  /// Merges the rows of one emission. The newest emission comes first, so an older emission does not overrule a newer
  /// emission.
  /// - Parameter rank: 0 for the newest emission.
  func merge(_ emission: LostEmission, _ rank: Int) throws {
    guard let file = emission.file, let bundle = try believedBundle(file),
      let ranked = RankedEmission(emission, bundle.manifest, rank: rank)
    else { return }
    known.expect(version: bundle.manifest.version, former)
    if let path = bundle.path(of: .snapshot) { try mergeRows(of: Database.untrusted(path: path), ranked) }
    try bundle.eachChange { line in
      guard let place = store.place(of: line.table), let table = known.table(line.table) else { return }
      switch line.content {
      case .row(let fields):
        table.expect(columns: fields.map(\.name))
        try merge(table.row(of: fields), at: line.stamp, in: place, ranked)
      case .gone: takingAway.insert(rank)
      case .insert, .update, .delete, .rekey, .block: break
      }
    }
    report.emissions += 1
  }

  private func mergeRows(of snapshot: borrowing Database, _ emission: RankedEmission) throws {
    for (place, table) in known.tables.enumerated() {
      guard let columns = try table.table.carriedColumns(in: snapshot) else { continue }
      table.expect(columns: columns)
      try snapshot.each("SELECT \(quotedList(columns)) FROM \(quoted(table.name))") {
        let values = $0.values(from: 0, count: columns.count)
        let row = table.row(of: zip(columns, values).map { Field($0, $1) })
        let stamp = try SnapshotBuilder.stamp(of: table.schema.key(of: row), in: table.name, database: snapshot)
        try merge(row, at: stamp, in: place, emission)
      }
    }
  }

  /// Returns the scope of the user of the emission's device. nil if the device was removed.
  private func visibility(for device: ReplicaID) throws -> ScopeStore? {
    guard let device = try store.device(device) else { return nil }
    return ScopeStore(store, user: try store.user(device.user) ?? User(name: device.user, attributes: []))
  }

  // MARK: one row

  private func merge(_ lost: Row, at stamp: Stamp, in place: Int, _ emission: RankedEmission) throws {
    let row = keys.row(lost, of: place)
    let key = store.rows[place].schema.key(of: row)
    let hub = try store.rows[place].row(key)
    let past = try store.past(of: key, in: place)
    let isNewest = try past.map { try !seen.contains($0.number, in: place, laterThan: emission) } ?? true
    if let past { try seen.note(past.number, in: place, of: emission) }
    guard let hub else { return try bringBack(row, key, at: stamp, past, in: place, emission) }
    if hub == row { return }
    let present = try knownValues(of: past, in: place, since: stamp)
    func isKnown(_ column: Int) -> Bool { present.values[column, default: []].contains(row[column]) }
    let differing = row.values.indices.filter { hub[$0] != row[$0] }
    let counters = differing.filter { store.rows[place].rules.countsDifferences(of: $0) }
    // The devices deliver their own changes of counters again, so an older value is one of many that a counter had on
    // the way.
    let counts = isNewest ? counters.filter { !isKnown($0) } : []
    var kept = Dictionary(uniqueKeysWithValues: counts.map { ($0, Winner.hub) })
    var changes: [ColumnChange] = []
    for column in differing where !counters.contains(column) {
      if !present.columns.contains(column) {
        changes.append(ColumnChange(column: column, was: hub[column], value: row[column]))
      } else if !isKnown(column) {
        kept[column] = .hub
      }
    }
    if !changes.isEmpty, try !write(.update(changes), key, over: hub, at: stamp, past, in: place) {
      for change in changes { kept[change.column] = .hub }
    }
    if !counts.isEmpty { report.counts += 1 }
    if !kept.isEmpty {
      let lost = kept.keys.sorted().map { ColumnChange(column: $0, was: hub[$0], value: row[$0]) }
      try note(
        Disagreement(kind: .updateUpdate, state: .settled, winners: kept), .update(lost), key, at: stamp, hub,
        in: place, emission.words)
    }
  }

  /// Brings back a whole row that this hub lacks. If the row was deleted later or cannot be written, a settled conflict
  /// keeps it.
  private func bringBack(
    _ row: Row, _ key: RowKey, at stamp: Stamp, _ past: RowNumbers.Entry?, in place: Int, _ emission: RankedEmission
  ) throws {
    if try redelivered.contains(row, in: place, of: store) { return }
    let isLater = past.map { $0.stamp == .zero || stamp > $0.stamp } ?? true
    if isLater, try write(.insert(row), key, over: nil, at: stamp, past, in: place) {
      try noteWhole(key, at: stamp, in: place, emission)
      // A device deleted the row without knowledge of this state of the row.
      guard let past, past.stamp > .zero else { return }
      let verdict = decide(store.rows[place].rules.table, device: .zero, hub: stamp)
      try note(
        Disagreement(kind: .deleteUpdate, state: verdict.state), .delete(was: row), key, at: past.stamp, row, in: place,
        "\(emission.words) An older deletion of it came from a device.")
      return
    }
    try note(
      Disagreement(kind: .updateDelete, state: .settled), .insert(row), key, at: stamp, nil, in: place, emission.words)
  }

  /// Records that a row is back as a whole. Its counters and sets are from the lost time.
  private func noteWhole(_ key: RowKey, at stamp: Stamp, in place: Int, _ emission: RankedEmission) throws {
    guard let number = try store.numbers[place].number(of: key) else { return }
    try seen.note(number, in: place, of: emission)
    try store.rememberRecovered(number, in: place, at: stamp)
    if !store.rows[place].countedColumns.isEmpty { report.whole += 1 }
  }

  /// Writes a change from the lost time as the hub's own change. Returns false, with no effect, if an obstacle prevents
  /// the change.
  private func write(
    _ change: Change, _ key: RowKey, over hub: Row?, at stamp: Stamp, _ past: RowNumbers.Entry?, in place: Int
  ) throws -> Bool {
    var target = hub
    switch change {
    case .insert(let row): target = row
    case .update(let changes): for change in changes { target?[change.column] = change.value }
    case .delete: target = nil
    }
    var parents = ParentCache()
    if try store.brokenReference(of: target, from: hub, in: place, using: &parents) != nil { return false }
    do { try store.database.savepoint { try store.rows[place].write(target, over: hub, key: key) } } catch let error
      as SQLiteError
      where error.kind == .unique || error.kind == .constraint
    { return false }
    let origin = Origin(
      device: nil, user: HubWorkspace.hubUser, stamp: stamp, bundle: nil, returnsToAuthor: false, at: now)
    try store.log(change, of: key, with: past, in: place, from: origin)
    try Capture.witness(stamp, in: store.database)
    report.rows += 1
    return true
  }

  /// Returns the columns that were changed since this epoch began, or later than a row of the lost time. Also returns
  /// the old and new values of these changes, from the log. Before the epoch began, people may have worked at this hub
  /// without knowing that it was set back.
  private func knownValues(of past: RowNumbers.Entry?, in place: Int, since stamp: Stamp) throws -> (
    columns: Set<Int>, values: [Int: [Value]]
  ) {
    var columns: Set<Int> = []
    var values: [Int: [Value]] = [:]
    let schema = store.rows[place].schema
    try store.eachChange(of: past) { entry in
      guard entry.cursor > store.identity.epochCursor || entry.stamp > stamp else { return .more }
      columns.formUnion(entry.columns(in: schema))
      for field in try (entry.set ?? []) + (entry.was ?? []) {
        if let column = schema.position(of: field.name) { values[column, default: []].append(field.value) }
      }
      return .more
    }
    return (columns, values)
  }

  // MARK: rows that were lost

  /// Records the rows that an emission took away from its device. The rows of all emissions are merged before that, so
  /// rows that came back are here again.
  func noteGone(_ emission: LostEmission, _ rank: Int) throws {
    guard takingAway.contains(rank), let file = emission.file, let bundle = try believedBundle(file),
      let ranked = RankedEmission(emission, bundle.manifest, rank: rank),
      let scope = try visibility(for: emission.device)
    else { return }
    try bundle.eachChange { line in
      guard case .gone = line.content, let place = store.place(of: line.table) else { return }
      try noteGone(keys.key(line.key, of: place), in: place, scope, ranked)
    }
  }

  /// Records a conflict about a row that the device lost in the lost time. A deletion looks the same as a row that left
  /// the scope, so a person checks it. No conflict is necessary in three cases. A newer emission has the row, or the
  /// user does not see the row now, or the row was written since.
  private func noteGone(_ key: RowKey, in place: Int, _ scope: ScopeStore, _ emission: RankedEmission) throws {
    guard let row = try store.rows[place].row(key), let past = try store.past(of: key, in: place),
      try scope.maySee(key, in: place), try !isWrittenSince(past),
      try !seen.contains(past.number, in: place, laterThan: emission)
    else { return }
    let isNew = try note(
      Disagreement(kind: .deleteUpdate, state: .open), .delete(was: row), key, at: past.stamp, row, in: place,
      """
      \(emission.words) The row was missing in that bundle. It was deleted, or the user was no longer allowed to see it.
      """)
    if isNew { report.gone += 1 }
  }

  /// Whether a row was written in this epoch before this merge.
  private func isWrittenSince(_ past: RowNumbers.Entry) throws -> Bool {
    var isWritten = false
    try store.eachChange(of: past, after: store.identity.epochCursor) { entry in
      isWritten = entry.cursor <= begin
      return isWritten ? .enough : .more
    }
    return isWritten
  }

  /// - Returns: whether the conflict is new.
  @discardableResult private func note(
    _ disagreement: Disagreement, _ change: Change, _ key: RowKey, at stamp: Stamp, _ met: Row?, in place: Int,
    _ words: String
  ) throws -> Bool {
    let record = ConflictRecord(
      disagreement, of: change, at: stamp, generation: .zero, key: key, in: store.rows[place].schema, met: met,
      device: store.identity.id, user: HubWorkspace.hubUser, note: words)
    let isNew = try ConflictTable.add(record, bundle: nil, noted: now, told: 0, in: store.database)
    if isNew, disagreement.state == .settled { report.kept += 1 }
    return isNew
  }

  // MARK: files

  /// Puts back the attached files that rows name. The rows of all emissions are merged before that.
  func bringFilesBack(from emissions: [LostEmission]) throws {
    let lost = LostAttachments(hub, store)
    for file in lost.areAny ? emissions.compactMap(\.file) : [] {
      if let bundle = try believedBundle(file) { try lost.bringBack(from: bundle) }
    }
    (report.files, report.beside) = (lost.count, lost.beside)
  }

  // MARK: the end

  /// Ends the recovery. Opens the changes that waited for rows which no device delivered again.
  func finish() throws {
    // Changes that waited for a row that is back now are compared with that row. It may contain them already.
    _ = try HeldRows(store, now: now).release()
    report.abandoned = try ConflictTable.openAwaiting(in: store.database)
    report.unreadable = unreadable.count
    try store.markLostEmissionsMerged()
    try store.forgetRemovedElements()
    try store.endRecovery()
    try seen.end()
  }
}
