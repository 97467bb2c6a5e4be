import SatchelBundle
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The result of an import.
public struct ImportReport: ImportOutcome, Sendable {
  public let manifest: Manifest
  public let verdict: Verdict
  /// The number of rows written and removed.
  public let written: Int
  public let removed: Int
  /// The number of pending changes of this device that lost against changes from the hub.
  public let conflicts: Int
  /// Changes of this device that met another change at the hub, as this bundle reports.
  public var told = ConflictOutcomes()
  /// Rows of this device that the hub did not accept, as this bundle reports.
  public var kept: [KeptRow] = []
  /// Rows of this device that got other primary keys, because rows from others have their former keys.
  public var rekeyed: [RenumberedRow] = []
  /// Exports that a restored hub lacks and that were put into the outbox again.
  public var redelivered: [SequenceNumber] = []
  /// Whether a person chose, with this import, another copy of the hub than the copy that this device followed.
  public var isCopyChosen = false
  /// The path of a copy of the old database; nil: no copy. It was made because exports that a restored hub lacks were
  /// given up, or because unseen writes could not be found.
  public var copy: String?
  /// The number of unseen rows that became pending changes, because one of them held a UNIQUE value of a row from the
  /// hub, or referred to a row that left.
  public var takenUp = 0
  /// The dataset version to which the bundle brought this device; nil: the device already had this version.
  public var version: Int64?
  /// For each table, the number of changes to send about rows that were here before the first bundle. nil: no rows were
  /// here.
  public var joined: [(table: Name, count: Int)]?
  /// The counts of changed rows, by table.
  public var tally = RowTally()
  /// The first few new conflicts.
  public var found: [ConflictRecord] = []
  /// For a volume: the other volumes that must come before the bundle can be imported.
  public var waiting: BundleParts.Waiting?
  /// Changes of the device's former user that the hub is not known to have, if the bundle is for another user. nil:
  /// none.
  public var sealed: SealedChanges?
  /// The saved parts of the former database, if it was damaged.
  public var saved: SavedDatabase?
  /// The number of changes that are pending again in a rebuilt database; nil: the database was not rebuilt.
  public var replayed: Int?
  /// The number of new attached files. `beside`: the files that were kept beside other files with the same path.
  public var attached = 0
  /// The number of new files that are newer versions of existing files.
  public var attachedNewer = 0
  public var beside: [ArrivingAttachments.Arrival] = []
}

extension ImportReport {
  /// Creates the report of a bundle that changed no row, or that only wrote rows.
  init(_ manifest: Manifest, _ verdict: Verdict, written: Int = 0) {
    self.init(manifest: manifest, verdict: verdict, written: written, removed: 0, conflicts: 0)
  }

  mutating func note(_ arriving: borrowing ArrivingAttachments) {
    attached = arriving.newCount
    attachedNewer = arriving.newerCount
    beside = arriving.beside
  }
}

extension DeviceWorkspace {
  /// Verifies a bundle from the hub and brings the database to the bundle's state, in one transaction.
  ///
  /// Throws a `BundleError` or a `Refusal` if the bundle is not accepted; the database is then unchanged.
  ///
  /// If SQLite cannot read the whole database, a full bundle replaces it. Changes that no export carried are saved
  /// first.
  /// - Parameters:
  ///   - fingerprint: the fingerprint of the hub's key, as a person compared it. Needed for the first bundle of a
  ///     device that was not provisioned.
  ///   - lost: how to handle exports that a restored hub lacks.
  ///   - migrations: how to handle migrations that the bundle brings.
  ///   - removals: how to handle a bundle that removes very many rows.
  public func importBundle(
    _ path: String, from source: BundleSource = .named, fingerprint: String? = nil,
    lost: LostExports = .deliveredAgain, migrations: BroughtMigrations = .run,
    removals: BroughtRemovals = .withinLimits
  ) throws -> ImportReport {
    try locked {
      try failedImports.noting(path, manifest: { try signedManifest(of: path) }) {
        try importHere(path, source, fingerprint: fingerprint, lost: lost, migrations: migrations, removals)
      }
    }
  }

  var failedImports: FailedImports { FailedImports(folder, platform, at: configuration.id, runMode) }

  private func signedManifest(of path: String) throws -> Manifest? {
    try reader.manifestIfSound(of: path, trust: .keys(hubKeys()))
  }

  /// Inspects the files of a stick before any of them is imported. The checks that prove the sender come first.
  public func inspect(_ paths: [String]) throws -> [InspectedFile] {
    let reader = BundleReader(platform: platform, identities: RememberedIdentities(keys.identities).all)
    return reader.inspect(paths, trust: try hubKey() == nil ? .firstContact : .keys(ownKeys() + hubKeys()))
  }

  private func importHere(
    _ path: String, _ source: BundleSource, fingerprint: String?, lost: LostExports, migrations: BroughtMigrations,
    _ removals: BroughtRemovals
  ) throws -> ImportReport {
    do {
      try checkAfterLeaving()
      let found = try sessionIfCaptured()
      // Opening a database takes as long as a small import. So a usable database is opened only once.
      let replayed = try found == nil ? revive(lost) : nil
      let session = try found ?? sessionIfCaptured()
      session?.isHubConfirmed = fingerprint != nil
      session?.lost = lost
      session?.migrations = migrations
      session?.removals = removals
      session?.source = source
      var report = try take(path, fingerprint: fingerprint, session, of: nil, lost)
      report.replayed = report.replayed ?? replayed
      return report
    } catch let error as SQLiteError where error.isDamage {
      guard let damaged = try DamagedDatabase.find(self) else { throw error }
      return try importInto(damaged, path, fingerprint: fingerprint, lost)
    }
  }

