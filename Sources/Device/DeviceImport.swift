import SatchelBundle
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The result of an import.
public struct ImportReport: ImportOutcome, Sendable {
  public let manifest: Manifest
  public let verdict: Verdict
  /// Rows that were written and removed.
  public let written: Int
  public let removed: Int
  /// Pending changes of this device that lost against the hub's.
  public let conflicts: Int
  /// What the hub told of this device's changes that it could not take.
  public let told: Int
  /// Changes that the hub took although this device's user has lost the right to make them since.
  public var late = 0
  /// Rows of this device's own that the hub has not taken, and of which this bundle tells.
  public var kept: [KeptRow] = []
  /// Rows of this device's own that got other keys, because somebody else's have theirs.
  public var rekeyed: [RekeyedHere] = []
  /// Exports that a restored hub lacks and that were put into the outbox once more.
  public var redelivered: [SequenceNumber] = []
  /// Where the database is kept as it was, because exports were given up that a restored hub lacks.
  public var copy: String?
  /// The version of the dataset to which the bundle brought this device; nil: it had that already.
  public var version: Int64?
  /// For each table, how many changes the hub is to get of rows that were here before the first bundle; nil: there were
  /// no such rows.
  public var joined: [(table: Name, count: Int)]?
  /// What became of the rows.
  public var tally = RowTally()
  /// The new disagreements, the first of them.
  public var found: [ConflictRecord] = []
  /// Of a volume: which others must come before anything can be taken.
  public var waiting: BundleParts.Waiting?
  /// What the device's former user wrote and the hub is not known to have, where the bundle is for another one. nil:
  /// there is nothing such.
  public var sealed: SealedChanges?
  /// What became of the database that was here before, where that was damaged.
  public var saved: SavedDatabase?
  /// How many changes are pending again in a database that was put together anew; nil: it was not.
  public var replayed: Int?
  /// Attached files that were not here before, and those that had to be kept beside others of their path.
  public var attached = 0
  /// Of these: newer versions of files that were.
  public var attachedNewer = 0
  public var beside: [ArrivingAttachments.Arrival] = []
}

extension ImportReport {
  /// Of a bundle by which no row was changed, or rows were written alone.
  init(_ manifest: Manifest, _ verdict: Verdict, written: Int = 0) {
    self.init(manifest: manifest, verdict: verdict, written: written, removed: 0, conflicts: 0, told: 0)
  }

  mutating func note(_ arriving: borrowing ArrivingAttachments) {
    attached = arriving.newCount
    attachedNewer = arriving.newerCount
    beside = arriving.beside
  }
}

extension DeviceWorkspace {
  /// Verifies a bundle from the hub and brings the database to what it says, in one transaction.
  ///
  /// Throws a `BundleError` or a `Refusal` where the bundle is not taken; the database is then as before.
  ///
  /// Where SQLite cannot read the database to its end, a full bundle makes it anew; what no export carried is saved
  /// before.
  /// - Parameters:
  ///   - fingerprint: of the hub's key, as a person compared it; needed at the first bundle of a device that was not
  ///     provisioned.
  ///   - lost: what becomes of exports that a restored hub lacks.
  ///   - migrations: what is to be done with those that the bundle brings.
  public func importBundle(
    _ path: String, from source: BundleSource = .named, fingerprint: String? = nil,
    lost: LostExports = .deliveredAgain, migrations: BroughtMigrations = .run
  ) throws -> ImportReport {
    try locked {
      try failedImports.noting(path, manifest: { try signedManifest(of: path) }) {
        try importHere(path, source, fingerprint: fingerprint, lost: lost, migrations: migrations)
      }
    }
  }

  var failedImports: FailedImports { FailedImports(folder, platform, at: configuration.id, ending) }

  private func signedManifest(of path: String) throws -> Manifest? {
    try reader.manifestIfSound(of: path, trust: .keys(hubKeys()))
  }

  /// Looks at what a stick holds before anything of it is imported. What proves whose it is comes first.
  public func sight(_ paths: [String]) throws -> [SightedFile] {
    let reader = BundleReader(platform: platform, identities: RememberedIdentities(keys.identities).all)
    return reader.sight(paths, trust: try hubKey() == nil ? .firstContact : .keys(ownKeys() + hubKeys()))
  }

  private func importHere(
    _ path: String, _ source: BundleSource, fingerprint: String?, lost: LostExports, migrations: BroughtMigrations
  ) throws -> ImportReport {
    do {
      let replayed = try revive(lost)
      let session = try isInitial() ? nil : session()
      session?.isHubConfirmed = fingerprint != nil
      session?.lost = lost
      session?.migrations = migrations
      session?.source = source
      var report = try take(path, fingerprint: fingerprint, session, of: nil, lost)
      report.replayed = report.replayed ?? replayed
      return report
    } catch let error as SQLiteError where error.kind == .corrupt || error.kind == .notADatabase {
      guard let damaged = try DamagedDatabase.find(self) else { throw error }
      return try importInto(damaged, path, fingerprint: fingerprint, lost)
    }
  }

