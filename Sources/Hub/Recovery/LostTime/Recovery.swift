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

/// The recovery of the lost time. Devices bring back the emissions that the hub signed and lost.
///
/// The hub merges these emissions after every device has delivered its changes again. The emissions contain whole rows.
/// If they came first, the devices' own changes of these rows would count twice.
extension HubWorkspace {
  /// Merges the collected emissions now, without waiting for the other devices. Throws a `WorkspaceError` if there is
  /// nothing to recover.
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

  /// Whether the lost time can be merged. Every active device with keys must have delivered in this epoch, and must
  /// have brought all its emissions from the lost time. All of these emissions must be readable, and must not need a
  /// later version of the dataset. If the hub is known to be set back, the result is false.
  func isRecoveryComplete(_ store: HubStore) throws -> Bool {
    guard try store.isRecovering(), try store.setBack() == nil else { return false }
    guard try store.silentDevices().isEmpty && store.awaitedEmissions().isEmpty else { return false }
    let lost = try inspectLost(store)
    return lost.unreadable.isEmpty && lost.version <= store.dataset.version
  }

  /// Merges the collected emissions and ends the recovery. The caller holds a transaction in which triggers are off.
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
  /// The hub's cursor before the merge of the first emission.
  private(set) var begin = Cursor.zero
  /// For each emission: the cursor up to which the lost time certainly had the changes in this hub's log.
  private var common = CommonCursors()
  private var unreadable: Set<String> = []
  /// The ranks of the emissions that removed rows from their device.
  private var takingAway: Set<Int> = []
  /// By the rank of an emission: the tables of which the emission shows all rows that its user could see.
  private var wholeTables: [Int: [Int]] = [:]
  /// The rows that wait for rows of other emissions. Rows of newer emissions come first.
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

  /// Finds the rows whose keys in the lost time differ from their keys now. Changes that wait for the lost key of such
  /// a row then wait for its present key.
  ///
  /// Also finds out which known emissions the collected emissions may follow.
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
  /// lost after the hub collected the emission, because then its author is unknown.
  private func believedBundle(_ file: String) throws -> VerifiedBundle? {
    do {
      return try hub.believedLost(file, store)
    } catch BundleError.unknownKey { return nil } catch is BundleError {} catch PlatformError.missing {}
    unreadable.insert(file)
    return nil
  }

  /// Merges the rows of one emission. The caller passes the newest emission first, so that older emissions do not
  /// replace newer values.
  /// - Parameter rank: the emission's place in this order, 0 for the newest emission.
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

  /// Throws if an emission is of a later version of the dataset than this hub. Otherwise the values of new columns
  /// would be lost.
  private func checkVersion(of manifest: Manifest) throws {
    if manifest.version <= store.dataset.version { return }
    throw WorkspaceError(
      .newerDataset,
      """
      A bundle of the lost time is of version \(manifest.version) of the dataset, and this hub has version \
      \(store.dataset.version).
      """, hint: "First: satchel-hub dataset apply, with the definition of version \(manifest.version).")
  }

  /// Returns the present scope of the user for whom the emission was made. The device may have another user by now. nil
  /// if the device was removed.
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

  /// Records the rows that an emission removed from its device. The caller has merged the rows of all emissions before,
  /// so rows that came back are in the hub's tables.
  func noteGone(_ emission: LostEmission, _ rank: Int) throws {
    let places = wholeTables[rank] ?? []
    guard takingAway.contains(rank) || !places.isEmpty, let file = emission.file,
      let bundle = try believedBundle(file), let ranked = try ranked(emission, bundle.manifest, rank),
      let scope = try scope(of: emission, ranked)
    else { return }
    // With other visibility rules, a missing row means nothing.
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

  /// Puts back the attached files that rows name. The caller has merged the rows of all emissions before.
  func bringFilesBack(from emissions: [LostEmission]) throws {
    let lost = LostAttachments(hub, store)
    for file in lost.areAny ? emissions.compactMap(\.file) : [] {
      if let bundle = try believedBundle(file) { try lost.bringBack(from: bundle) }
    }
    (report.files, report.beside) = (lost.count, lost.beside)
  }

  // MARK: the end

  /// Ends the recovery. Changes that wait for rows which no device delivered become open conflicts.
  func finish() throws {
    // This merges the changes whose rows came back. A row that came back may already contain such a change.
    _ = try HeldRows(store, now: now).release()
    report.abandoned = try ConflictTable.openAwaiting(in: store.database)
    report.unreadable = unreadable.count
    try store.markLostEmissionsMerged()
    try store.forgetKnownWrites()
    try store.endRecovery()
    try seen.end()
  }
}