  /// Rebuilds a lost database as far as the archive reaches. Returns the number of pending changes. nil: there was
  /// nothing to do, or the archive is incomplete and a full bundle must come.
  ///
  /// Throws a `WorkspaceError` if the device has left its hub: a person must then first put the database back.
  private func revive(_ lost: LostExports) throws -> Int? {
    try checkAfterLeaving()
    if runMode == .dryRun || configuration.joins { return nil }
    if try !isInitial() { return nil }
    if case .lost = try databaseCondition() { return try rebuild(lost) }
    guard try hasForeignFile(), try hasHistory(),
      let replaced = try ReplacedFile.find(self)
    else { return nil }
    return try replaced.takeUpEmpty()
  }

  /// Rebuilds the database. Returns the number of pending changes; nil: the archive is incomplete.
  func rebuild(_ lost: LostExports) throws -> Int? {
    guard var rebuild = try DatabaseRebuild.find(self) else { return nil }
    rebuild.lost = lost
    do { return try rebuild.run().replayed } catch let error as WorkspaceError where error.code == .noHistory {
      return nil
    } catch is Refusal { return nil }
  }

  /// Imports a bundle into a workspace whose database SQLite cannot read to its end.
  private func importInto(
    _ damaged: DamagedDatabase, _ path: String, fingerprint: String?, _ lost: LostExports
  ) throws -> ImportReport {
    if runMode == .dryRun { return try take(path, fingerprint: fingerprint, nil, damaged, of: nil, lost) }
    // The bundle is verified before anything is moved.
    let manifest = try quarantining(path, nil) { try read(path, fingerprint: fingerprint, nil, of: nil).manifest }
    try damaged.check(scope(of: manifest), manifest)
    let saved = try damaged.putAside()
    let replayed = try revive(lost)
    var report = try take(path, fingerprint: fingerprint, sessionIfCaptured(), of: nil, lost)
    report.saved = saved
    report.replayed = report.replayed ?? replayed
    return report
  }

  /// - Parameters:
  ///   - damaged: the existing database that cannot be opened; nil: there is no database, or it has a session.
  ///   - volume: the volume that completed the bundle at `path`; nil: the bundle came in one file.
  private func take(
    _ path: String, fingerprint: String?, _ session: DeviceSession?, _ damaged: DamagedDatabase? = nil,
    of volume: Manifest?,
    _ lost: LostExports
  ) throws -> ImportReport {
    let report = try quarantining(path, session) {
      let bundle = try read(path, fingerprint: fingerprint, session, of: volume)
      if case .volume(let volume) = bundle.manifest.body { return try keep(bundle, volume, session) }
      let scope = try scope(of: bundle.manifest)
      if damaged != nil { return try makeDatabase(from: bundle, scope, at: path, signer: .isTrusted) }
      guard let session else {
        return try begin(with: bundle, scope, from: path, lost, isHubConfirmed: fingerprint != nil)
      }
      // Every page is checked here because an import of a full bundle reads all rows anyway.
      if scope.extent == .full, let fault = try session.database.brokenPage() { throw SQLiteError(corrupt: fault) }
      return try session.importScope(bundle, scope, from: path)
    }
    let parts = BundleParts(folder, platform: platform)
    return try parts.whole(of: report.manifest, report.waiting, in: session?.stateForJoining) { path, volume in
      try take(path, fingerprint: fingerprint, session, damaged, of: volume, lost)
    } ?? report
  }

  /// Stores a volume until the other volumes come, unless the whole bundle was imported before, or waits here.
  func keep(
    _ bundle: borrowing VerifiedBundle, _ volume: Manifest.Volume, _ session: DeviceSession?
  ) throws -> ImportReport {
    // The ledger is searched by the bundle's id, because its number may belong to an earlier epoch.
    if let session, try Ledger.hasTaken(volume.of, from: bundle.manifest.from.name, in: session.database) {
      return ImportReport(bundle.manifest, .repeated)
    }
    var report = ImportReport(bundle.manifest, .part)
    if let session, let path = try session.waitingWhole(of: bundle.manifest, volume) {
      report.waiting = .init(wholeAt: path, named: bundle.manifest.wholeFileName, parts: volume.parts)
      return report
    }
    let parts = BundleParts(folder, platform: platform)
    report.waiting =
      try runMode == .commit
      ? parts.keep(bundle, volume, within: Self.partsLimits) : parts.rehearse(bundle, volume)
    return report
  }

  /// The limit is large, because the hub is trusted, and a device cannot predict the size of the hub's database.
  private static let partsLimits = BundlePartsLimits(ofBundlesWith: 64 << 30)

  func quarantining<T>(_ path: String, _ session: DeviceSession?, _ body: () throws -> T) throws -> T {
    try Quarantine.guarding {
      do { return try body() } catch let refusal as Refusal where refusal.keeping == .waiting {
        try session?.keepAside(path, because: refusal)
        throw refusal
      }
    } keep: {
      try session?.quarantine(path, because: $0)
    }
  }

  /// Verifies a bundle from the hub, or an export of this device, and passes it to `body`. Imports nothing.
  public func verify<T>(_ path: String, _ body: (borrowing VerifiedBundle) throws -> T) throws -> T {
    try lockedWithoutDatabase {
      try body(reader.read(path, trust: .keys(ownKeys() + hubKeys()), staging: folder.inbox))
    }
  }
}
