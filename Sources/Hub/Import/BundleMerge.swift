import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The import of one verified bundle.
struct BundleMerge {
  let workspace: HubWorkspace
  let store: HubStore
  let manifest: Manifest
  let changes: Manifest.Changes
  let brake: BrakeDecision

  func run(_ bundle: borrowing VerifiedBundle) throws -> HubImportReport {
    let now = workspace.platform.clock.milliseconds()
    let lines = try bundle.changeLines()
    try lines.readAhead()
    guard let sender = try store.device(manifest.from.id) else { throw HubWorkspace.noDevice(manifest.from.name) }
    let attachments = HubAttachments(store, workspace)
    var arriving = try ArrivingAttachments(
      bundle, in: workspace.folder, platform: workspace.platform, runMode: workspace.runMode
    ) { try brake == .reject ? .ignore : attachments.action($0, $1, from: sender, in: changes.sequence) }
    return try store.applyTransaction(workspace.runMode) {
      try store.logLocalWrites(user: HubWorkspace.hubUser, at: now)
      guard var device = try store.device(manifest.from.id) else { throw HubWorkspace.noDevice(manifest.from.name) }
      if try workspace.isTaken(manifest, bundle.digest, store) { return report(.repeated) }
      let verdict: Verdict = changes.sequence > device.merged ? .imported : .stale
      for receipt in arriving.receipts { try store.note(receipt, from: device) }
      let lost = verdict == .imported ? changes.lost : []
      for path in lost { try store.noteLost(path, by: device, standingOn: changes.received) }
      let proof = verdict == .imported ? try check(bundle, device, now) : nil
      var result = verdict == .imported ? try merge(bundle, lines, device, now) : report(verdict)
      // The attached files of an overtaken bundle are placed too: the newer bundle may have had no room for these
      // files.
      let names = FileNames(workspace, store, sender: try author(of: device))
      try names.place(&arriving)
      for (number, arrival) in arriving.arrivals.enumerated() {
        try store.note(arrival, try arriving.mark(of: number), from: device, by: changes.sequence)
      }
      result.proof = proof
      (result.attached, result.attachedNewer) = (arriving.newCount, arriving.newerCount)
      (result.beside, result.attachedLost) = (arriving.beside, lost.count)
      if brake == .reject, verdict == .imported { result.rejected = try workspace.rejectChanges(of: manifest, store) }
      device.merged = max(device.merged, changes.sequence)
      device.newestStamp = try max(
        device.newestStamp, min(manifest.stamp, store.newestBelievedStamp(at: now, slack: 1)))
      if verdict == .imported { try noteStand(&device) }
      device.heard = now
      if device.state == .preparing { device.state = .active }
      device.asked = device.asked ?? bundle.senderName
      if verdict == .imported {
        device.skew = try skew(at: now)
        device.understands = manifest.understands
        try workspace.noteKeys(of: manifest, signer: bundle.signer, &device, store)
        result.refusedKey = device.refusedKey
      }
      try store.save(device)
      try store.keepChain(of: manifest, changes, bundle.digest)
      try store.prove(device.proved, by: device.id)
      if verdict == .imported {
        try store.noteBrought(changes, by: device, most: workspace.mostBrought)
        try store.forgetBraked(of: device.id)
        try store.save(
          changes.health.map { DeviceHealth($0, created: manifest.created, at: now) }, of: device.id)
      }
      try Ledger.add(
        manifest, digest: bundle.digest, direction: .incoming, verdict: verdict, at: now,
        conflicts: Int64(result.conflicts),
        in: store.database)
      if workspace.runMode == .commit {
        try arriving.put()
        let named = try names.settle(result.resolved > 0 ? .all : .changed, arriving.arrivals)
        result.beside.removeAll { file in named.contains { $0 == (file.path, file.digest) } }
      }
      return result
    }
  }

  /// Compares the digests in the bundle with the rows that the device should have. Returns nil if the bundle has no
  /// digests.
  private func check(_ bundle: borrowing VerifiedBundle, _ device: EnrolledDevice, _ now: Int64) throws -> StateProof? {
    guard let entry = try bundle.state() else { return nil }
    let outcome = try StateCheck(store: store, device: device, manifest: manifest, changes: changes)
      .run(entry, asked: store.questions(for: device.id))
    try store.saveProof(outcome, of: device.id, changes, at: now)
    return try store.proof(of: device.id)
  }

  /// Records which emission the device has. The bundle must be newer than all merged bundles of the device.
  private func noteStand(_ device: inout EnrolledDevice) throws {
    if let emission = try store.emission(changes, of: device.id) {
      device.proved = max(device.proved, changes.received)
      try forgetFormerUsers(before: emission, of: device)
    } else if changes.epoch == store.identity.epoch, let proof = changes.proof {
      // The hub no longer knows the device's rows, so the next emission has all rows. This record lets that emission
      // say that it follows the device's emission.
      try store.declare(.init(number: changes.received, digest: proof.digest), by: device.id)
    }
  }

