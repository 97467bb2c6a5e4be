import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelDataset
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// What an import did.
public struct ImportReport: Sendable {
  public let manifest: Manifest
  public let verdict: Verdict
  /// Rows that were written and removed.
  public let written: Int
  public let removed: Int
  /// Pending changes of this device that lost against the hub's.
  public let conflicts: Int
  /// What the hub told of this device's changes that it could not take.
  public let told: Int
  /// Rows of this device's own that got other keys, because somebody else's have theirs.
  public var rekeyed: [RekeyedHere] = []
  /// Exports that a restored hub lacks and that were put into the outbox once more.
  public var redelivered: [SequenceNumber] = []
  /// Where the database is kept as it was, because exports were given up that a restored hub lacks.
  public var copy: String?
  /// The version of the dataset to which the bundle brought this device; nil: it had that already.
  public var version: Int64?
  /// What became of the rows.
  public var tally = RowTally()
  /// The new disagreements, the first of them.
  public var found: [ConflictRecord] = []
  /// Of a volume: which others must come before anything can be taken.
  public var waiting: BundleParts.Waiting?
  /// What became of the database that was here before, where that was damaged.
  public var saved: SavedDatabase?
}

extension ImportReport {
  /// Of a bundle by which no row was changed.
  init(_ manifest: Manifest, _ verdict: Verdict) {
    self.init(manifest: manifest, verdict: verdict, written: 0, removed: 0, conflicts: 0, told: 0)
  }
}

extension DeviceWorkspace {
  /// Verifies a bundle from the hub and brings the database to what it says, in one transaction.
  ///
  /// Throws a `BundleError` or a `Refusal` where the bundle is not taken; the database is then as before.
  ///
  /// Where SQLite cannot read the database to its end, a full bundle makes it anew; what no export carried is saved before.
  /// - Parameters:
  ///   - fingerprint: of the hub's key, as a person compared it; needed at the first bundle of a device that was not provisioned.
  ///   - lost: what becomes of exports that a restored hub lacks.
  ///   - migrations: what is to be done with those that the bundle brings.
  public func importBundle(
    _ path: String, fingerprint: String? = nil, lost: LostExports = .deliveredAgain, migrations: BroughtMigrations = .run
  ) throws -> ImportReport {
    try locked {
      do {
        let session = try isInitial() ? nil : session()
        session?.lost = lost
        session?.migrations = migrations
        return try take(path, fingerprint: fingerprint, session, of: nil)
      } catch let error as SQLiteError where error.kind == .corrupt || error.kind == .notADatabase {
        guard let damaged = try DamagedDatabase.find(self) else { throw error }
        return try take(path, fingerprint: fingerprint, nil, damaged, of: nil)
      }
    }
  }

  /// - Parameters:
  ///   - damaged: the database that is here and cannot be opened; nil: there is none, or it has a session.
  ///   - volume: the one that completed the bundle at `path`; nil: it came as it is.
  private func take(
    _ path: String, fingerprint: String?, _ session: DeviceSession?, _ damaged: DamagedDatabase? = nil, of volume: Manifest?
  ) throws -> ImportReport {
    let report = try quarantining(path, session) {
      let bundle = try read(path, fingerprint: fingerprint, session, of: volume)
      if case .volume(let volume) = bundle.manifest.body { return try keep(bundle, volume, session) }
      let scope = try scope(of: bundle.manifest)
      if let damaged { return try damaged.replace(by: bundle, scope, from: path) }
      guard let session else { return try begin(with: bundle, scope, from: path) }
      // All rows are to be looked at anyway.
      if scope.extent == .full, let fault = try session.database.brokenPage() { throw SQLiteError(corrupt: fault) }
      return try session.importScope(bundle, scope, from: path)
    }
    guard let waiting = report.waiting, waiting.missing.isEmpty, case .volume(let body) = report.manifest.body else {
      return report
    }
    return try BundleParts(folder, platform: platform).join(waiting, body) {
      try take($0, fingerprint: fingerprint, session, damaged, of: report.manifest)
    }
  }