  /// Puts a database together that is lost, as far as the archive tells. Returns how many changes are pending in it;
  /// nil: nothing was to be done, or the archive is not complete, and a full bundle must come.
  private func revive(_ lost: LostExports) throws -> Int? {
    if ending == .takeBack || configuration.joins { return nil }
    if case .lost = try databaseCondition() { return try rebuild(lost) }
    guard try hasForeignFile(), try BundleArchive(folder, platform.files).hasAny(),
      let replaced = try ReplacedFile.find(self)
    else { return nil }
    return try replaced.takeUpEmpty()
  }

  /// nil: the archive is not complete.
  func rebuild(_ lost: LostExports) throws -> Int? {
    guard var rebuild = try DatabaseRebuild.find(self) else { return nil }
    rebuild.lost = lost
    do { return try rebuild.run().replayed } catch let error as WorkspaceError where error.reason == "no-history" {
      return nil
    } catch is Refusal { return nil }
  }

  /// Brings a bundle into a workspace whose database SQLite cannot read to its end.
  private func importInto(
    _ damaged: DamagedDatabase, _ path: String, fingerprint: String?, _ lost: LostExports
  ) throws -> ImportReport {
    if ending == .takeBack { return try take(path, fingerprint: fingerprint, nil, damaged, of: nil, lost) }
    // The bundle is believed before anything is moved.
    let manifest = try quarantining(path, nil) { try read(path, fingerprint: fingerprint, nil, of: nil).manifest }
    try damaged.check(scope(of: manifest), manifest)
    let saved = try damaged.putAside()
    let replayed = try revive(lost)
    var report = try take(path, fingerprint: fingerprint, isInitial() ? nil : session(), of: nil, lost)
    report.saved = saved
    report.replayed = report.replayed ?? replayed
    return report
  }

  /// - Parameters:
  ///   - damaged: the database that is here and cannot be opened; nil: there is none, or it has a session.
  ///   - volume: the one that completed the bundle at `path`; nil: it came as it is.
  private func take(
    _ path: String, fingerprint: String?, _ session: DeviceSession?, _ damaged: DamagedDatabase? = nil,
    of volume: Manifest?,
    _ lost: LostExports
  ) throws -> ImportReport {
    let report = try quarantining(path, session) {
      let bundle = try read(path, fingerprint: fingerprint, session, of: volume)
      if case .volume(let volume) = bundle.manifest.body { return try keep(bundle, volume, session) }
      let scope = try scope(of: bundle.manifest)
      if damaged != nil { return try makeDatabase(from: bundle, scope, at: path) }
      guard let session else { return try begin(with: bundle, scope, from: path, lost) }
      // All rows are to be looked at anyway.
      if scope.extent == .full, let fault = try session.database.brokenPage() { throw SQLiteError(corrupt: fault) }
      return try session.importScope(bundle, scope, from: path)
    }
    guard let waiting = report.waiting, waiting.missing.isEmpty, case .volume(let body) = report.manifest.body else {
      return report
    }
    return try BundleParts(folder, platform: platform).join(waiting, body) {
      try take($0, fingerprint: fingerprint, session, damaged, of: report.manifest, lost)
    }
  }

  /// A volume waits for the others, unless what they make was imported before.
  private func keep(
    _ bundle: borrowing VerifiedBundle, _ volume: Manifest.Volume, _ session: DeviceSession?
  ) throws -> ImportReport {
    // Its number may be one of an epoch before.
    if let session, try Ledger.hasTaken(volume.of, in: session.database) {
      return ImportReport(bundle.manifest, .repeated)
    }
    let parts = BundleParts(folder, platform: platform)
    var report = ImportReport(bundle.manifest, .part)
    report.waiting =
      try ending == .keep
      ? parts.keep(bundle, volume, within: Self.partsLimits) : parts.rehearse(bundle, volume)
    return report
  }

  /// The hub is trusted, and how large its database is, a device does not know.
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

  /// Checks a bundle from the hub, or one of this device's own, and lets `body` look at it. Imports nothing.
  public func verify<T>(_ path: String, _ body: (borrowing VerifiedBundle) throws -> T) throws -> T {
    try locked {
      try body(reader.read(path, trust: .keys(ownKeys() + hubKeys()), staging: folder.inbox))
    }
  }
}
