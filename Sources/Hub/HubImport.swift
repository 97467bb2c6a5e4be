import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelDataset
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// What an import at the hub did.
public struct HubImportReport: Sendable {
  public let manifest: Manifest
  public let verdict: Verdict
  /// Changes that were taken, wholly or in part.
  public let taken: Int
  /// Disagreements that are new.
  public let conflicts: Int
  /// Conflicts that the device's user decided.
  public let resolved: Int
  /// Rows that had waited, and entered now.
  public let released: Int
  /// Rows whose key was another row's already, and that have another one here.
  public let rekeyed: [RekeyedRow]
  /// Rows that became one with a row that has their natural key.
  public var folded: [RekeyedRow] = []
  /// Changes of tables that have left the dataset: each is kept as a conflict.
  public var departed = 0
  /// Columns, as `table.column`, that the device gave values and that the dataset has no more: those values stay in the archived bundle alone.
  public var leftOut: [Name] = []
  /// Milliseconds by which the device's clock ran ahead of the hub's; its stamps were set back to the hub's time.
  public let clamped: Int64
  /// What became of the rows.
  public var tally = RowTally()
  /// The new disagreements, the first of them.
  public var found: [ConflictRecord] = []
  /// Of a volume: which others must come before anything can be taken.
  public var waiting: BundleParts.Waiting?
}

extension HubImportReport {
  /// Of a bundle of which nothing was taken.
  init(_ manifest: Manifest, _ verdict: Verdict) {
    self.init(
      manifest: manifest, verdict: verdict, taken: 0, conflicts: 0, resolved: 0, released: 0, rekeyed: [], clamped: 0)
  }
}

extension HubWorkspace {
  /// Verifies a device's bundle and merges it, in one transaction.
  ///
  /// Throws a `BundleError` or a `Refusal` where the bundle is not taken; the rows are then as before.
  public func importBundle(_ path: String) throws -> HubImportReport {
    try locked { try take(path, try storeForLongWork(), of: nil) }
  }

  /// - Parameter volume: the one that completed the bundle at `path`; nil: it came as it is.
  private func take(_ path: String, _ store: HubStore, of volume: Manifest?) throws -> HubImportReport {
    let report = try quarantining(path, store) {
      let bundle = try reader.read(path, trust: .keys(trustedKeys(store)), staging: folder.inbox) { manifest, signer in
        try check(manifest, signer: signer, store)
        try manifest.check(isWholeOf: volume)
      }
      if case .volume(let volume) = bundle.manifest.body { return try keep(bundle, volume, store) }
      return try merge(bundle, from: path, store)
    }
    guard let waiting = report.waiting, waiting.missing.isEmpty, case .volume(let body) = report.manifest.body else {
      return report
    }
    return try BundleParts(folder, platform: platform).join(waiting, body) { try take($0, store, of: report.manifest) }
  }

  private func merge(_ bundle: borrowing VerifiedBundle, from path: String, _ store: HubStore) throws -> HubImportReport {
    let manifest = bundle.manifest
    let changes = try self.changes(of: manifest)
    try refuseFork(manifest, changes, bundle.digest, store)
    let report = try HubImport(self, store, manifest, changes).run(bundle)
    if ending == .takeBack { return report }
    if let device = try store.device(manifest.from.id) {
      try publish(device)
      try BundleParts(folder, platform: platform).forget(
        "\(manifest.dataset)-\(device.name)-\(store.identity.name)-", upTo: device.merged.rawValue)
    }
    try finishRotation(store)
    // A repeated one too: the first time may have ended between the merge and this.
    if report.verdict != .stale {
      try archive(path, manifest)
    } else if Paths.parent(of: path) == folder.waiting {
      try platform.files.remove(path)
    }
    return report
  }

  /// A volume waits for the others, unless the bundle that they make was overtaken.
  private func keep(
    _ bundle: borrowing VerifiedBundle, _ volume: Manifest.Volume, _ store: HubStore
  ) throws -> HubImportReport {
    let manifest = bundle.manifest
    if let device = try store.device(manifest.from.id), volume.number <= device.merged.rawValue {
      return HubImportReport(manifest, .stale)
    }
    let parts = BundleParts(folder, platform: platform)
    var report = HubImportReport(manifest, .part)
    report.waiting = try ending == .keep ? parts.keep(bundle, volume) : parts.rehearse(bundle, volume)
    return report
  }

