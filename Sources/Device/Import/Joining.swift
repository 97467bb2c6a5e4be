import SatchelBundle
import SatchelCapture
import SatchelDataset
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The import of a first bundle into a database that already has rows. A site that worked alone joins a hub, or a
/// device joins another hub after it left its lost hub.
extension DeviceWorkspace {
  /// Whether the database has rows of the dataset, or capture that stayed when the device left its hub.
  func hasOwnRows(_ definition: DatasetDefinition) throws -> Bool {
    guard try platform.files.kind(databasePath) == .file else { return false }
    let database = try Database(path: databasePath, mode: .readWrite)
    if try configuration.joins && database.hasTable("satchel_capture") { return true }
    for rules in definition.tables {
      guard try database.tableInfo(rules.name) != nil else { continue }
      if try database.first("SELECT 1 FROM \(quoted(rules.name))", [:], { _ in true }) ?? false { return true }
    }
    return false
  }

  /// Records that this device's own rows are about to join the hub's rows. Without the record, the database would look
  /// like a file that another program put there.
  func noteJoining() throws {
    if runMode == .dryRun || configuration.joins { return }
    try platform.files.replace(
      folder.configuration, mode: 0o644, contents: configuration.with(joins: true, leaves: configuration.leaves).bytes)
  }

  /// Merges the rows of the bundle with the rows here, in one transaction.
  func join(
    with bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope, _ definition: DatasetDefinition
  ) throws -> ImportReport {
    let database = try Database(path: databasePath, mode: .readWrite)
    try database.prepareForCommand()
    let tables = try fittingTables(of: definition, in: database)
    guard let snapshot = try Snapshot.open(bundle, tables: tables, in: database) else {
      throw BundleError.manifest("it is full and has no snapshot.sqlite")
    }
    let arriving = try ArrivingAttachments(bundle, in: folder, platform: platform, runMode: runMode)
    let session = try DeviceSession(self, beginning: database, state(by: bundle.manifest, scope, definition), tables)
    if runMode == .commit { try trustSigner(of: bundle) }
    // The hub's rows are accepted as they are, even if they break a CHECK.
    try session.database.execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
    return try session.database.applyTransaction(runMode, to: tables.map(\.name)) {
      let undated = try session.beginWithOwnRows(bundle, scope, definition, snapshot)
      return try session.applyFirst(bundle, scope, arriving, snapshot, undated)
    }
  }

  /// Records that the first bundle is imported. From now on this is an ordinary device.
  func noteJoined() throws {
    // Until the copy of a tablet's database is back on the tablet, the rows there have not joined.
    if docking != nil { return }
    try setJoined()
  }

  /// Records in `satchel.json` that no rows wait to join.
  func setJoined() throws {
    // `satchel.json` is read again, because this command or a killed command may have changed it.
    if runMode == .dryRun { return }
    let present = try WorkspaceConfiguration.load(folder, role: .device, files: platform.files)
    if !present.joins { return }
    let joined = (docking == nil ? configuration : present).with(joins: false, leaves: nil)
    try platform.files.replace(folder.configuration, mode: 0o644, contents: joined.bytes)
  }

  private func fittingTables(of definition: DatasetDefinition, in database: borrowing Database) throws -> [TrackedTable]
  {
    let tables: [TrackedTable]
    do { tables = try TrackedTable.find(definition, in: database) } catch let error as DatasetError {
      throw Refusal(
        .schemaDiffers,
        "The rows of \(databasePath) cannot join: at \(error.place) of the dataset, \(error.problem).",
        hint: "Give its tables the same form as at the hub, then import the file again. Nothing was changed.")
    }
    for table in tables {
      let count = try table.namelessRows(in: database)
      if count == 0 { continue }
      throw Refusal(
        .schemaDiffers,
        "\(count) of the rows of \(table.name) have NULL in their key, so they cannot join.",
        hint: "Give them keys, or delete them, then import the file again. Nothing was changed.")
    }
    return tables
  }
}

extension DeviceSession {
  /// Adds Satchel's tables to the database, and records the rows that the hub lacks as pending changes. Returns the
  /// rows that `OwnRows.save` returns.
  fileprivate func beginWithOwnRows(
    _ bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope, _ definition: DatasetDefinition, _ snapshot: Snapshot
  ) throws -> Set<RowInTable> {
    let isCaptured = try database.hasTable("satchel_capture")
    let hasLeft = try LeftConflictTable.takeOut(of: database)
    let hasLeftExports = try LeftExportTable.takeOut(of: database)
    var own = OwnRows(tables)
    try own.takeCaptured(in: database)
    try workspace.addSatchel(to: database, tables, bundle, scope, definition)
    try Capture.witness(own.newest, in: database)
    if !isCaptured {
      try own.takeUncaptured(at: Capture.tick(now: platform.clock.milliseconds(), in: database), in: database)
    }
    guard let begun = try DeviceState.load(from: database) else { throw WorkspaceError.noHubKey(workspace) }
    state = begun
    if hasLeftExports, let last = try LeftExportTable.putBack(into: database) {
      // The former users' exports keep their numbers, and this device's own exports follow.
      state.sequence = last
      try Capture.begin(Generation(last.rawValue), in: database)
    }
    let undated = try own.save(as: Generation(state.sequence.rawValue), against: snapshot, in: database)
    if hasLeft { try LeftConflicts(session: self).takeUp(at: workspace.platform.clock.milliseconds()) }
    return undated
  }

  /// Applies the rows of the first bundle. The pending changes stay on top of these rows.
  fileprivate func applyFirst(
    _ bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope, _ arriving: borrowing ArrivingAttachments,
    _ snapshot: Snapshot, _ undated: Set<RowInTable>
  ) throws -> ImportReport {
    var collisions = try PrimaryKeyCollisions(self, scope, ExportedRows(self))
    let keys = try collisions.carryOut(bundle, snapshot)
    let applier = try ScopeApplier(self, keys: .init(stranded: keys.stranded))
    applier.undated = undated
    for stranded in keys.stranded { try applier.giveUp(stranded) }
    try applyWhole(snapshot, with: applier)
    try applier.finish()
    try workspace.takeBlocks(of: bundle, tables, in: database)
    if applier.removed > 0 { state.isUnwiped = true }
    try state.save(in: database)
    try workspace.begin(arriving, tables, dataset, in: database)
    var report = ImportReport(
      manifest: bundle.manifest, verdict: .imported, written: applier.written, removed: applier.removed,
      conflicts: applier.conflicts, rekeyed: keys.rekeyed)
    report.tally = applier.tally
    report.found = applier.found
    report.joined = try PreImageStore.countSteps(tables, since: .zero, unsent: .zero, in: database).tables
    report.note(arriving)
    return report
  }
}
