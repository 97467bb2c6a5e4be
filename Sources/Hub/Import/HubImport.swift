import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelRows
import SatchelValues
import SatchelWorkspace

/// The result of an import at the hub.
public struct HubImportReport: ImportOutcome, Sendable {
  public let manifest: Manifest
  public let verdict: Verdict
  /// The number of changes that were accepted, wholly or in part.
  public let taken: Int
  /// The number of new disagreements.
  public let conflicts: Int
  /// The number of conflicts that the device's user decided.
  public let resolved: Int
  /// The number of waiting changes that entered with this import.
  public let released: Int
  /// Rows to which the hub gave another key, because another row had their key.
  public let rekeyed: [RekeyedRow]
  /// Rows that became one with another row of the same natural key.
  public var folded: [RekeyedRow] = []
  /// The number of changes that a person rejected together with the whole bundle. Each change became a conflict,
  /// decided for the hub's row. nil if no person rejected the bundle.
  public var rejected: Int?
  /// The number of late changes that the hub accepted. Their users have lost the right to make them.
  public var late = 0
  /// The number of changes of tables that have left the dataset. Each of them is recorded as a conflict.
  public var departed = 0
  /// The removed columns, as `table.column`, for which the bundle has values. Only the archived bundle keeps these
  /// values.
  public var leftOut: [Name] = []
  /// The milliseconds by which the newest stamp in the bundle was ahead of the hub's clock. The hub set such stamps
  /// back to its own time.
  public let clamped: Int64
  /// The numbers of rows that the import changed.
  public var tally = RowTally()
  /// The first few of the new disagreements.
  public var found: [ConflictRecord] = []
  /// The number of attached files that the hub did not have. A new file that is kept beside another file counts too.
  public var attached = 0
  /// The number of attached files that are newer versions of files that the hub had.
  public var attachedNewer = 0
  public var beside: [ArrivingAttachments.Arrival] = []
  /// The number of files that the device lost and requests again.
  public var attachedLost = 0
  /// The other volumes that must come before the bundle can be imported. nil if the file is not a volume.
  public var waiting: BundleParts.Waiting?
  /// The comparison of the device's digests with the rows that it should have. nil if the bundle has no digests.
  public var proof: StateProof?
  /// The key that the device announced, if the hub did not take the key because it has another owner. Otherwise nil.
  public var refusedKey: PublicKey?
  /// Whether a lost key of this hub signed the bundle. Its author is unknown, so the hub uses nothing of the bundle.
  public var isOfLostKey = false
  /// The work that came back from the lost time. nil if this import merged no such work.
  public var recovery: RecoveryReport?
}

extension HubImportReport {
  /// The report about a bundle that had no effect.
  init(_ manifest: Manifest, _ verdict: Verdict) {
    self.init(
      manifest: manifest, verdict: verdict, taken: 0, conflicts: 0, resolved: 0, released: 0, rekeyed: [], clamped: 0)
  }
}

/// When the hub merges the lost time, after it received a bundle that it made and lost.
public enum LostTimeMerge: Sendable {
  /// At once, if the hub has all bundles that it needs.
  case now
  /// Later: the caller calls `mergeLostTime` after it has imported other bundles. The newest bundle must be merged
  /// first, and a device that only receives does not name the bundles that it brings.
  case later
}

extension HubWorkspace {
  /// Verifies a device's bundle and merges it, in one transaction.
  ///
  /// Throws a `BundleError` or a `Refusal` if the bundle is not accepted. The rows then stay as they were.
  /// - Parameters:
  ///   - brake: the decision of a person about a bundle that exceeds the dataset's limits.
  ///   - merge: when the hub merges the lost time, if the file is a lost bundle from this hub.
  public func importBundle(
    _ path: String, from source: BundleSource = .named, brake: BrakeDecision = .none,
    lostTime merge: LostTimeMerge = .now
  ) throws -> HubImportReport {
    try locked {
      try failedImports.noting(path, manifest: { try signedManifest(of: path) }) {
        let store = try storeForLongWork()
        var report = try take(path, store, of: nil, from: source, brake)
        if report.verdict == .collected, merge == .now { report.recovery = try completeRecovery(store) }
        if report.verdict == .imported, runMode == .commit { try unopened.forget(report.manifest.from.id) }
        return report
      }
    }
  }

  /// Merges the lost time if the hub has all bundles of it that it needs. Returns nil if some are missing.
  public func mergeLostTime() throws -> RecoveryReport? { try locked { try completeRecovery(storeForLongWork()) } }

  var failedImports: FailedImports { FailedImports(folder, platform, at: configuration.id, runMode) }

  private func signedManifest(of path: String) throws -> Manifest? {
    let store = try store()
    return try reader.manifestIfSound(of: path, trust: .keys(trustedKeys(store))).map { try known($0, store) }
  }

