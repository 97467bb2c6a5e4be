import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelDataset
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The transaction of an import, with everything that must be read before the transaction begins.
final class ScopeWriting {
  private let session: DeviceSession
  private let manifest: Manifest
  private let scope: Manifest.Scope
  private let handover: Handover?
  /// The upgrade to the dataset version of the bundle; nil: this device already has that version.
  private let upgrade: DeviceUpgrade?
  private let snapshot: Snapshot?
  private let lines: ChangeLines
  private let arriving: ArrivingAttachments
  private let unseen: UnseenRows
  /// Whether all rows were compared, and not only the rows of the bundle's lines.
  private let areAllCompared: Bool
  /// The unseen rows that this import turned into pending changes; nil: the import did not look for unseen rows.
  private let takenUp: Set<RowInTable>?
  /// The path of a copy of the database from before the import; nil: no copy was needed.
  private let copy: String?
  private let exported: ExportedRows
  private let witness: RowWitness
  /// The limits for the rows that the bundle removes; nil: there are no limits.
  private var brake: ScopeBrake?
  private var sealed: SealedChanges?
  /// Files that the former user's rows named.
  private var unnamed: Set<AttachmentPath> = []

  private var database: Database { _read { yield session.database } }
  private var state: DeviceState {
    get { session.state }
    set { session.state = newValue }
  }

  /// Which rows are compared with the hub's versions before the import overwrites them.
  enum Comparison {
    /// The rows of the bundle's lines, if these lines state the hub's versions.
    case lines
    /// All rows. The archive shows the hub's versions.
    case allRows
  }

  /// Rows without pending changes refer to rows that the bundle removed. The referring rows may have been written
  /// unseen.
  struct ChildrenStay: Error {}

  /// A row gave way to a row with a new key, and no line of the bundle shows whether it was written unseen.
  struct NotCompared: Error {}

  init(
    _ bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope, _ handover: Handover?, _ session: DeviceSession,
    comparing comparison: Comparison, migratingWith pendingRows: VersionStep.PendingRows, takenUp: Set<RowInTable>?
  ) throws {
    self.takenUp = takenUp
    let upgrade = try DeviceUpgrade(of: session, by: bundle, with: pendingRows)
    let snapshot =
      try upgrade == nil
      ? Snapshot.open(bundle, tables: session.tables, in: session.database) : Snapshot.open(beforeUpgrade: bundle)
    lines = try bundle.changeLines()
    try lines.readAhead()
    let attachments = DeviceAttachments(session)
    try attachments.sweep()
    arriving = try ArrivingAttachments(
      bundle, in: session.folder, platform: session.platform, runMode: session.workspace.runMode,
      action: attachments.action)
    // The hub's rows are accepted as they are, even if they break a CHECK.
    try session.database.execute("PRAGMA ignore_check_constraints = ON")
    let compared = try session.compareBeforeWritingOver(bundle.manifest, snapshot, upgrade, handover, comparison)
    unseen = compared.unseen ?? UnseenRows.none
    areAllCompared = compared.unseen != nil
    copy = try compared.needsCopy ? session.keepCopy(before: scope.number) : nil
    exported = ExportedRows(session)
    witness = RowWitness(exported)
    // In a rebuild, rows are not compared: they were compared when the bundles first came.
    if session.isRebuilt { witness.close() }
    // At a change of user no limits count, because the new user sees other rows.
    let isFree = session.removals == .accepted || session.isRebuilt || handover != nil
    brake = isFree ? nil : ScopeBrake(session.tables, of: session.dataset)
    manifest = bundle.manifest
    self.scope = scope
    self.handover = handover
    self.session = session
    self.upgrade = upgrade
    self.snapshot = snapshot
  }

  /// - Parameter path: the bundle's file.
  /// - Throws: `NotCompared` if all rows must be compared, `PendingRowsDoNotFit` if the migrations must run without the
  ///   pending changes, `ChildrenStay` if unseen rows must become pending changes. Nothing has changed then.
  func run(_ bundle: borrowing VerifiedBundle, from path: String) throws -> ImportReport {
    let runMode = session.workspace.runMode
    if upgrade != nil, handover != nil {
      // An upgrade changes tables with every trigger on, so the handover needs its own transaction.
      try database.applyTransaction(runMode, to: session.tables.map(\.name)) {
        try prepare(bundle)
        try state.save(in: database)
      }
    }
    var report = try session.keepingInArchive(bundle, from: path) {
      try parkingIfBraked(bundle, from: path) { try applyInTransaction(bundle, from: path) }
    }
    report.sealed = sealed
    report.copy = copy
    return report
  }

