import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelCrypto
import SatchelDataset
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

extension DeviceSession {
  func isRevoked(_ key: PublicKey) throws -> Bool { try RevokedKeyTable.contains(key, in: database) }

  func quarantine(_ path: String, because error: any ExplainedError) throws {
    if workspace.runMode == .dryRun { return }
    let trusted = try workspace.ownKeys() + workspace.hubKeys()
    let refused = Quarantine.Refusing(path, because: error, from: source) { [workspace] in
      try workspace.reader.identityIfSound(of: $0, trust: .keys(trusted))?.signer
    }
    try Quarantine.keep(refused, folder: folder, platform: platform, database: database)
  }

  func importScope(
    _ bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope, from path: String
  ) throws -> ImportReport {
    let manifest = bundle.manifest
    let isNewHistory: Bool
    switch try continuation(of: scope, bundle.digest) {
    case .known:
      try completeKnown(bundle, scope, from: path)
      return ImportReport(manifest, .repeated)
    case .next: isNewHistory = false
    case .epoch: isNewHistory = true
    }
    try checkSender(of: manifest)
    try refuseTimeJump(of: manifest)
    let lacks = try isNewHistory && isLacking(exportsAfter: scope.acknowledged)
    if lacks, lost == .deliveredAgain, let report = try redeliver(to: scope, manifest) { return report }
    guard manifest.version >= dataset.version else {
      throw Refusal(
        .olderDataset,
        "It is of version \(manifest.version) of the dataset, and this device has version \(dataset.version).",
        hint: "Was the hub restored from an old backup? Its operator must bring it to that version again.")
    }
    if !isNewHistory { try RevokedKeys.check(manifest, state) }
    let copy = lacks && lost == .givenUp ? try keepCopy(before: scope.number) : nil
    var report = try handingOver(by: manifest) { try take(bundle, scope, isNewHistory, $0, from: path) }
    report.copy = copy ?? report.copy
    return report
  }

  /// A hub keeps its id and its name. Files and records on this device are found by them.
  private func checkSender(of manifest: Manifest) throws {
    if manifest.from.id == state.hubID, manifest.from.name == state.hubName { return }
    throw Refusal(
      .otherName, "It calls its hub \(manifest.from.name), and this device's hub is \(state.hubName).",
      hint: "Satchel at a hub never writes such a file. Ask the hub's operator who made it.", keeping: .quarantine)
  }

  /// Exports all changes of a former user, and then runs `body`. Repeats both if the app wrote meanwhile.
  private func handingOver(by manifest: Manifest, _ body: (Handover?) throws -> ImportReport) throws -> ImportReport {
    for _ in 0..<Self.mostTriesOfHandover {
      let handover = try Handover(self, to: manifest)
      try handover?.export()
      let before = state
      do { return try body(handover) } catch is Handover.WrittenMeanwhile { state = before }
    }
    throw WorkspaceError(
      .busy, "This device works for \(manifest.user) from now on, and the app keeps writing for \(state.user).",
      hint: "Close the app, then run the same command again.")
  }

  private static let mostTriesOfHandover = 5