  /// Reads the beginnings of a stick's files before the hub imports any file. In the result, files that prove their
  /// sender come first.
  public func inspect(_ paths: [String]) throws -> [InspectedFile] {
    let reader = BundleReader(platform: platform, identities: RememberedIdentities(keys.identities).all)
    return reader.inspect(paths, trust: .keys(try trustedKeys(examined())))
  }

  /// Imports one file. If the file is a bundle's last missing volume, the whole bundle is imported too.
  /// - Parameter volume: the volume that completed the bundle at `path`. nil if the bundle came whole.
  func take(
    _ path: String, _ store: HubStore, of volume: Manifest?, from source: BundleSource = .named,
    _ brake: BrakeDecision = .none
  ) throws -> HubImportReport {
    let report = try quarantining(path, store, source) {
      try refuseSetBack(store)
      try checkClock(store)
      let keeping: FileKeeping = runMode == .commit ? .kept : .notKept
      var bundle = try reader.read(
        path, trust: .keys(trustedKeys(store)), staging: folder.inbox, file: keeping
      ) { manifest, signer in
        if case .scope(let scope) = manifest.body {
          try checkOwnEmission(manifest, scope, signer: signer, from: source, store)
        } else {
          try check(manifest, signer: signer, store)
        }
        try known(manifest, store).check(isWholeOf: volume)
      } size: {
        try DiskRoom.atHub.check($0, in: folder.inbox, platform.files)
      }
      if case .scope(let scope) = bundle.manifest.body { return try takeOwnEmission(bundle, scope, from: path, store) }
      bundle.call(sender: try known(bundle.manifest, store).from.name)
      if case .volume(let volume) = bundle.manifest.body { return try keep(bundle, volume, store) }
      return try merge(bundle, from: path, store, brake)
    }
    let (manifest, parts) = (report.manifest, BundleParts(folder, platform: platform))
    return try parts.whole(of: manifest, report.waiting, in: stateForWaiting(of: manifest, store)) { path, volume in
      try take(path, store, of: volume, from: source, brake)
    } ?? report
  }

  private func merge(
    _ bundle: borrowing VerifiedBundle, from path: String, _ store: HubStore, _ brake: BrakeDecision
  ) throws -> HubImportReport {
    let manifest = bundle.manifest
    let changes = try self.changes(of: manifest)
    let isFormer = try refuseFork(manifest, changes, bundle.digest, signer: bundle.signer, store)
    // These checks may stop the hub or make the file wait, so they come only after the whole bundle is verified.
    if !isFormer, let device = try store.device(manifest.from.id) {
      try HistoryCheck(self, store, device, changes, by: manifest.user).run()
      if try !isTaken(manifest, bundle.digest, store) {
        if changes.sequence <= device.merged { try checkOvertaken(bundle, changes, device, store) }
        try checkAuthor(manifest, changes, device, store)
      }
    }
    try refuseOnHold(manifest, bundle.digest, store)
    try check(attachmentsOf: bundle, store)
    try check(snapshotOf: bundle, store)
    var report = try keepingInArchive(bundle, store) {
      try BundleMerge(workspace: self, store: store, manifest: manifest, changes: changes, brake: brake).run(bundle)
    }
    report.recovery = try completeRecovery(store)
    if runMode == .dryRun { return report }
    if let device = try store.device(manifest.from.id) {
      try publish(device)
      try BundleParts(folder, platform: platform).forget(partsSender(device), ...device.merged.rawValue) {
        number, whole in
        try whole.map { try isOfOtherHistory($0, number, of: device, store) } ?? false
      }
    }
    try finishRotation(store)
    // For a repeated bundle, the file is removed too: the first import may have ended between the merge and this step.
    if report.verdict != .stale {
      if folder.isForUs(path) { try platform.files.remove(path) }
    } else if Paths.parent(of: path) == folder.waiting {
      try platform.files.remove(path)
    }
    return report
  }

  /// Stores a volume until the other volumes come. Does not store a volume if its bundle is overtaken, or if the whole
  /// bundle already waits here.
  private func keep(
    _ bundle: borrowing VerifiedBundle, _ volume: Manifest.Volume, _ store: HubStore
  ) throws -> HubImportReport {
    let manifest = bundle.manifest
    if let device = try store.device(manifest.from.id), volume.number <= device.merged.rawValue,
      try !isOfOtherHistory(volume.of, volume.number, of: device, store)
    {
      return HubImportReport(manifest, .stale)
    }
    var report = HubImportReport(manifest, .part)
    if let whole = try waitingWhole(of: manifest, volume, store) {
      if let refusal = whole.refusal { throw refusal }
      report.waiting = .init(wholeAt: whole.path, named: manifest.wholeFileName, parts: volume.parts)
      return report
    }
    let parts = BundleParts(folder, platform: platform)
    report.waiting =
      try runMode == .commit
      ? parts.keep(bundle, volume, within: partsLimits(store)) : parts.rehearse(bundle, volume)
    return report
  }