  /// Forgets the device's former users, because the device has an emission for its present user.
  ///
  /// If the bundle is of an earlier epoch, this method forgets no user. In the lost time, the device may have received
  /// later emissions for other users. Bundles with the work of these users may still be on their way.
  private func forgetFormerUsers(before emission: Emission, of device: EnrolledDevice) throws {
    guard changes.epoch == store.identity.epoch else { return }
    try store.forgetFormerUsers(before: emission, of: device.id)
  }

  /// Returns by how many milliseconds the device's clock is ahead of the hub's clock. If the result is negative, the
  /// clock is behind by at least that time. The bundle then has an earlier date than the emission that it names. The
  /// time that a bundle spends on a stick does not count.
  private func skew(at now: Int64) throws -> Int64 {
    guard let made = UTCTime.milliseconds(of: manifest.created) else { return 0 }
    if made > now { return made - now }
    let emitted = try Ledger.written(changes.received.rawValue, for: manifest.from.name, in: store.database)
    // If the emission is dated after the present time, the hub's own clock was ahead when it made the emission.
    return emitted.map { $0 > now ? 0 : min(0, made - $0) } ?? 0
  }

  private func report(_ verdict: Verdict) -> HubImportReport {
    HubImportReport(manifest, verdict)
  }

  /// Returns the device's record, but with the author of the bundle's changes as its user. The device may have another
  /// user by now.
  private func author(of device: EnrolledDevice) throws -> EnrolledDevice {
    var author = device
    author.user = try store.author(of: manifest.user, on: store.emission(changes, of: device.id), by: device)
    return author
  }

  private func merge(
    _ bundle: borrowing VerifiedBundle, _ lines: ChangeLines, _ device: EnrolledDevice, _ now: Int64
  ) throws -> HubImportReport {
    let emissions = try store.emissions(of: device.id)
    let emission = try store.emission(changes, of: device.id)
    var device = try author(of: device)
    device.isRejected = brake == .reject
    let start = try store.cursor()
    let base: ChangeBase =
      if changes.epoch != store.identity.epoch {
        .formerEpoch(emission?.cursor)
      } else {
        emission.map { .emission($0.cursor) } ?? .forgotten
      }
    // The hub sends the device's own changes back only if the device may have lost them. The device may have lost them
    // if it imported a newer emission and rebased its changes.
    let returnsToAuthor = base.cursor == nil || (emissions.last?.number ?? .zero) > changes.received
    let scope = try ScopeStore(store, userNamed: device.user)
    let sealed = try emission.map { try store.sealedBundles(before: changes.base, since: $0, of: device.name) } ?? []
    let own = OwnChanges(of: device.id, but: sealed)
    let merger = try StepMerger(
      store, device: device, own: own, scope: scope, bundle: manifest.bundle, base: base,
      held: HeldAtBase(store, device: device.id, emission: emission?.number), returnsToAuthor: returnsToAuthor, now: now
    )
    merger.heldLimit = workspace.heldLimit
    merger.memory = StepMemory(most: workspace.mostMemory)
    merger.received = changes.received
    merger.receivedStamp = emission?.stamp
    merger.formerExports = changes.formerExports
    var translation = try SchemaTranslation(of: manifest, store)
    let shared = try SharedChanges(
      workspace, store, device, changes, changes.identity(bundle.digest), base: base.cursor)
    let keys = try PrimaryKeyRemapping(
      scope, device, received: changes.received, base: base, own: own, bundle: manifest.bundle, shared, translation,
      merger.ranges, LostRows(workspace, store))
    try keys.settle(bundle, at: now, mostMemory: workspace.mostMemory)
    // The conflicts that the device found are taken before the decisions of its user. One bundle may contain a conflict
    // and the decision about it.
    let told = try ReportedConflicts(
      store: store, device: device, manifest: manifest, changes: changes, keys: keys, translation: translation,
      judge: ReportJudge(scope, device), latest: merger.latest, doubtful: merger.doubtful, now: now
    ).take(bundle)
    merger.preferred = told.preferred
    merger.unknown = base.isFormerEpoch ? nil : unknownResults(emission, told.reported)
    let (resolved, decidedBefore) =
      try brake == .reject
      ? (0, [:])
      : ReportedDecisions(store: store, device: device, changes: changes, now: now, heldLimit: workspace.heldLimit)
        .take(bundle)
    var clamped: Int64 = 0
    var departed = 0
    var claims = AttachmentClaims()
    var limit = StepLimit(most: workspace.mostSteps)
    try lines.each { line in
      if let generation = line.generation, generation.rawValue >= changes.sequence.rawValue {
        throw LineProblem("its generation is not below the number of the export")
      }
      guard let place = store.place(of: line.table) else {
        departed += try takeDeparted(line, device, translation, latest: merger.latest, now)
        return
      }
      if line.content.isAboutKeys || !translation.hasMeaning(in: line) { return }
      let sent = try store.fitted(line, in: place, translation).step(in: store.rows[place].schema)
      guard sent.generation.rawValue >= device.merged.rawValue else { return }
      try limit.count(sent, in: place)
      for (rest, writes) in try parts(of: sent, in: place, shared, keys, merger, device) {
        let step = try keys.translated(rest, in: place)
        if step.stamp > merger.latest { clamped = max(clamped, step.stamp.milliseconds - now) }
        let decided = decidedBefore[.init(table: step.table, key: step.key, generation: step.generation)]
        try merger.take(
          step, in: place, decided: keys.isOfAnother(sent, in: place) ? .row : decided,
          folded: step.key != rest.key && store.tables[place].folds, after: writes)
        claims.note(step, in: place, of: store.rows[place].table)
        // Columns may be newer than the device's version. The hub's row has their present default. The device's row
        // gets the default from the time when the columns were added. So the hub sends its row to the device.
        if translation.version < store.dataset.version, case .insert = step.change {
          try store.owe(step.key, in: place, to: device.id)
        }
      }
    }
    try merger.finish()
    let late = LateWork(
      merger, FormerRights(scope, device: device, changes, among: emission == nil ? [] : emissions), own: own,
      bundle: manifest.bundle, now: now)
    try late.take(told.maybeLate + merger.maybeLate)
    try LostRights(scope, device).note(told.lost + merger.lost)
    if brake == .none || brake == .withHistory {
      try BrakeCheck(
        store: store, user: scope.user.name, held: merger.held, start: start, bundle: manifest, decision: brake
      ).run(merger.tally)
    }
    try told.keptOut.bringBack(deletedIn: manifest.bundle.text, at: now)
    try claims.keep(by: device.id, store)
    let released = try HeldRows(store, now: now).release()
    try LostParents(store).openBelow()
    try KeyBlocks(store).renewOwn()
    try Capture.witness(min(manifest.stamp, merger.latest), in: store.database)
    var report = HubImportReport(
      manifest: manifest, verdict: .imported, taken: merger.taken,
      conflicts: merger.conflicts + told.count + departed - late.takenConflicts,
      resolved: resolved, released: released, rekeyed: keys.given, clamped: clamped)
    report.departed = departed
    report.leftOut = translation.leftOut.sorted()
    report.folded = keys.folded
    report.tally = merger.tally
    report.found = merger.found.filter { !late.taken.contains($0.id) }
    report.late = late.taken.count
    return report
  }