  private func take(
    _ bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope, _ isNewHistory: Bool, _ handover: Handover?,
    from path: String
  ) throws -> ImportReport {
    let manifest = bundle.manifest
    if workspace.runMode == .commit, !isRebuilt { try workspace.trustNext(of: manifest) }
    let upgrade = try DeviceUpgrade(of: self, by: bundle)
    let snapshot =
      try upgrade == nil
      ? Snapshot.open(bundle, tables: tables, in: database) : Snapshot.open(beforeUpgrade: bundle)
    let lines = try bundle.changeLines()
    try lines.readAhead()
    try DeviceAttachments(self).sweep()
    let arriving = try ArrivingAttachments(
      bundle, in: folder, platform: platform, runMode: workspace.runMode, action: DeviceAttachments(self).action)
    // The hub's rows are accepted as they are, even if they break a CHECK.
    try database.execute("PRAGMA ignore_check_constraints = ON")
    // The hub has an export that announced the next key: that key signs from the next export on.
    let hasToldKey = state.toldKey.map { $0 <= scope.acknowledged } ?? false
    if hasToldKey { state.toldKey = nil }
    let compared = try compareBeforeWritingOver(manifest, snapshot, upgrade, handover)
    let copy = try compared.needsCopy ? keepCopy(before: scope.number) : nil
    let witness = RowWitness()
    // A rebuilt database was compared when its bundles first came.
    if isRebuilt { witness.close() }
    var (sealed, unnamed): (SealedChanges?, Set<AttachmentPath>) = (nil, [])
    func prepare() throws {
      try acknowledge(scope, witness, bundle)
      if let handover { (sealed, unnamed) = try handover.seal() }
    }
    if upgrade != nil, handover != nil {
      // An upgrade changes tables with every trigger on, so the handover needs its own transaction.
      try database.applyTransaction(workspace.runMode, to: tables.map(\.name)) {
        try prepare()
        try state.save(in: database)
      }
    }
    var report = try keepingInArchive(bundle, from: path) {
      guard let upgrade else {
        return try database.applyTransaction(workspace.runMode, to: tables.map(\.name)) {
          try prepare()
          return try apply(bundle, lines, arriving, scope, snapshot, nil, unnamed, witness, compared.unseen)
        }
      }
      return try upgrade.orPark(bundle, from: path) {
        try database.applyTransaction(workspace.runMode) {
          try acknowledge(scope, witness, bundle)
          return try upgrade.changeTables()
        } _: {
          try snapshot?.check(tables)
          let unseen = try upgrade.rowsBefore(compared.unseen)
          return try apply(bundle, lines, arriving, scope, snapshot, upgrade, unnamed, witness, unseen)
        }
      }
    }
    report.sealed = sealed
    report.copy = copy
    if workspace.runMode == .commit {
      try wipe()
      try DeviceAttachments(self).sweep()
      if !isRebuilt { try workspace.noteSigner(bundle.signer) }
      if hasToldKey { try workspace.keys.finishRotation() }
      // Exports that the hub has need not be carried any more.
      try moveToSent(below: state.acknowledged.next)
      try BundleParts(folder, platform: platform).forget(incomingPrefix, upTo: state.received.rawValue)
      if scope.extent == .full { try forgetBefore(scope, isNewHistory) }
      if !isRebuilt { try putOutBrought() }
      try forgetEstrangement()
      try workspace.unstage(upTo: state.received)
      try workspace.noteAnswer()
    }
    return report
  }

  /// Wipes the bytes of deleted rows: they may have left the user's scope. If another connection is reading, the next
  /// import wipes them.
  private func wipe() throws {
    guard state.isUnwiped else { return }
    guard try database.wipe() else { return }
    state.isUnwiped = false
    try state.save(in: database)
    try database.emptyLog()
  }

  /// Keeps a copy of the bundle before `body` commits, so that each imported bundle is in the archive. A crash before
  /// the commit leaves an unneeded copy.
  private func keepingInArchive<T>(
    _ bundle: borrowing VerifiedBundle, from path: String, _ body: () throws -> T
  ) throws -> T {
    if workspace.runMode == .dryRun { return try body() }
    let (number, digest) = (EmissionNumber(bundle.manifest.number), bundle.digest)
    let isNew = try keepInArchive(bundle, from: path)
    do { return try body() } catch {
      // A commit whose sync failed may still have reached the disk.
      if isNew, let known = try? digests(ofImported: number), !known.contains(digest) {
        try bundle.file.takeBack()
      }
      throw error
    }
  }

  /// Keeps the file of a bundle from the hub, unless it is kept already. Returns whether it was new.
  private func keepInArchive(_ bundle: borrowing VerifiedBundle, from path: String) throws -> Bool {
    let (manifest, digest) = (bundle.manifest, bundle.digest)
    let copy = archive.path(incomingPrefix, manifest.number)
    if try platform.files.kind(copy) != nil {
      let kept = try workspace.reader.identityIfSound(of: copy, trust: .keys(workspace.hubKeys()))
      if kept?.digest == digest {
        try archive.secure()
        return false
      }
      // Another epoch used the same number.
      try archive.setAside(incomingPrefix, manifest.number)
    }
    try archive.keep(bundle, from: path)
    return true
  }