  /// Whether the hub merged another bundle with this number. In that case, the device was copied or restored from a
  /// copy, and the given bundle is not overtaken.
  private func isOfOtherHistory(
    _ bundle: BundleID, _ number: Int64, of device: EnrolledDevice, _ store: HubStore
  ) throws -> Bool {
    try !Ledger.hasTaken(bundle, from: device.name, in: store.database)
      && Ledger.hasImported(number, from: device.name, in: store.database)
  }

  /// The sender of a device's volumes, under each name of the device.
  func partsSender(_ device: EnrolledDevice) -> PartsSender {
    PartsSender(
      device.id, named: [device.name, device.asked].compactMap(\.self), dataset: configuration.dataset,
      to: configuration.name)
  }

  /// Returns the limits for the volumes of one bundle. A bundle contains changes, attached files up to the dataset's
  /// limit, and perhaps a copy of the device's database. The copy has no more rows than the hub's database.
  private func partsLimits(_ store: HubStore) throws -> BundlePartsLimits {
    BundlePartsLimits(
      ofBundlesWith: store.dataset.attachments.bundleBytes + 4 * (try platform.files.size(databasePath)))
  }

  private func quarantining(
    _ path: String, _ store: HubStore, _ source: BundleSource, _ body: () throws -> HubImportReport
  ) throws -> HubImportReport {
    try Quarantine.guarding {
      do { return try body() } catch let error as Refusal where error.keeping == .waiting {
        if runMode == .commit { try keepWaiting(path, because: error, store) }
        throw error
      } catch let proof as SetBackProof {
        if runMode == .commit { try keepAndNote(proof, in: path, store) }
        throw proof.refusal
      } catch BundleError.unknownKey(let id) where isOwnWithOtherKey(path, store) {
        if let unused = try unusedOfUnknownKey(path, store) { return unused }
        throw try ownWithOtherKey(id, store)
      } catch BundleError.unknownKey where isRequest(path) {
        throw Refusal(
          .wrongKind, "This is a device's request to join.",
          hint: "Enrol it: satchel-hub device enrol FILE --user USER", keeping: .unnoted)
      }
    } keep: {
      try quarantine(path, because: $0, store, source)
    }
  }

  /// Stores a bundle that proves that the hub was set back, and then records the proof. After the record, the hub
  /// refuses every bundle. If the record came first and the import ended before the copy, the bundle would be lost.
  private func keepAndNote(_ proof: SetBackProof, in path: String, _ store: HubStore) throws {
    do { try keepWaiting(path, because: proof.refusal, store) } catch let notKept as Refusal {
      try note(proof, store)
      throw notKept
    }
    try note(proof, store)
  }

  /// Whether a file names this hub as its sender. No known key proves that name.
  private func isOwnWithOtherKey(_ path: String, _ store: HubStore) -> Bool {
    guard let manifest = try? reader.manifestIfSound(of: path, trust: .firstContact) else { return false }
    return manifest.kind == .scope && manifest.from.id == store.identity.id
  }

  /// The refusal of a file that names this hub as its author, but has the signature of an unknown key.
  private func ownWithOtherKey(_ id: String, _ store: HubStore) throws -> Refusal {
    let isAfterLoss = try store.isEpochOfReplacedKey()
    return Refusal(
      .unknownKey, "It names this hub as its author, and is signed with key \(id), which this hub does not have.",
      hint: isAfterLoss ? "\(Self.afterLostKey) \(Self.wayOutOfUnknownKey)" : Self.wayOutOfUnknownKey,
      keeping: .quarantine)
  }

  private static let afterLostKey =
    """
    This hub replaced its lost keys, and uses no bundle that they signed. When a device follows the new key, the \
    device stops bringing such bundles.
    """

  private static let wayOutOfUnknownKey =
    """
    Anybody can make such a file. If this hub's files were put back from a copy, put the newest copy of its keys/ in \
    place, and import this again. Otherwise leave the file alone.
    """

  private func isRequest(_ path: String) -> Bool { (try? readRequest(path)) != nil }

  /// Verifies a bundle from a device or from the hub itself, and passes it to `body`. Imports nothing.
  public func verify<T>(_ path: String, _ body: (borrowing VerifiedBundle) throws -> T) throws -> T {
    try locked {
      try body(reader.read(path, trust: .keys(trustedKeys(store())), staging: folder.inbox))
    }
  }

  private func quarantine(
    _ path: String, because error: any ExplainedError, _ store: HubStore, _ source: BundleSource
  ) throws {
    let trusted = try trustedKeys(store)
    let refused = Quarantine.Refusing(
      path, because: error, from: source, keys: { try keys(withOwnerOf: $0, store) },
      signer: { try reader.identityIfSound(of: $0, trust: .keys(trusted))?.signer })
    try Quarantine.keep(refused, folder: folder, platform: platform, database: store.database, runMode)
  }
}