  private func quarantining(_ path: String, _ store: HubStore, _ body: () throws -> HubImportReport) throws -> HubImportReport {
    do { return try body() } catch let error as Refusal {
      switch error.keeping {
      case .inPlace: break
      case .quarantine: try quarantine(path, because: error, store)
      case .waiting: if ending == .keep { try keepWaiting(path, store) }
      }
      throw error
    } catch BundleError.unknownKey where isRequest(path) {
      throw Refusal(
        "wrong-kind", "This is a device's request to join.", hint: "Enrol it: satchel-hub device enrol FILE --user USER")
    } catch let error as BundleError {
      try quarantine(path, because: error, store)
      throw error
    }
  }

  private func isRequest(_ path: String) -> Bool { (try? readRequest(path)) != nil }

  /// Checks a bundle of a device, or one of the hub's own, and lets `body` look at it. Imports nothing.
  public func verify<T>(_ path: String, _ body: (borrowing VerifiedBundle) throws -> T) throws -> T {
    try locked {
      try body(reader.read(path, trust: .keys(trustedKeys(store())), staging: folder.inbox))
    }
  }

  private func quarantine(_ path: String, because error: any ExplainedError, _ store: HubStore) throws {
    if ending == .takeBack { return }
    try Quarantine.keep(path, because: error, folder: folder, platform: platform, database: store.database)
  }

  /// Keeps what was imported.
  private func archive(_ path: String, _ manifest: Manifest) throws {
    try HubArchive(folder, platform.files).keep(path, manifest)
    if folder.isForUs(path) { try platform.files.remove(path) }
  }

  /// What must be right of any device's bundle, whatever it carries.
  private func check(_ manifest: Manifest, signer: PublicKey, _ store: HubStore) throws {
    let sequence = try sequence(of: manifest)
    guard manifest.dataset == store.dataset.name else {
      throw Refusal("wrong-dataset", "It is of the dataset \(manifest.dataset); this hub has \(store.dataset.name).")
    }
    guard manifest.to.id == store.identity.id else {
      throw Refusal("not-for-us", "It is for the hub \(manifest.to.name), which is another one than this.", hint: "Carry it on.")
    }
    guard let device = try store.device(manifest.from.id) else {
      throw Refusal(
        "other-key", "It is signed with the key of another device than the one that it says it is from.", keeping: .quarantine)
    }
    try check(signer, of: device, sequence, store)
    switch device.state {
    case .active: break
    case .revoked:
      // What it delivered before it was stolen may still be on its way.
      if let from = device.revokedFrom, sequence < from { break }
      throw Refusal(
        "revoked",
        "The device \(device.name) was revoked\(device.revokedFrom.map { ", from its bundle \($0) on" } ?? "").",
        keeping: .quarantine)
    case .flagged:
      throw Refusal(
        "flagged", "Two different histories came from the device \(device.name), so nothing of it is taken.",
        hint:
          "Let the copy go on whose bundles the hub has taken: satchel-hub device unflag \(device.name). Provision the other one anew.",
        keeping: .quarantine)
    }
    // What it wrote before it expired may still be on its way.
    if let expires = [device.expires, try store.user(device.user)?.expires].compactMap(\.self).min(),
      manifest.stamp.milliseconds > expires
    {
      throw Refusal(
        "expired",
        "The device \(device.name), or its user \(device.user), was to deliver until \(UTCTime.text(milliseconds: expires)).",
        hint: "If it may go on: satchel-hub device set \(device.name) --expires DATE, or user set; then import it again.")
    }
    // What a volume is a piece of, is checked when it is whole.
    guard case .changes(let changes) = manifest.body else { return }
    try check(changes, of: device, at: store.identity)
    guard manifest.version <= store.dataset.version else {
      throw Refusal(
        "newer-dataset", "It is of version \(manifest.version) of the dataset; this hub has version \(store.dataset.version).",
        hint:
          "It waits in bundles/inbox/waiting. Bring the hub to that version, satchel-hub dataset apply, and the next import takes it.",
        keeping: .waiting)
    }
    guard changes.incarnation == device.incarnation else {
      try flag(device, store)
      throw Refusal(
        "other-incarnation", "It comes from another life of the device \(device.name) than the one that was enrolled.",
        hint: "The device's folder was copied or reset: enrol it anew.", keeping: .quarantine)
    }
  }

  /// Refuses a bundle that is not of the one history that is known of its device. Its own digest is part of that, so it must have
  /// been read.
  private func refuseFork(_ manifest: Manifest, _ changes: Manifest.Changes, _ digest: Digest, _ store: HubStore) throws {
    guard let problem = try store.fork(manifest, changes, digest) else { return }
    if let device = try store.device(manifest.from.id) { try flag(device, store) }
    throw Refusal(
      "fork", problem,
      hint:
        "The device's folder was copied, and both copies work. The one whose bundles the hub has taken can go on after: satchel-hub device unflag \(manifest.from.name). Provision the other anew.",
      keeping: .quarantine)
  }