  /// Completes the steps after the import of a bundle that was imported before. The first import may have ended before
  /// these steps, and the archive may have lost the file since.
  private func completeKnown(_ bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope, from path: String) throws {
    if workspace.runMode == .dryRun || isRebuilt { return }
    if scope.epoch == state.epoch, try digests(ofImported: scope.number).contains(bundle.digest),
      try !isReplaced(scope.number)
    {
      _ = try keepInArchive(bundle, from: path)
    }
    try moveToSent(below: state.acknowledged.next)
    try putOutBrought()
    try workspace.unstage(upTo: state.received)
  }

  /// Whether the archive has a newer full bundle: then no earlier bundle is needed.
  private func isReplaced(_ number: EmissionNumber) throws -> Bool {
    let keys = try workspace.hubKeys()
    return try archive.numbers(incomingPrefix).contains { newer in
      guard newer > number.rawValue, newer <= state.received.rawValue else { return false }
      let path = archive.path(incomingPrefix, newer)
      guard case .scope(let scope) = try workspace.reader.manifestIfSound(of: path, trust: .keys(keys))?.body else {
        return false
      }
      return scope.extent == .full && scope.epoch == state.epoch
    }
  }

  /// Forgets bundles before a full bundle: the full bundle replaces them.
  private func forgetBefore(_ scope: Manifest.Scope, _ isNewHistory: Bool) throws {
    if isNewHistory {
      // Bundles that the hub made before it lost its data may be the only record of that time.
      try archive.setAside(incomingPrefix, but: scope.number.rawValue)
    } else {
      try archive.forget(incomingPrefix, below: scope.number.rawValue)
    }
    try archive.forget(outgoingPrefix, below: scope.acknowledged.rawValue)
  }

  /// Logs the local writes, and forgets the pre-images of changes that the hub has.
  private func acknowledge(
    _ scope: Manifest.Scope, _ witness: RowWitness, _ bundle: borrowing VerifiedBundle
  ) throws {
    try Capture.settle(tables, in: database)
    // Rows may leave with their changes before an export notes the files that they name.
    try DeviceAttachments(self).noteChanges()
    let waiting = try WaitingRows(self, bundle)
    let isNew = scope.acknowledged > state.acknowledged
    guard isNew || waiting.mayMatter else { return }
    if isNew { state.acknowledged = scope.acknowledged }
    if bundle.manifest.critical.contains(.unseen) {
      try witness.remember(before: acknowledgedGeneration, tables, in: database)
    }
    try waiting.forgetOthers()
    try Capture.forgetUnits(before: acknowledgedGeneration, in: database)
  }

