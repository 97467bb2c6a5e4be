import SatchelBundle
import SatchelCapture
import SatchelDataset
import SatchelMerge
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// What a device does with the migrations that a bundle brings.
public enum BroughtMigrations: Sendable {
  case run
  /// The app has changed its tables by itself: they are as the migrations would leave them.
  case doneByApp
}

/// A bundle that brings this device to a later version of the dataset: its migrations run here, and then its rows are
/// applied, all in one transaction.
///
/// Rows come from the hub, and pending changes stay what they were. What a migration wrote into rows of which the hub
/// says nothing is put back: a device sees a part of the rows, and what is computed from a part may be wrong.
final class DeviceUpgrade {
  private let session: DeviceSession
  private let manifest: Manifest
  private let definition: DatasetDefinition
  private let migrations: [Migration]
  private let folder: StagingFolder
  private var step: VersionStep?
  /// Pending changes of tables that left the dataset.
  private(set) var departed = 0

  private var database: Database { _read { yield session.database } }

  /// nil where the bundle is of the version that this device has.
  init?(of session: DeviceSession, by bundle: borrowing VerifiedBundle) throws {
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
  }

  // MARK: tables

  /// Runs the migrations and makes capture anew around the tables. Returns the tables' names.
  func changeTables() throws -> [Name] {
    let leaving = session.tables.filter { definition.rules(for: $0.name) == nil }
    for table in leaving { try keepConflicts(of: table) }
    let step = try VersionStep(
      from: session.tables, to: definition, .complete, by: migrations,
      within: TimeLimit(milliseconds: Migration.longestAtDevice, by: session.platform.clock),
      in: database, keeping: folder)
    for table in leaving { try ConflictTable.openHeld(of: table.name, in: database) }
    let now = session.platform.clock.milliseconds()
    let whole = Migration(version: definition.version, sql: migrations.map(\.sql).joined(separator: "\n"))
    try VersionTable.add(
      definition.version, definition.source, migrations.isEmpty ? nil : whole, step.mappings, at: now, in: database)
    session.go(to: definition, step.tables)
    self.step = step
    return step.tables.map(\.name)
  }

  /// The rows of a table that leaves stay where they are, the app's own from now on; what the hub has not heard of them
  /// is kept for somebody to see to.
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

  /// Brings this device's own rows to where the migrations leave them. Triggers sleep by now.
  ///
  /// A row with pending changes becomes what it was, in the columns that its table has by now, whatever a migration
  /// wrote into it: so its changes are the same as before. A new row that no export carries yet keeps in columns that
  /// came what the migrations put there: for rows of others the hub says what it is.
  func bringOwnRows() throws {
    guard let step else { return }
    for (table, existed) in step.added { try take(table, existed: existed) }
    for table in step.kept {
      guard let pending = step.pending?.table(table.name) else { continue }
      let rows = try RowTable(table, in: database)
      let new = (step.mappings[table.name]?.new ?? []).compactMap { table.schema.position(of: $0) }
      var moves: [(key: RowKey, from: Row?, to: Row?)] = []
      try PreImageStore.each(table, since: .zero, in: database) { key, images, current in
        var own = try pending.row(key)
        let isUnsent = images[0].row == nil && images[0].generation.rawValue >= session.state.sequence.rawValue
        if isUnsent, let current { for column in new { own?[column] = current[column] } }
        if own != current { moves.append((key, current, own)) }
      }
      for move in moves {
        // Where the table does not allow the row as it was any more, what the migration made of it stands, as this
        // device's own change.
        do { try rows.write(move.to, over: move.from, key: move.key) } catch let error as SQLiteError
          where error.kind == .unique || error.kind == .constraint
        { continue }
      }
    }
  }

  /// A table that was here before has rows of this device's own: they are new to the hub. What a migration put into one
  /// that it made, the hub has and sends.
  private func take(_ table: TrackedTable, existed: Bool) throws {
    if existed {
      let stamp = try Capture.tick(now: session.platform.clock.milliseconds(), in: database)
      return try PreImageStore.saveAsNew(table, stamp: stamp, in: database)
    }
    try database.execute("DELETE FROM \(quoted(table.name))")
  }

  /// Notes what the hub says of a row.
  func note(_ row: Row?, of line: ChangeLine) throws {
    try step?.known?.table(line.table)?.set(line.key, row)
  }

  /// Makes rows of which the hub said nothing what they were before, in the columns of now.
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

  // MARK: what cannot be done

  /// Runs `body`. Where this database is not one that can be brought to the version, nothing is changed and the bundle
  /// waits.
  func orPark<T>(_ bundle: borrowing VerifiedBundle, from path: String, _ body: () throws -> T) throws -> T {
    do { return try body() } catch let error as any ExplainedError where error is VersionError || error is DatasetError
    {
      throw try park(bundle, from: path, error.message)
    } catch let error as Refusal where error.reason == "schema-differs" {
      throw try park(bundle, from: path, error.message)
    } catch let error as SQLiteError where [.unique, .constraint, .foreignKey, .other].contains(error.kind) {
      throw try park(bundle, from: path, "The rows do not go into its tables: \(error.message).")
    }
  }

  private func park(_ bundle: borrowing VerifiedBundle, from path: String, _ words: String) throws -> Refusal {
    let refusal = Refusal(
      "migration",
      "This database cannot be brought to version \(definition.version) of the dataset. \(words)",
      hint:
        "Nothing was changed: go on working and exporting. The bundle waits; when the app's database is what it expects: satchel apply. If the app has changed its tables by itself: satchel apply --migrated",
      keeping: .unnoted)
    try session.workspace.park(bundle, from: path, because: refusal)
    return refusal
  }
}