  /// A volume waits for the others, unless what they make was imported before.
  private func keep(
    _ bundle: borrowing VerifiedBundle, _ volume: Manifest.Volume, _ session: DeviceSession?
  ) throws -> ImportReport {
    if let session, volume.number <= session.state.received.rawValue { return ImportReport(bundle.manifest, .repeated) }
    let parts = BundleParts(folder, platform: platform)
    var report = ImportReport(bundle.manifest, .part)
    report.waiting = try ending == .keep ? parts.keep(bundle, volume) : parts.rehearse(bundle, volume)
    return report
  }

  func quarantining(_ path: String, _ session: DeviceSession?, _ body: () throws -> ImportReport) throws -> ImportReport {
    do { return try body() } catch let error as Refusal {
      if error.keeping == .quarantine { try session?.quarantine(path, because: error) }
      throw error
    } catch let error as BundleError {
      try session?.quarantine(path, because: error)
      throw error
    }
  }

  /// Checks a bundle from the hub, or one of this device's own, and lets `body` look at it. Imports nothing.
  public func verify<T>(_ path: String, _ body: (borrowing VerifiedBundle) throws -> T) throws -> T {
    try locked {
      try body(reader.read(path, trust: .keys(ownKeys() + hubKeys()), staging: folder.inbox))
    }
  }

  func read(
    _ path: String, fingerprint: String?, _ session: DeviceSession?, of volume: Manifest?
  ) throws -> VerifiedBundle {
    if try hubKey() != nil {
      do {
        // A bundle of this device's own that comes back is refused for what it is.
        return try reader.read(path, trust: .keys(ownKeys() + hubKeys()), staging: folder.inbox) { manifest, signer in
          try check(manifest)
          try manifest.check(isWholeOf: volume)
          try check(signer, of: manifest, session?.state) { try session?.isRevoked($0) ?? false }
        }
      } catch BundleError.unknownKey(let id) {
        return try readWithNewKey(path, id: id, fingerprint: fingerprint, session)
      }
    }
    guard try isInitial() else {
      throw WorkspaceError(
        "no-hub-key", "The hub's public key \(folder.key(Self.hubKeyName, "pub")) is missing.",
        hint: "Bring it back from a backup, or from another device of this hub.")
    }
    return try reader.read(path, trust: .firstContact, staging: folder.inbox) { manifest, signer in
      try check(manifest)
      try manifest.check(isWholeOf: volume)
      try compare(fingerprint, with: signer.fingerprint)
    }
  }

  /// The hub has lost its key and signs with one that nothing announced: a person says whether it is the hub's.
  private func readWithNewKey(_ path: String, id: String, fingerprint: String?, _ session: DeviceSession?) throws
    -> VerifiedBundle
  {
    guard let session, let old = try hubKey() else { throw BundleError.unknownKey(id) }
    let bundle = try reader.read(path, trust: .firstContact, staging: folder.inbox) { manifest, signer in
      try check(manifest)
      guard manifest.from.id == session.state.hubID, try !session.isRevoked(signer) else { throw BundleError.unknownKey(id) }
      guard let fingerprint else {
        throw Refusal(
          "new-hub-key", "It is signed with another key than the hub's. The key's fingerprint is\n\n    \(signer.fingerprint)\n",
          hint:
            "Has the hub's key been lost, and is this what `satchel-hub keys show` shows there by now? Then: satchel import FILE --fingerprint \(signer.fingerprint)",
          keeping: .quarantine)
      }
      try compare(fingerprint, with: signer.fingerprint)
    }
    if ending == .keep { try replaceHubKey(old, by: bundle.signer) }
    return bundle
  }