  private func apply(
    _ bundle: borrowing VerifiedBundle, _ lines: ChangeLines, _ arriving: borrowing ArrivingAttachments,
    _ scope: Manifest.Scope,
    _ snapshot: Snapshot?, _ upgrade: DeviceUpgrade?, _ unnamed: Set<AttachmentPath>, _ witness: RowWitness,
    _ unseen: UnseenRows
  ) throws -> ImportReport {
    let manifest = bundle.manifest
    let now = platform.clock.milliseconds()
    try upgrade?.bringOwnRows()
    let asked = try Set(ConflictTable.list([.open, .held], in: database).map(\.record.id))
    let keys = try PrimaryKeyCollisions(self, scope).carryOut(bundle, snapshot)
    // Rows that migrations changed cannot be compared: the hub's lines state the rows before the migrations.
    if upgrade != nil { witness.close() }
    try witness.exclude(keys.rekeyed, among: tables)
    let applier = try ScopeApplier(self, witness: witness, unseen: unseen, scope: scope, keys: keys)
    for stranded in keys.stranded { try applier.giveUp(stranded) }
    if let snapshot { try applyWhole(snapshot, with: applier) }
    try lines.each { line in
      guard let rows = applier.rows(of: line.table) else { throw LineProblem("there is no table \(line.table) here") }
      switch line.content {
      case .row(let fields):
        let row = try rows.schema.rowOfHub(fields)
        guard rows.schema.key(of: row) == line.key else { throw LineProblem("its key is not its row's") }
        try upgrade?.note(row, of: line)
        try applier.apply(
          row, key: line.key, at: line.stamp, in: rows, expected: line.before, others: line.others)
      case .gone:
        try upgrade?.note(nil, of: line)
        try applier.apply(nil, key: line.key, at: line.stamp, in: rows, expected: line.before)
      case .rekey(_, let number): if number == scope.number { try upgrade?.note(nil, of: line) }
      case .block: break
      default: throw LineProblem("it is a line from a device")
      }
    }
    if scope.extent == .delta { try upgrade?.putBack(with: applier) }
    try applier.finish()
    try PrimaryKeyCollisions.takeBlocks(of: bundle, after: state.received, tables, device: state.id, in: database)
    let told = try takeConflicts(of: bundle, at: now)
    let kept = try keptRows().filter { !asked.contains($0.record.id) }
    try ConflictTable.forget(ofOthersThan: manifest.user, toldUpTo: state.base.rawValue, in: database)
    if let definition = try bundle.dataset(limit: DatasetDefinition.maximumBytes) { state.definition = definition }
    state.take(scope, digest: bundle.digest, signature: bundle.signature)
    state.takeProofWishes(of: manifest, scope)
    if scope.epoch != state.epoch {
      try noteBrought(to: scope)
      try begin(scope)
      try RevokedKeys.join(manifest, into: &state, in: database)
    }
    try FormerEpochTable.add(scope.former ?? [], in: database)
    try forgetBrought(scope.collected)
    state.user = manifest.user
    state.heard = now
    state.hubRecipient = manifest.recipient ?? state.hubRecipient
    try RevokedKeys.take(manifest, into: &state, in: database)
    if applier.removed > 0 { state.isUnwiped = true }
    try state.save(in: database)
    try Capture.witness(manifest.stamp, in: database)
    try Ledger.add(
      manifest, digest: bundle.digest, direction: .incoming, verdict: .imported, at: now,
      conflicts: Int64(applier.conflicts),
      in: database)
    var report = ImportReport(
      manifest: manifest, verdict: .imported, written: applier.written, removed: applier.removed,
      conflicts: applier.conflicts + (upgrade?.departed ?? 0), told: told.refused, rekeyed: keys.rekeyed)
    report.late = told.late
    report.kept = kept
    report.tally = applier.tally
    report.found = applier.found
    report.version = upgrade == nil ? nil : dataset.version
    let attachments = DeviceAttachments(self)
    if upgrade != nil { try attachments.takeUpOthers(but: arriving) }
    try attachments.take(arriving, left: applier.unnamed.union(unnamed))
    report.note(arriving)
    return report
  }

  /// Applies the hub's snapshot to all tables. A row that the snapshot lacks is applied as gone.
  func applyWhole(_ snapshot: Snapshot, with applier: ScopeApplier) throws {
    for rows in applier.all.reversed() {
      let theirs = try RowTable(rows.table, in: snapshot.database)
      // Rows that were deleted here, and that the hub does not have either.
      var gone: [RowKey] = []
      try PreImageStore.each(rows.table, since: .zero, in: database) { key, _, current in
        if try current == nil && !theirs.contains(key) { gone.append(key) }
      }
      // A migration may have deleted a row that was written unseen.
      for key in applier.unseen.keysBefore(in: rows.schema.name) where try !rows.contains(key) && !theirs.contains(key)
      {
        gone.append(key)
      }
      // The loop deletes only the row that it visits, so the query stays valid.
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
        let stamp = try snapshot.stamp(of: key, in: rows.schema.name)
        try applier.apply(
          row, key: key, at: stamp, in: rows, others: try snapshot.others(of: key, in: rows.schema.name))
      }
    }
  }

  /// Keeps the hub's reports about changes of this device that the hub could not apply as they were.
  @discardableResult
  func takeConflicts(
    of bundle: borrowing VerifiedBundle, at now: Int64
  ) throws -> (refused: Int, late: Int) {
    var (new, late) = (0, 0)
    let id = bundle.manifest.bundle
    try bundle.eachConflict { record in
      guard record.device == state.id else { throw LineProblem("it is about another device's change") }
      let wasLate =
        try record.isTakenLate && ConflictTable.conflict(record.id, in: database)?.record.isTakenLate == true
      if record.isTakenLate, !wasLate { late += 1 }
      if try ConflictTable.add(record, bundle: id, noted: now, told: 0, in: database) {
        if !record.isTakenLate { new += 1 }
      } else {
        try ConflictTable.update(record, at: now, in: database)
      }
    }
    return (new, late)
  }
}
