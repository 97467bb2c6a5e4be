import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelDataset
import SatchelMerge
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// How a device handles the migrations that a bundle brings.
public enum BroughtMigrations: Sendable {
  case run
  /// The app has changed its tables by itself, to the form that the migrations would produce.
  case doneByApp
}

/// A bundle that brings this device to a later version of the dataset. One transaction runs its migrations and then
/// applies its rows.
///
/// Rows come from the hub, and pending changes stay as they were. If a migration writes into rows that the hub does not
/// mention, these writes are undone. A device has only a part of the rows, and a value that is computed from a part may
/// be wrong.
///
/// If the migrations fail because of pending changes, they run without these changes. Afterwards each pending change
/// that does not fit the new tables becomes a conflict.
final class DeviceUpgrade {
  private let session: DeviceSession
  private let manifest: Manifest
  private let definition: DatasetDefinition
  private let migrations: [Migration]
  private let folder: StagingFolder
  private let pendingRows: VersionStep.PendingRows
  private var step: VersionStep?
  /// The number of pending changes in tables that left the dataset.
  private(set) var departed = 0

  private var database: Database { _read { yield session.database } }

  /// The migrations fail, possibly because of this device's pending changes. Nothing has changed.
  struct PendingRowsDoNotFit: Error {}

  /// nil if the bundle has the version of this device.
  init?(
    of session: DeviceSession, by bundle: borrowing VerifiedBundle, with pendingRows: VersionStep.PendingRows
  ) throws {
    let manifest = bundle.manifest
    if manifest.version == session.dataset.version { return nil }
    guard let source = try bundle.dataset(limit: DatasetDefinition.maximumBytes) else {
      throw BundleError.manifest("it is of another version of the dataset, and has no dataset.json")
    }
    let definition = try DatasetDefinition(json: source)
    guard definition.version == manifest.version else {
      throw BundleError.manifest("its dataset.json is of version \(definition.version)")
    }
    let brought = try bundle.migrations().filter { $0.version > session.dataset.version }
    let folder = try StagingFolder(in: session.folder.inbox, platform: session.platform)
    self.session = session
    self.manifest = manifest
    self.definition = definition
    migrations = session.migrations == .run ? brought : []
    self.folder = folder
    self.pendingRows = pendingRows
  }

  // MARK: tables

  /// Runs the migrations and reinstalls capture on the tables. Returns the tables' names.
  func changeTables() throws -> [Name] {
    let leaving = session.tables.filter { definition.rules(for: $0.name) == nil }
    for table in leaving { try keepConflicts(of: table) }
    let step = try VersionStep(
      from: session.tables, to: definition, .complete, by: migrations, with: pendingRows,
      within: TimeLimit(milliseconds: Migration.longestAtDevice, by: session.platform.clock),
      in: database, keeping: folder)
    for table in leaving { try ConflictTable.openHeld(of: table.name, in: database) }
    let now = session.platform.clock.milliseconds()
    let whole = Migration(version: definition.version, sql: migrations.map(\.sql).joined(separator: "\n"))
    try VersionTable.add(
      definition.version, definition.source, migrations.isEmpty ? nil : whole, step.mappings, at: now, in: database)
    try NewValueTable.add(step.newValues, with: definition.version, in: database)
    session.go(to: definition, step.tables)
    self.step = step
    return step.tables.map(\.name)
  }

  /// Records the pending changes of a table that leaves the dataset as conflicts, so that a person decides. The table's
  /// rows stay, and after that they belong only to the app.
  private func keepConflicts(of table: TrackedTable) throws {
    let now = session.platform.clock.milliseconds()
    try PreImageStore.each(table, since: .zero, in: database) { key, images, current in
      for (image, change) in changes(from: images, to: current) {
        let line = ChangeLine(
          Step(table: table.name, key: key, generation: image.generation, stamp: image.stamp, change: change),
          schema: table.schema)
        guard
          let record = ConflictRecord(
            ofDeparted: line, image.generation, in: definition.version, device: session.state.id,
            user: session.state.user)
        else { continue }
        if try ConflictTable.add(record, bundle: nil, noted: now, in: database) { departed += 1 }
      }
    }
  }

  // MARK: rows

  /// Brings this device's own rows to the form that the migrations leave. The caller has turned triggers off.
  ///
  /// A row with pending changes gets back its former values in the present columns of the table, whatever a migration
  /// wrote. So its changes stay the same. A new row that no export carries yet keeps the migrations' values in new
  /// columns. For rows that this device did not change, the hub sends the values.
  /// - Returns: the rows that the new tables do not allow. Their pre-images are removed.
  func bringOwnRows() throws -> [StrandedRow] {
    guard let step else { return [] }
    for (table, existed) in step.added { try take(table, existed: existed) }
    // CHECKs are on, so that a row which breaks a CHECK counts as a row that does not fit.
    return try database.withChecks { try step.kept.flatMap { try bringOwnRows(of: $0, step) } }
  }