  private func applyInTransaction(_ bundle: borrowing VerifiedBundle, from path: String) throws -> ImportReport {
    let runMode = session.workspace.runMode
    guard let upgrade else {
      return try namingUnwritableTable {
        try database.applyTransaction(runMode, to: session.tables.map(\.name)) {
          try prepare(bundle)
          return try write(bundle, unseen)
        }
      }
    }
    return try upgrade.orPark(bundle, from: path) {
      try database.applyTransaction(runMode) {
        try acknowledge(bundle)
        return try upgrade.changeTables()
      } _: {
        try snapshot?.check(session.tables)
        return try write(bundle, upgrade.rowsBefore(unseen))
      }
    }
  }

  /// Runs `body`. If SQLite cannot write a table here at all, the error names the table, the reason and the way out.
  private func namingUnwritableTable(_ body: () throws -> ImportReport) throws -> ImportReport {
    do { return try body() } catch let error as SQLiteError where error.nameOfApp != nil {
      if let named = try UnwritableTable(error, among: session.tables, in: database) { throw named }
      throw error
    }
  }

  /// Runs `body`. If the bundle removes more rows than the limits allow, nothing is changed and the bundle waits.
  private func parkingIfBraked(
    _ bundle: borrowing VerifiedBundle, from path: String, _ body: () throws -> ImportReport
  ) throws -> ImportReport {
    do { return try body() } catch let refusal as Refusal where refusal.code == .brake {
      try session.workspace.park(bundle, from: path, because: refusal)
      throw refusal
    }
  }

  private func prepare(_ bundle: borrowing VerifiedBundle) throws {
    try acknowledge(bundle)
    if let handover { (sealed, unnamed) = try handover.seal() }
  }

  /// Logs the local writes, and deletes the pre-images of acknowledged changes.
  private func acknowledge(_ bundle: borrowing VerifiedBundle) throws {
    try session.reach(ImportWrite.acknowledgement)
    try Capture.settle(session.tables, in: database)
    // The file names in pending changes are recorded before the import applies its rows. The import may remove these
    // rows, and the next export would no longer find the names.
    try DeviceAttachments(session).noteChanges()
    let waiting = try WaitingRows(session, bundle, snapshot)
    let isNew = scope.acknowledged > state.acknowledged
    let isAnyForgotten = isNew || waiting.mayMatter
    if isNew { state.acknowledged = scope.acknowledged }
    // At a change of user, rows are not compared, because the sealed export carries the unseen writes.
    let isCompared = handover == nil
    if upgrade != nil, isCompared { try exported.willWriteAny() }
    guard isAnyForgotten else { return }
    try exported.acknowledge(
      before: session.acknowledgedGeneration, isWriting: isCompared && (snapshot != nil || manifest.changes > 0))
    let own = try waiting.forgetOthers()
    for row in waiting.kept { exported.keep(row.place) }
    brake?.own = own
    try Capture.forgetUnits(before: session.acknowledgedGeneration, in: database)
  }

  private func write(_ bundle: borrowing VerifiedBundle, _ unseen: UnseenRows) throws -> ImportReport {
    let now = session.platform.clock.milliseconds()
    let asked = try Set(ConflictTable.list([.open, .held], in: database).map(\.record.id))
    let (applier, rekeyed) = try writeRows(of: bundle, unseen)
    try checkBrake(after: applier)
    try session.reach(ImportWrite.keyBlocks)
    try PrimaryKeyCollisions.takeBlocks(
      of: bundle, after: state.received, session.tables, device: state.id, in: database)
    try session.reach(ImportWrite.conflicts)
    let told = try session.takeConflicts(of: bundle, scope, at: now)
    let kept = try session.keptRows().filter { !asked.contains($0.record.id) }
    try ConflictTable.forget(ofOthersThan: manifest.user, toldUpTo: state.base.rawValue, in: database)
    try ResolutionTable.forget(ofOthersThan: manifest.user, before: session.acknowledgedGeneration, in: database)
    if applier.removed > 0 { state.isUnwiped = true }
    let conflicts = applier.conflicts + exported.found.count
    try note(bundle, at: now, conflicts: conflicts)
    var report = ImportReport(
      manifest: manifest, verdict: .imported, written: applier.written, removed: applier.removed,
      conflicts: conflicts + (upgrade?.departed ?? 0), told: told, rekeyed: rekeyed)
    report.kept = kept
    report.tally = applier.tally
    report.found = Array((exported.found + applier.found).prefix(RowTally.mostShown))
    report.version = upgrade == nil ? nil : session.dataset.version
    try session.reach(ImportWrite.exportedRows)
    try exported.finish()
    try session.reach(ImportWrite.files)
    let attachments = DeviceAttachments(session)
    if upgrade != nil { try attachments.takeUpOthers(but: arriving) }
    try attachments.take(arriving, left: applier.unnamed.union(unnamed))
    report.note(arriving)
    return report
  }

