import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelCrypto
import SatchelMerge
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

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
      try refuseSetBack(store)
      guard try store.isRecovering() else {
        throw WorkspaceError(
          .noRecovery,
          "This hub collects nothing from the devices: it was not set back, or everything is merged already.")
      }
      return try finishRecovery(store)
    }
  }

  /// Whether the lost time can be merged. Every active device with keys must have delivered in this epoch and brought
  /// all its emissions from the lost time. All of these emissions must be readable, and of no later version of the
  /// dataset. A hub that is known to be set back merges nothing.
  func isRecoveryComplete(_ store: HubStore) throws -> Bool {
    guard try store.isRecovering(), try store.setBack() == nil else { return false }
    guard try store.silentDevices().isEmpty && store.awaitedEmissions().isEmpty else { return false }
    let lost = try inspectLost(store)
    return lost.unreadable.isEmpty && lost.version <= store.dataset.version
  }

  /// Merges the collected emissions and ends the recovery. The caller holds a transaction without triggers.
  func finishRecovery(_ store: HubStore) throws -> RecoveryReport {
    let recovery = try Recovery(self, store)
    let emissions = try store.lostEmissionsToMerge()
    try recovery.learn(from: emissions)
    for (rank, emission) in emissions.enumerated() { try recovery.merge(emission, rank) }
    try recovery.mergeWaiting()
    for (rank, emission) in emissions.enumerated() { try recovery.noteGone(emission, rank) }
    try recovery.bringFilesBack(from: emissions)
    try recovery.finish()
    return recovery.report
  }
}

/// One merge of the lost time.
final class Recovery {
  private let hub: HubWorkspace
  let store: HubStore
  let now: Int64
  private let staging: StagingFolder
  let known: BaselineRows
  private let former: FormerColumns
  let seen: SeenRows
  let redelivered: RedeliveredRows
  private(set) var keys: PrimaryKeyMap
  /// The hub's cursor when the first emission was merged.
  private(set) var begin = Cursor.zero
  /// The cursors up to which the lost time certainly had the changes of this hub's log.
  private var common = CommonCursors()
  private var unreadable: Set<String> = []
  /// The ranks of the emissions that took rows away from their device.
  private var takingAway: Set<Int> = []
  /// The tables of which an emission shows all rows that its user saw, by the emission's rank.
  private var wholeTables: [Int: [Int]] = [:]
  /// The rows that wait for rows of other emissions, the newest emission first.
  var waiting: [LostRow] = []
  /// The newest waiting version of each row. The older versions wait behind it.
  var newestWaiting: [StepMerger.RowReference: LostRow] = [:]
  var report = RecoveryReport()

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
  ///
  /// Also finds the emissions of this hub on which these emissions build.
  func learn(from emissions: [LostEmission]) throws {
    var followed: [Digest: [Digest]] = [:]
    for emission in emissions {
      guard let file = emission.file else { continue }
      guard let bundle = try believedBundle(file) else { continue }
      if case .scope(let scope) = bundle.manifest.body {
        followed[emission.link.digest] = (scope.follows ?? []).map(\.digest)
      }
      for entry in try store.otherKeys(of: bundle, emission.link.number) { keys.add(entry) }
    }
    common = CommonCursors(
      of: emissions.reversed().map(\.link.digest), following: followed, known: try store.formerEmissionCursors())
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
      let ranked = try ranked(emission, bundle.manifest, rank)
    else { return }
    try checkVersion(of: bundle.manifest)
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
      wholeTables[emission.rank, default: []].append(place)
    }
  }

  private func ranked(_ emission: LostEmission, _ manifest: Manifest, _ rank: Int) throws -> RankedEmission? {
    guard case .scope(let scope) = manifest.body else { return nil }
    let ofFiles = try store.isEpochOfFiles(scope.epoch)
    return RankedEmission(
      emission, manifest, scope.epoch, rank: rank, isOfFiles: ofFiles, common: common[emission.link.digest])
  }

  /// Throws if a bundle is of a later version of the dataset: columns that this hub does not have would be left out.
  private func checkVersion(of manifest: Manifest) throws {
    if manifest.version <= store.dataset.version { return }
    throw WorkspaceError(
      .newerDataset,
      """
      A bundle of the lost time is of version \(manifest.version) of the dataset, and this hub has version \
      \(store.dataset.version).
      """, hint: "First: satchel-hub dataset apply, with the definition of version \(manifest.version).")
  }

  /// Returns the present scope of the user whose rows an emission shows. By now the device may belong to another user.
  /// nil if the device was removed.
  private func scope(of emission: LostEmission, _ ranked: RankedEmission) throws -> ScopeStore? {
    guard try store.device(emission.device) != nil else { return nil }
    return try ScopeStore(store, userNamed: ranked.user)
  }

  /// - Returns: whether the conflict is new.
  @discardableResult func note(
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

  // MARK: rows that were lost

  /// Records the rows that an emission took away from its device. The rows of all emissions are merged before that, so
  /// rows that came back are here again.
  func noteGone(_ emission: LostEmission, _ rank: Int) throws {
    let places = wholeTables[rank] ?? []
    guard takingAway.contains(rank) || !places.isEmpty, let file = emission.file,
      let bundle = try believedBundle(file), let ranked = try ranked(emission, bundle.manifest, rank),
      let scope = try scope(of: emission, ranked)
    else { return }
    // Other rules may have shown other rows.
    for place in places where try showed(place, byPresentRulesIn: ranked.version, scope) {
      try noteMissing(in: place, scope, ranked)
    }
    guard takingAway.contains(rank) else { return }
    try bundle.eachChange { line in
      guard case .gone = line.content, let place = store.place(of: line.table) else { return }
      try noteGone(keys.key(line.key, of: place), in: place, scope, ranked)
    }
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
    try store.forgetKnownWrites()
    try store.endRecovery()
    try seen.end()
  }
}