  /// The ceremony at the device: what a person compared must be the fingerprint of the key that signed.
  private func compare(_ fingerprint: String?, with shown: String) throws {
    guard let fingerprint else {
      throw Refusal(
        "untrusted-hub", "This device does not know its hub yet. The bundle's key has the fingerprint\n\n    \(shown)\n",
        hint:
          "Compare it with what `satchel-hub status` shows at the hub; if they are the same: satchel import FILE --fingerprint \(shown)"
      )
    }
    guard PublicKey.normalisedFingerprint(fingerprint) == shown else {
      throw Refusal(
        "other-fingerprint",
        "The bundle is signed by another key than the one that you compared: its fingerprint is \(shown).",
        hint: "Do not use this file before you have spoken with the hub's operator.")
    }
  }

  /// What must be right of any bundle from the hub, whatever the database holds.
  private func check(_ manifest: Manifest) throws {
    if manifest.emission == nil { _ = try scope(of: manifest) }
    guard manifest.dataset == configuration.dataset else {
      throw Refusal("wrong-dataset", "It is of the dataset \(manifest.dataset); this device has \(configuration.dataset).")
    }
    guard manifest.to.id == configuration.id else {
      throw Refusal(
        "not-for-us", "It is for the device \(manifest.to.name); this one is \(configuration.name).", hint: "Carry it on.")
    }
  }

  func scope(of manifest: Manifest) throws -> Manifest.Scope {
    if case .scope(let scope) = manifest.body { return scope }
    throw Refusal(
      "wrong-kind", "This is a bundle of kind \(manifest.kind.rawValue); a device imports those of kind scope.",
      hint: "Carry it to the hub \(manifest.to.name).")
  }
}

extension DeviceSession {
  func isRevoked(_ key: PublicKey) throws -> Bool { try RevokedKeys.contains(key, in: database) }

  func quarantine(_ path: String, because error: any ExplainedError) throws {
    if workspace.ending == .takeBack { return }
    try Quarantine.keep(path, because: error, folder: folder, platform: platform, database: database)
  }

  fileprivate func importScope(
    _ bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope, from path: String
  ) throws -> ImportReport {
    let manifest = bundle.manifest
    if scope.number <= state.received { return ImportReport(manifest, .repeated) }
    try refuseDelta(of: scope)
    if scope.acknowledged > state.sequence {
      throw Refusal(
        "older-database",
        "The hub has \(scope.acknowledged) exports of this device, and this database has made \(state.sequence): it is an old copy of itself.",
        hint: "Put the newer database back if there is one. If not, keep this one aside and have the device provisioned anew.")
    }
    let lacks = scope.epoch != state.epoch && scope.acknowledged < state.acknowledged
    if lacks, lost == .deliveredAgain, let report = try redeliver(to: scope, manifest) { return report }
    if scope.extent == .delta && scope.after > state.received {
      throw Refusal(
        "gap", "It builds on the hub's bundle \(scope.after), and the last one that came here is \(state.received).",
        hint: "Import the bundles in between first, or ask for a full one: satchel-hub emit --device \(state.name) --full")
    }
    let isNewHistory = scope.epoch != state.epoch
    guard manifest.version >= dataset.version else {
      throw Refusal(
        "older-dataset", "It is of version \(manifest.version) of the dataset, and this device has version \(dataset.version).",
        hint: "Was the hub restored from an old backup? Its operator has to bring it to that version again.")
    }
    if !isNewHistory { try RevokedKeys.check(manifest, state) }
    if workspace.ending == .keep { try workspace.trustNext(of: manifest) }
    let upgrade = try DeviceUpgrade(of: self, by: bundle)
    let snapshot = try upgrade == nil ? Snapshot.open(bundle, tables: tables) : Snapshot.open(beforeUpgrade: bundle)
    let lines = try bundle.changeLines()
    try lines.readAhead()
    // The hub's rows are taken as they are there, whatever got past a CHECK.
    try database.execute("PRAGMA ignore_check_constraints = ON")
    // The hub has an export that tells of the next key: from the next one on that signs.
    let hasToldKey = state.toldKey.map { $0 <= scope.acknowledged } ?? false
    if hasToldKey { state.toldKey = nil }
    let copy = lacks && lost == .givenUp ? try keepCopy(before: scope.number) : nil
    var report = try keepingInArchive(path, manifest) {
      guard let upgrade else {
        return try database.applyTransaction(workspace.ending, to: tables.map(\.name)) {
          try acknowledge(scope)
          return try apply(bundle, lines, scope, snapshot, nil)
        }
      }
      return try upgrade.orPark(path) {
        try database.applyTransaction(workspace.ending) {
          try acknowledge(scope)
          return try upgrade.changeTables()
        } _: {
          try snapshot?.check(tables)
          return try apply(bundle, lines, scope, snapshot, upgrade)
        }
      }
    }
    report.copy = copy
    if workspace.ending == .keep {
      try wipe()
      try workspace.noteSigner(bundle.signer)
      if hasToldKey { try workspace.keys.finishRotation() }
      // What the hub has needs no carrying any more.
      try moveToSent(below: state.acknowledged.next)
      try BundleParts(folder, platform: platform).forget(incomingPrefix, upTo: state.received.rawValue)
      if scope.extent == .full { try forgetBefore(scope, isNewHistory) }
      try workspace.unstage(upTo: state.received)
    }
    return report
  }