  /// Returns the results that the device did not know when it made the bundle. nil if the hub cannot determine them.
  /// - Parameters:
  ///   - emission: the emission that the device had. It contained the results of the exports that it acknowledged.
  ///   - reported: the changes whose conflicts the device found itself.
  private func unknownResults(
    _ emission: Emission?, _ reported: Set<UnknownResults.ReportedChange>
  ) -> UnknownResults? {
    let known = [emission?.acknowledged, changes.base].compactMap(\.self).max()
    return known.map { UnknownResults(first: Generation($0.rawValue), reported: reported) }
  }

  /// Returns the parts of a step that no copy of the device has delivered yet.
  private func parts(
    of sent: Step, in place: Int, _ shared: SharedChanges?, _ keys: PrimaryKeyRemapping, _ merger: StepMerger,
    _ device: EnrolledDevice
  ) throws -> [SharedChanges.Part] {
    switch shared?.rest(of: sent, in: place) {
    case nil, .all: return [(sent, [])]
    case .unclear:
      try merger.keepUnclear(keys.translated(sent, in: place), in: place)
      return []
    case .nothing:
      try store.owe(keys.translated(sent, in: place).key, in: place, to: device.id)
      return []
    case .later(let parts):
      // The device's row may differ from the hub's row, so the hub sends its row to the device.
      try store.owe(keys.translated(sent, in: place).key, in: place, to: device.id)
      return parts
    }
  }

  /// Records a change as a conflict if its table has left the dataset, so that a person decides. Returns the number of
  /// new conflicts: 0 or 1.
  private func takeDeparted(
    _ line: ChangeLine, _ device: EnrolledDevice, _ translation: SchemaTranslation, latest: Stamp, _ now: Int64
  ) throws -> Int {
    guard let version = translation.departure(of: line.table) else {
      throw LineProblem("the dataset has no table \(line.table.shortened)")
    }
    guard let generation = line.generation, generation.rawValue >= device.merged.rawValue,
      var record = ConflictRecord(ofDeparted: line, generation, in: version, device: device.id, user: device.user)
    else { return 0 }
    record.stamp = min(record.stamp, latest)
    return try ConflictTable.add(record, bundle: manifest.bundle, noted: now, in: store.database) ? 1 : 0
  }
}