  /// The number of the export that a bundle is, or is a piece of.
  private func sequence(of manifest: Manifest) throws -> SequenceNumber {
    if case .volume(let volume) = manifest.body, volume.whole == .changes { return SequenceNumber(volume.number) }
    return try changes(of: manifest).sequence
  }

  private func changes(of manifest: Manifest) throws -> Manifest.Changes {
    if case .changes(let changes) = manifest.body { return changes }
    throw Refusal(
      "wrong-kind", "This is a bundle of kind \(manifest.kind.rawValue); a hub imports those of kind changes.",
      hint: "Carry it to the device \(manifest.to.name).")
  }

  private func flag(_ device: EnrolledDevice, _ store: HubStore) throws {
    var flagged = device
    flagged.state = .flagged
    try store.writeTransaction(ending) { try store.save(flagged) }
  }
}

/// The import of one verified bundle.
private struct HubImport {
  let workspace: HubWorkspace
  let store: HubStore
  let manifest: Manifest
  let changes: Manifest.Changes

  init(_ workspace: HubWorkspace, _ store: HubStore, _ manifest: Manifest, _ changes: Manifest.Changes) {
    self.workspace = workspace
    self.store = store
    self.manifest = manifest
    self.changes = changes
  }

  func run(_ bundle: borrowing VerifiedBundle) throws -> HubImportReport {
    let now = workspace.platform.clock.milliseconds()
    let lines = try bundle.changeLines()
    try lines.readAhead()
    return try store.applyTransaction(workspace.ending) {
      try store.absorb(user: HubWorkspace.hubUser, at: now)
      guard var device = try store.device(manifest.from.id) else { throw HubWorkspace.noDevice(manifest.from.name) }
      if try Ledger.hasTaken(manifest.bundle, in: store.database) { return report(.repeated) }
      let verdict: Verdict = changes.sequence > device.merged ? .imported : .stale
      let result = verdict == .imported ? try merge(bundle, lines, device, now) : report(verdict)
      device.merged = max(device.merged, changes.sequence)
      // What a hub that was restored does not know of, it cannot build on.
      if try store.hasEmission(changes.received, of: device.id) {
        device.proved = max(device.proved, changes.received)
      }
      device.heard = now
      if verdict == .imported {
        device.skew = try skew(at: now)
        try workspace.noteKeys(of: manifest, signer: bundle.signer, &device, store)
      }
      try store.save(device)
      try store.keepChain(of: manifest, changes, bundle.digest)
      try store.prove(device.proved, by: device.id)
      try Ledger.add(
        manifest, digest: bundle.digest, direction: .incoming, verdict: verdict, at: now, conflicts: Int64(result.conflicts),
        in: store.database)
      return result
    }
  }

  /// Milliseconds by which the device's clock runs ahead; below zero, by which it is at least behind: a bundle is not older than the one on
  /// which it stands. How long it was on its way does not count.
  private func skew(at now: Int64) throws -> Int64 {
    guard let made = UTCTime.milliseconds(of: manifest.created) else { return 0 }
    if made > now { return made - now }
    let emitted = try Ledger.written(changes.received.rawValue, for: manifest.from.name, in: store.database)
    return emitted.map { min(0, made - $0) } ?? 0
  }

  private func report(_ verdict: Verdict) -> HubImportReport {
    HubImportReport(manifest, verdict)
  }