  /// Throws a `Refusal` if the bundle removes more rows than the limits allow.
  private func checkBrake(after applier: ScopeApplier) throws {
    try brake?.check(applier.tally, manifest, in: database) {
      if scope.epoch == session.state.epoch { return nil }
      return try ReturningRows.count(among: applier.removedByEpoch, of: session, lostBefore: scope)
    }
  }

  // MARK: rows

  private func writeRows(
    of bundle: borrowing VerifiedBundle, _ unseen: UnseenRows
  ) throws -> (applier: ScopeApplier, rekeyed: [RenumberedRow]) {
    try session.reach(ImportWrite.ownRows)
    let misfits = try upgrade?.bringOwnRows() ?? []
    try session.reach(ImportWrite.primaryKeys)
    var collisions = try PrimaryKeyCollisions(session, scope, exported)
    var keys = try collisions.carryOut(bundle, snapshot)
    keys.stranded += misfits
    // Rows that migrations changed cannot be compared, because the hub's lines state the rows before the migrations.
    if upgrade != nil { witness.close() }
    try witness.note(keys, among: session.tables)
    let applier = try ScopeApplier(
      session, exported: exported, witness: witness, unseen: unseen, scope: scope, keys: keys)
    applier.refusedUnits = try session.refusedUnits(in: bundle)
    applier.takenUp = keys.following(takenUp ?? [])
    if upgrade != nil { try applier.checkAllPending() }
    try session.reach(ImportWrite.strandedRows)
    for stranded in keys.stranded { try applier.giveUp(stranded) }
    try session.reach(ImportWrite.snapshot)
    if let snapshot { try session.applyWhole(snapshot, with: applier) }
    try session.reach(ImportWrite.lines)
    try lines.each { try apply($0, with: applier) }
    if !areAllCompared, !applier.overwritten.isEmpty { throw NotCompared() }
    try applier.keepOverwritten()
    try session.reach(ImportWrite.unsentRows)
    if scope.extent == .delta { try upgrade?.putBack(with: applier) }
    try session.reach(ImportWrite.waitingRows)
    try applier.finish()
    if takenUp == nil, try applier.isAnyLeftWithoutParent() { throw ChildrenStay() }
    return (applier, keys.rekeyed)
  }

  private func apply(_ line: ChangeLine, with applier: ScopeApplier) throws {
    guard let rows = applier.rows(of: line.table) else { throw LineProblem("there is no table \(line.table) here") }
    switch line.content {
    case .row(let fields):
      let row = try rows.schema.rowOfHub(fields)
      guard rows.schema.key(of: row) == line.key else { throw LineProblem("its key is not its row's") }
      try upgrade?.note(row, of: line)
      try applier.apply(row, key: line.key, at: line.stamp, in: rows, expected: line.before, others: line.others)
    case .gone:
      try upgrade?.note(nil, of: line)
      try applier.apply(nil, key: line.key, at: line.stamp, in: rows, expected: line.before)
    case .rekey(_, let number): if number == scope.number { try upgrade?.note(nil, of: line) }
    case .block: break
    default: throw LineProblem("it is a line from a device")
    }
  }

  // MARK: records

  /// Records the state of this device after the import.
  private func note(_ bundle: borrowing VerifiedBundle, at now: Int64, conflicts: Int) throws {
    try session.reach(ImportWrite.dataset)
    if let definition = try bundle.dataset(limit: DatasetDefinition.maximumBytes) { state.definition = definition }
    try session.reach(ImportWrite.history)
    state.take(scope, digest: bundle.digest, signature: bundle.signature)
    state.takeProofWishes(of: manifest, scope)
    if scope.epoch != state.epoch {
      try session.noteBrought(to: scope)
      try session.begin(scope)
      try ConflictTable.reportOpenAgain(of: state.id, in: database)
      try RevokedKeys.join(manifest, into: &session.state, in: database)
    }
    try scope.noteHistory(in: database)
    try session.forgetBrought(scope.collected)
    try session.reach(ImportWrite.rights)
    state.user = manifest.user
    state.heard = now
    state.hubRecipient = manifest.recipient ?? state.hubRecipient
    try RevokedKeys.take(manifest, into: &session.state, in: database)
    try session.reach(ImportWrite.state)
    try state.save(in: database)
    try session.reach(ImportWrite.clock)
    try Capture.witness(manifest.stamp, in: database)
    try session.reach(ImportWrite.ledger)
    try Ledger.add(
      manifest, digest: bundle.digest, direction: .incoming, verdict: .imported, at: now,
      conflicts: Int64(conflicts), in: database)
  }
}
