import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelDataset
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A database that another program put in the place of this device's database. It has the dataset's tables, and none of
/// Satchel's tables.
///
/// The signed bundles show the device's state, its exports and the former rows; the file holds the present rows.
struct ReplacedFile {
  private let workspace: DeviceWorkspace
  /// The keys that verify the archived bundles from the hub.
  private let keys: [PublicKey]
  /// The manifest of the newest full bundle from the hub. `definition` is the newest definition.
  private let manifest: Manifest
  private let scope: Manifest.Scope
  private let definition: DatasetDefinition

  private init(
    _ workspace: DeviceWorkspace, _ keys: [PublicKey], _ manifest: Manifest, _ scope: Manifest.Scope,
    _ definition: DatasetDefinition
  ) {
    self.workspace = workspace
    self.keys = keys
    self.manifest = manifest
    self.scope = scope
    self.definition = definition
  }

  /// Finds the replaced file. nil: Satchel set up the file, or the hub's first bundle has not come yet.
  ///
  /// Throws a `WorkspaceError` if the needed bundles are missing.
  static func find(_ workspace: DeviceWorkspace) throws -> ReplacedFile? {
    guard try workspace.hasForeignFile(), !workspace.configuration.joins else { return nil }
    if try workspace.hubKeys().isEmpty { return nil }
    let archive = try ArchivedEmissions(workspace)
    var found: (manifest: Manifest, scope: Manifest.Scope, definition: DatasetDefinition)?
    var newest: [UInt8]?
    for emission in archive.emissions {
      let bundle: VerifiedBundle
      do {
        bundle = try workspace.reader.read(
          emission.path, trust: .keys(archive.keys), staging: workspace.folder.inbox)
      } catch is BundleError {
        continue
      }
      guard let source = try bundle.dataset(limit: DatasetDefinition.maximumBytes) else { continue }
      newest = source
      if emission.scope.extent == .full {
        found = (bundle.manifest, emission.scope, try DatasetDefinition(json: source))
      }
    }
    guard let found, let newest else {
      throw ArchivedBundles.incomplete("the last full bundle from the hub is missing")
    }
    return ReplacedFile(
      workspace, archive.keys, found.manifest, found.scope, try DatasetDefinition(json: newest))
  }

  /// Adds Satchel's tables to the file. Every difference from the known rows becomes a change that the next export
  /// carries.
  func takeUp(missing: MissingRows, _ runMode: RunMode, _ report: inout DoctorReport) throws {
    let database = try Database(path: workspace.databasePath, mode: .readWrite)
    try database.prepareForCommand()
    let tables = try tables(in: database)
    report.add(
      Finding(
        .replaced,
        "Another program put a new file in the place of \(workspace.databasePath): it has no satchel_ tables."))
    if runMode == .commit { try BundleArchive(workspace.folder, workspace.platform.files).secure() }
    let session = try DeviceSession(
      workspace, beginning: database, workspace.state(by: manifest, scope, definition), tables)
    session.archiveKeys = keys
    try session.database.execute("PRAGMA ignore_check_constraints = ON")
    try session.database.applyTransaction(runMode, to: tables.map(\.name)) {
      try recollect(session)
      let changes = try session.reinstallAndCompare(puttingBack: missing == .putBack ? tables : [], &report)
      try session.save(changes)
      report.add(changes, of: tables)
    }
  }

  /// Adds Satchel's tables to a database without rows that the app created again, and inserts the known rows again.
  /// Returns the number of pending changes. Throws if the database has rows, because a person must then decide.
  func takeUpEmpty() throws -> Int {
    do {
      let database = try Database(path: workspace.databasePath, mode: .readWrite)
      for table in try tables(in: database) where try table.count(in: database) > 0 {
        throw WorkspaceError(
          .replaced,
          "Another program put a new file in the place of \(workspace.databasePath): it has no satchel_ tables.",
          hint:
            "Put the right file back; or, to continue with this one: satchel doctor, then satchel doctor --repair"
        )
      }
    }
    var report = DoctorReport()
    try takeUp(missing: .putBack, .commit, &report)
    let session = try workspace.session()
    return try PreImageStore.countSteps(session.tables, since: .zero, unsent: .zero, in: session.database).unsent
  }

  private func tables(in database: borrowing Database) throws -> [TrackedTable] {
    do { return try TrackedTable.find(definition, in: database) } catch let error as DatasetError {
      let inUTF8 = try database.otherTextEncoding() == nil ? nil : error.hint
      throw WorkspaceError(
        .replaced,
        """
        Another program put a new file in the place of \(workspace.databasePath). It cannot be this device's: at \
        \(error.place) of the dataset, \(error.problem).
        """,
        hint: inUTF8.map { "\($0). Then: satchel doctor" }
          ?? """
          Put the right file back, or let the app create its tables as before. If neither is possible: move the file \
          to another folder, then satchel doctor --repair. It builds the database again from bundles and exports.
          """)
    }
  }

  private func recollect(_ session: DeviceSession) throws {
    let archive = session.archive
    let newest = SequenceNumber(try archive.highestOutgoing(session.outgoingPrefix))
    let received = EmissionNumber(try archive.numbers(session.incomingPrefix).last ?? 0)
    try workspace.install(session.tables, in: session.database)
    let recollection = try LedgerRecovery(session, ArchivedBundles(session), to: newest, received)
    try ArchivedVersions(session).takeUp(
      from: scope.number.rawValue, through: recollection.emissions.filter { $0 > scope.number.rawValue })
    try recollection.takeUpKeys()
    try recollection.takeUpExports()
    try recollection.takeUpEmissions()
    session.state.sequence = newest
    session.state.definition = definition.source
    session.state.acknowledged = try acknowledged(session, recollection)
    // Without the number of the sealed export, no export would carry the former user's changes, and the hub would wait
    // for them for ever.
    session.state.sealed = try recollection.sealed().flatMap { $0 > session.state.acknowledged ? $0 : nil }
    try session.state.save(in: session.database)
    try Capture.begin(Generation(newest.rawValue), in: session.database)
  }

  /// The highest export that any of the hub's bundles acknowledges.
  private func acknowledged(_ session: DeviceSession, _ recollection: LedgerRecovery) throws -> SequenceNumber {
    let bundles = try ArchivedBundles(session)
    return try recollection.emissions.map { number in
      let bundle = try bundles.emission(number)
      return try bundles.scope(of: bundle.manifest).acknowledged
    }.max() ?? .zero
  }
}

extension DeviceWorkspace {
  /// Whether another program made the database again without rows, and no archived bundle can fill the database. If so,
  /// a full bundle replaces the database, as if it were missing.
  func isReplacedForGood(_ look: borrowing DatabaseLook) throws -> Bool {
    do {
      guard try platform.files.kind(databasePath) == .file, try hasHistory(), try !look.hasRows() else { return false }
    } catch let error as SQLiteError where error.isDamage { return false }
    return try !ArchivedEmissions(self).emissions.contains { $0.scope.extent == .full }
  }
}

extension DatabaseLook {
  /// Whether any table has a row. The tables that each new GeoPackage fills do not count.
  fileprivate func hasRows() throws -> Bool {
    for table in try database?.tableNames() ?? [] where !table.text.hasPrefix("gpkg_") {
      if try database?.first("SELECT 1 FROM \(quoted(table)) LIMIT 1", [:], { _ in true }) == true { return true }
    }
    return false
  }
}
