import SatchelBundle
import SatchelCapture
import SatchelDataset
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The dataset versions of the hub's archived bundles. A database that an app created again has no record of these
/// versions.
///
/// Migrations run in a copy of the full bundle's tables, without rows. This shows the present name of each former
/// column, so that rows of former versions can be read.
struct ArchivedVersions {
  private let session: DeviceSession
  private let bundles: ArchivedBundles

  init(_ session: DeviceSession) throws {
    self.session = session
    bundles = try ArchivedBundles(session)
  }

  /// Records the versions of the full bundle and of the bundles after it.
  /// - Parameters:
  ///   - full: the number of the newest full bundle.
  ///   - deltas: the numbers of the bundles after it, in their order.
  /// - Throws: a `WorkspaceError` if a bundle is missing, or if a migration fails.
  func takeUp(from full: Int64, through deltas: [Int64]) throws {
    let first = try bundles.emission(full)
    let definition = try definition(in: first)
    try VersionTable.add(definition.version, definition.source, nil, at: now, in: session.database)
    if session.dataset.version == definition.version { return }
    let folder = try StagingFolder(in: session.folder.inbox, platform: session.platform)
    let copy = try emptyCopy(of: first, in: folder)
    _ = try migrate(copy, from: definition, through: deltas, then: record)
  }

  /// Makes a database in `folder` with the hub's tables in the present version of the dataset, without rows.
  ///
  /// The parameters are those of `takeUp`. Throws a `WorkspaceError` if a bundle is missing, or if a migration fails.
  func presentTables(
    from full: Int64, through deltas: [Int64], in folder: borrowing StagingFolder
  ) throws -> Database {
    let first = try bundles.emission(full)
    let definition = try definition(in: first)
    let copy = try emptyCopy(of: first, in: folder)
    let present = session.dataset.version
    var reached = definition.version
    if reached < present { reached = try migrate(copy, from: definition, through: deltas) }
    guard reached == present else {
      throw ArchivedBundles.incomplete("the hub's bundle with version \(present) of the dataset is missing")
    }
    return copy
  }

  /// Brings the tables of a copy to the present version of the dataset, as far as these bundles reach. Returns the
  /// version that they reach.
  /// - Parameter then: called after each step with its definition and its migrations.
  private func migrate(
    _ copy: borrowing Database, from definition: DatasetDefinition, through deltas: [Int64],
    then: (DatasetDefinition, [Migration], VersionStep) throws -> Void = { _, _, _ in }
  ) throws -> Int64 {
    var tables = try TrackedTable.find(definition, in: copy)
    try copy.writeTransaction { try session.workspace.install(tables, in: copy) }
    var version = definition.version
    for number in deltas where version < session.dataset.version {
      let bundle = try bundles.emission(number)
      if bundle.manifest.version == version { continue }
      tables = try step(from: tables, version, by: bundle, in: copy, then: then)
      version = bundle.manifest.version
    }
    return version
  }

  private func record(_ definition: DatasetDefinition, _ migrations: [Migration], _ step: VersionStep) throws {
    let whole = Migration(version: definition.version, sql: migrations.map(\.sql).joined(separator: "\n"))
    try VersionTable.add(
      definition.version, definition.source, migrations.isEmpty ? nil : whole, step.mappings, at: now,
      in: session.database)
    try NewValueTable.add(step.newValues, with: definition.version, in: session.database)
  }

  private var now: Int64 { session.platform.clock.milliseconds() }

  private func definition(in bundle: borrowing VerifiedBundle) throws -> DatasetDefinition {
    guard let source = try bundle.dataset(limit: DatasetDefinition.maximumBytes) else {
      throw ArchivedBundles.incomplete("\(bundle.manifest.fileName) has no dataset.json")
    }
    return try DatasetDefinition(json: source)
  }

  private func emptyCopy(of bundle: borrowing VerifiedBundle, in folder: borrowing StagingFolder) throws -> Database {
    guard try Snapshot.open(holdingItsOwnTables: bundle) != nil, let snapshot = bundle.path(of: .snapshot) else {
      throw ArchivedBundles.incomplete("a full bundle has no snapshot")
    }
    let path = folder.file("versions.sqlite")
    try session.platform.files.copy(snapshot, to: path, mode: 0o644)
    let copy = try Database(path: path, mode: .readWrite)
    try copy.execute("PRAGMA foreign_keys = OFF; DROP TABLE \(SnapshotBuilder.stampTable)")
    for table in try TrackedTable.find(definition(in: bundle), in: copy) {
      try copy.execute("DELETE FROM \(quoted(table.name))")
    }
    return copy
  }

  /// Runs the migrations of a bundle. Returns the tables of the bundle's version.
  private func step(
    from tables: [TrackedTable], _ version: Int64, by bundle: borrowing VerifiedBundle, in copy: borrowing Database,
    then: (DatasetDefinition, [Migration], VersionStep) throws -> Void
  ) throws -> [TrackedTable] {
    let definition = try definition(in: bundle)
    let migrations = try bundle.migrations().filter { $0.version > version }
    let folder = try StagingFolder(in: session.folder.inbox, platform: session.platform)
    do {
      let step = try copy.writeTransaction {
        try VersionStep(
          from: tables, to: definition, .complete, by: migrations,
          within: TimeLimit(milliseconds: Migration.longestAtDevice, by: session.platform.clock),
          in: copy, keeping: folder)
      }
      try then(definition, migrations, step)
      return step.tables
    } catch let error as any ExplainedError where error is VersionError || error is DatasetError {
      throw WorkspaceError(
        error.code,
        """
        The rows of version \(version) of the dataset cannot be brought to version \(definition.version): \
        \(error.message)
        """,
        hint: "Move the file aside; then satchel doctor --repair rebuilds it from bundles and exports.")
    }
  }
}