  /// Leaves no byte of rows that are gone: they may have left the user's sight. Where somebody is reading, the next import does it.
  private func wipe() throws {
    guard state.isUnwiped else { return }
    guard try database.wipe() else { return }
    state.isUnwiped = false
    try state.save(in: database)
    try database.emptyLog()
  }

  /// Keeps a copy of the bundle before `body` commits what it says: where there is one, there is the other. A crash in between leaves a
  /// copy too many.
  private func keepingInArchive<T>(_ path: String, _ manifest: Manifest, _ body: () throws -> T) throws -> T {
    let copy = archive.path(incomingPrefix, manifest.number)
    if try workspace.ending == .takeBack || platform.files.kind(copy) != nil { return try body() }
    try archive.keep(path, as: manifest.fileName)
    do { return try body() } catch {
      try platform.files.remove(copy)
      throw error
    }
  }

  /// Nothing before a full bundle is needed to know what the hub says.
  private func forgetBefore(_ scope: Manifest.Scope, _ isNewHistory: Bool) throws {
    if isNewHistory {
      // What a hub said before it lost its memory may be told nowhere else.
      try archive.setAside(incomingPrefix, below: scope.number.rawValue)
    } else {
      try archive.forget(incomingPrefix, below: scope.number.rawValue)
    }
    try archive.forget(outgoingPrefix, below: scope.acknowledged.rawValue)
  }

  /// Sorts in what was written here, and forgets the pre-images of what the hub has.
  private func acknowledge(_ scope: Manifest.Scope) throws {
    try Capture.settle(tables, in: database)
    if scope.acknowledged > state.acknowledged {
      state.acknowledged = scope.acknowledged
      try PreImageStore.forget(before: acknowledgedGeneration, tables, in: database)
    }
  }