  private func bringOwnRows(of table: TrackedTable, _ step: VersionStep) throws -> [StrandedRow] {
    guard let pending = step.pending?.table(table.name) else { return [] }
    let rows = try RowTable(table, in: database)
    let new = (step.mappings[table.name]?.new ?? []).compactMap { table.schema.position(of: $0) }
    var moves: [(key: RowKey, images: [PreImage], from: Row?, to: Row?)] = []
    try PreImageStore.each(table, since: .zero, in: database) { key, images, current in
      var own = try pending.row(key)
      let isUnsent = images[0].row == nil && images[0].generation.rawValue >= session.state.sequence.rawValue
      if isUnsent, let current { for column in new { own?[column] = current[column] } }
      if own != current { moves.append((key, images, current, own)) }
    }
    var stranded: [StrandedRow] = []
    for move in moves {
      do { try rows.write(move.to, over: move.from, key: move.key) } catch let error as SQLiteError
        where error.kind == .unique || error.kind == .constraint
      {
        // If the former values do not fit and a migrated row exists, the migrated row stays, as this device's own
        // change.
        guard let row = move.to, pendingRows == .setAside || move.from == nil else { continue }
        let kind = error.kind == .unique ? ConflictKind.unique : .constraint
        stranded.append(.init(rows: rows, key: move.key, row: row, images: move.images, kind: kind))
      }
    }
    for row in stranded { try PreImageStore.replace([], of: row.key, in: table, database: database) }
    return stranded
  }

  /// If the table existed here before, makes its rows pending, because they are new to the hub. If a migration created
  /// the table, deletes its rows, because they come from the hub.
  private func take(_ table: TrackedTable, existed: Bool) throws {
    if existed {
      let stamp = try Capture.tick(now: session.platform.clock.milliseconds(), in: database)
      return try PreImageStore.saveAsNew(table, stamp: stamp, in: database)
    }
    try database.execute("DELETE FROM \(quoted(table.name))")
  }

  /// The rows that were written unseen, with their values from before the migrations, in the present columns of their
  /// tables.
  func rowsBefore(_ unseen: UnseenRows) throws -> UnseenRows {
    guard let step, let known = step.known else { return unseen }
    return try unseen.mapRows { table, key in
      try step.pending?.table(table)?.row(key) ?? known.table(table)?.row(key)
    }
  }

  /// Records the row that a line from the hub brings; nil: the row is gone.
  func note(_ row: Row?, of line: ChangeLine) throws {
    try step?.known?.table(line.table)?.set(line.key, row)
  }

  /// Restores rows that the hub did not mention to their former values, in the present columns.
  func putBack(with applier: ScopeApplier) throws {
    guard let step else { return }
    for rows in applier.all {
      guard let known = step.known?.table(rows.schema.name) else { continue }
      var others: [(key: RowKey, row: Row?)] = []
      try database.each(rows.table.allRowsSQL) {
        let row = Row($0.values(from: 0, count: rows.schema.columns.count))
        let key = rows.schema.key(of: row)
        if key.values.contains(where: \.isNull) { return }
        let before = try known.row(key)
        if before != row { others.append((key, before)) }
      }
      try known.eachKey { key in
        if try !rows.contains(key) { others.append((key, try known.row(key))) }
      }
      let pending = try PreImageLookup(rows.table, in: database)
      for other in others where try pending.images(of: other.key).isEmpty {
        try applier.apply(other.row, key: other.key, at: .zero, in: rows)
      }
    }
  }

  // MARK: obstacles

  /// Runs `body`. If this database cannot be brought to the version, nothing is changed and the bundle waits.
  func orPark<T>(_ bundle: borrowing VerifiedBundle, from path: String, _ body: () throws -> T) throws -> T {
    do { return try body() } catch let error as VersionError where error.isByConstraint && pendingRows == .inTables {
      throw PendingRowsDoNotFit()
    } catch let error as any ExplainedError where error is VersionError || error is DatasetError {
      throw try park(bundle, from: path, error.message)
    } catch let error as Refusal where [.schemaDiffers, .rowUnwritable].contains(error.code) {
      throw try park(bundle, from: path, error.message)
    } catch let error as SQLiteError where [.unique, .constraint, .foreignKey, .other].contains(error.kind) {
      throw try park(bundle, from: path, "The rows do not fit its tables: \(error.message).")
    }
  }

  private func park(_ bundle: borrowing VerifiedBundle, from path: String, _ words: String) throws -> Refusal {
    let refusal = Refusal(
      .migration,
      "This database cannot be brought to version \(definition.version) of the dataset. \(words)",
      hint:
        """
        Nothing was changed: continue to work and export. The bundle waits. When the app's database fits it: satchel \
        apply. If the app has changed its tables by itself: satchel apply --migrated
        """,
      keeping: .unnoted)
    try session.workspace.park(bundle, from: path, because: refusal)
    return refusal
  }
}