  private func merge(
    _ bundle: borrowing VerifiedBundle, _ lines: ChangeLines, _ device: EnrolledDevice, _ now: Int64
  ) throws -> HubImportReport {
    let emissions = try store.emissions(of: device.id)
    // A device that stands on an emission which a restored hub does not know has all that was in the one before it. Where none is
    // known, because it was away for long, nobody knows what it started from.
    let stand = emissions.last { $0.number <= changes.received }
    // It may have been given to another user since, who did not write this.
    var device = device
    device.user = stand?.user ?? device.user
    let user = try store.user(device.user) ?? User(name: device.user, attributes: [])
    let since = stand?.cursor
    // What the device sent comes back to it only if it may meanwhile have imported something and rebased this away.
    let echo = (emissions.last?.number ?? .zero) > changes.received
    let scope = ScopeStore(store, user: user)
    let merger = StepMerger(store, device: device, scope: scope, bundle: manifest.bundle, since: since, echo: echo, now: now)
    var speech = try Speech(of: manifest, store)
    var keys = try DeviceKeys(scope, device, received: changes.received, since: since, speech)
    try keys.settle(bundle, at: now)
    // First what the device found and then what its user decided: it may be about the same, in one bundle.
    let told = try takeConflicts(bundle, device, keys, speech, latest: merger.latest, now)
    let (resolved, late) = try takeResolutions(bundle, device, now)
    var clamped: Int64 = 0
    var departed = 0
    try lines.each { line in
      if let generation = line.generation, generation.rawValue >= changes.sequence.rawValue {
        throw LineProblem("its generation is not before the export")
      }
      guard let place = store.place(of: line.table) else {
        departed += try takeDeparted(line, device, speech, latest: merger.latest, now)
        return
      }
      if line.content.isAboutKeys || !speech.hasAnythingToSay(in: line) { return }
      let sent = try store.fitted(line, in: place, speech).step(in: store.rows[place].schema)
      guard sent.generation.rawValue >= device.merged.rawValue else { return }
      let step = try keys.translated(sent, in: place)
      if step.stamp > merger.latest { clamped = max(clamped, step.stamp.milliseconds - now) }
      let isLate = late.contains { $0.table == step.table && $0.key == step.key && $0.generation == step.generation }
      try merger.take(step, in: place, decided: isLate || keys.isOfAnother(sent, in: place))
    }
    try merger.finish()
    let released = try HeldRows(store, now: now).release()
    try KeyBlocks(store).renewOwn()
    try Capture.witness(min(manifest.stamp, merger.latest), in: store.database)
    var report = HubImportReport(
      manifest: manifest, verdict: .imported, taken: merger.taken, conflicts: merger.conflicts + told + departed,
      resolved: resolved, released: released, rekeyed: keys.given, clamped: clamped)
    report.departed = departed
    report.leftOut = speech.leftOut.sorted()
    report.folded = keys.folded
    report.tally = merger.tally
    report.found = merger.found
    return report
  }

  /// A row whose conflict was decided at the hub before the device's decision came.
  private struct LateRow {
    let table: Name
    let key: RowKey
    let generation: Generation
  }

  /// Closes the conflicts that the device's user decided. The first decision to reach the hub stands.
  private func takeResolutions(
    _ bundle: borrowing VerifiedBundle, _ device: EnrolledDevice, _ now: Int64
  ) throws -> (resolved: Int, late: [LateRow]) {
    var resolved = 0
    var late: [LateRow] = []
    try bundle.eachResolution { resolution in
      guard let known = try? ConflictTable.find(resolution.conflict.text, in: store.database), known.record.device == device.id
      else {
        return
      }
      let isFirst = try ConflictTable.resolve(
        resolution.conflict, resolution.decision, by: resolution.user, at: now, note: resolution.note, in: store.database)
      if isFirst {
        resolved += 1
      } else if known.decision?.by != resolution.user || known.decision?.made != resolution.decision {
        late.append(LateRow(table: known.record.table, key: known.record.key, generation: resolution.generation))
        try ConflictTable.retell(known.record.id, in: store.database)
      }
    }
    return (resolved, late)
  }

  /// Keeps a change of a table that has left the dataset, for somebody to see to. Returns how many conflicts are new.
  private func takeDeparted(
    _ line: ChangeLine, _ device: EnrolledDevice, _ speech: Speech, latest: Stamp, _ now: Int64
  ) throws -> Int {
    guard let version = speech.departure(of: line.table) else { throw LineProblem("the dataset has no table \(line.table)") }
    guard let generation = line.generation, generation.rawValue >= device.merged.rawValue,
      var record = ConflictRecord(ofDeparted: line, generation, in: version, device: device.id, user: device.user)
    else { return 0 }
    record.stamp = min(record.stamp, latest)
    return try ConflictTable.add(record, bundle: manifest.bundle, noted: now, in: store.database) ? 1 : 0
  }

  /// Keeps the disagreements that the device found when it rebased its changes.
  private func takeConflicts(
    _ bundle: borrowing VerifiedBundle, _ device: EnrolledDevice, _ keys: DeviceKeys, _ speech: Speech, latest: Stamp,
    _ now: Int64
  ) throws -> Int {
    var new = 0
    try bundle.eachConflict { record in
      guard record.device == device.id else { throw LineProblem("it is about another device's change") }
      var found = keys.translated(speech.present(record))
      found.stamp = min(record.stamp, latest)
      // Who decided, and what, is in the resolution that comes with it.
      if found.state == .resolved { (found.state, found.decision) = (.open, nil) }
      if try ConflictTable.add(found, bundle: manifest.bundle, noted: now, told: 0, in: store.database) { new += 1 }
    }
    return new
  }
}