  private func apply(
    _ bundle: borrowing VerifiedBundle, _ lines: ChangeLines, _ scope: Manifest.Scope, _ snapshot: Snapshot?,
    _ upgrade: DeviceUpgrade?
  ) throws -> ImportReport {
    let manifest = bundle.manifest
    let now = platform.clock.milliseconds()
    try upgrade?.bringOwnRows()
    let keys = try KeyChanges(self, scope).carryOut(bundle, snapshot)
    let applier = try ScopeApplier(self)
    for stranded in keys.stranded { try applier.giveUp(stranded) }
    if let snapshot { try applyWhole(snapshot, with: applier) }
    try lines.each { line in
      guard let rows = applier.rows(of: line.table) else { throw LineProblem("there is no table \(line.table) here") }
      switch line.content {
      case .row(let fields):
        try rows.schema.refuseOtherColumns(fields.map(\.name))
        let row = try rows.schema.row(fields)
        guard rows.schema.key(of: row) == line.key else { throw LineProblem("its key is not its row's") }
        try upgrade?.note(row, of: line)
        try applier.apply(row, key: line.key, at: line.stamp, in: rows)
      case .gone:
        try upgrade?.note(nil, of: line)
        try applier.apply(nil, key: line.key, at: line.stamp, in: rows)
      case .rekey(_, let number): if number == scope.number { try upgrade?.note(nil, of: line) }
      case .block: break
      default: throw LineProblem("it is a line of a device")
      }
    }
    if scope.extent == .delta { try upgrade?.putBack(with: applier) }
    try applier.finish()
    try KeyChanges.takeBlocks(of: bundle, after: state.received, tables, device: state.id, in: database)
    let told = try takeConflicts(of: bundle, at: now)
    try ConflictTable.forget(ofOthersThan: manifest.user, toldUpTo: scope.acknowledged.rawValue, in: database)
    if let definition = try bundle.dataset(limit: DatasetDefinition.maximumBytes) { state.definition = definition }
    state.received = scope.number
    if scope.epoch != state.epoch {
      state.epoch = scope.epoch
      state.restored = nil
      try RevokedKeys.join(manifest, into: &state, in: database)
    }
    state.user = manifest.user
    state.heard = now
    state.hubRecipient = manifest.recipient ?? state.hubRecipient
    try RevokedKeys.take(manifest, into: &state, in: database)
    if applier.removed > 0 { state.isUnwiped = true }
    try state.save(in: database)
    try Capture.witness(manifest.stamp, in: database)
    try Ledger.add(
      manifest, digest: bundle.digest, direction: .incoming, verdict: .imported, at: now, conflicts: Int64(applier.conflicts),
      in: database)
    var report = ImportReport(
      manifest: manifest, verdict: .imported, written: applier.written, removed: applier.removed,
      conflicts: applier.conflicts + (upgrade?.departed ?? 0), told: told, rekeyed: keys.rekeyed)
    report.tally = applier.tally
    report.found = applier.found
    report.version = upgrade == nil ? nil : dataset.version
    return report
  }

  /// Makes every row what the whole of the hub's rows says, those that are not among them included.
  private func applyWhole(_ snapshot: Snapshot, with applier: ScopeApplier) throws {
    for rows in applier.all.reversed() {
      let theirs = try RowTable(rows.table, in: snapshot.database)
      // Rows that were deleted here, and that the hub has not either.
      var gone: [RowKey] = []
      try PreImageStore.each(rows.table, since: .zero, in: database) { key, _, current in
        if try current == nil && !theirs.contains(key) { gone.append(key) }
      }
      // The row that is looked at is the only one that goes meanwhile.
      try database.each(rows.table.allKeysSQL) {
        let key = RowKey($0.values(from: 0, count: rows.schema.key.count))
        if try !theirs.contains(key) { try applier.apply(nil, key: key, at: .zero, in: rows) }
      }
      for key in gone { try applier.apply(nil, key: key, at: .zero, in: rows) }
    }
    for rows in applier.all {
      try snapshot.database.each(rows.table.allRowsSQL) {
        let row = Row($0.values(from: 0, count: rows.schema.columns.count))
        let key = rows.schema.key(of: row)
        try applier.apply(row, key: key, at: try snapshot.stamp(of: key, in: rows.schema.name), in: rows)
      }
    }
  }

  /// Keeps what the hub tells of this device's changes that it could not take as they were.
  @discardableResult
  func takeConflicts(of bundle: borrowing VerifiedBundle, at now: Int64) throws -> Int {
    var new = 0
    let id = bundle.manifest.bundle
    try bundle.eachConflict { record in
      guard record.device == state.id else { throw LineProblem("it is about another device's change") }
      if try ConflictTable.add(record, bundle: id, noted: now, told: 0, in: database) {
        new += 1
      } else {
        try ConflictTable.update(record, at: now, in: database)
      }
    }
    return new
  }
}
