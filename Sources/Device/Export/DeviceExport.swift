import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelCrypto
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

extension DeviceWorkspace {
  /// Writes all changes since the last acknowledged export as a bundle into the outbox.
  ///
  /// If nothing is new since the last export, no bundle is written, and the report names the last export.
  /// - Parameters:
  ///   - snapshot: true: carry the whole database too, whatever the dataset's rule says.
  ///   - proof: true: carry digests of all rows, by which the hub checks them, whatever the dataset's rule says.
  ///   - encryption: how to encrypt; an existing export is encrypted in place.
  ///   - room: the room for the bundle. The bundle has all changes even if they need more room. Attached files that do
  ///     not fit go with later exports. If nothing is new, and the last export does not fit because of its files,
  ///     another export is made.
  public func export(
    snapshot: Bool = false, proof: Bool = false, encryption: Encryption = .asTheDatasetSays,
    room: BundleRoom = BundleRoom()
  ) throws -> ExportReport {
    try locked {
      try exportHere(
        session(), snapshot: snapshot ? .always : .asTheDatasetSays, proof: proof ? .now : .asTheDatasetSays,
        encryption: encryption, room: room)
    }
  }

  /// When an export carries the whole database.
  enum SnapshotOption { case asTheDatasetSays, always, never }

  /// Does the work of `export`, for a caller that holds the workspace's lock.
  func exportHere(
    _ session: DeviceSession, snapshot: SnapshotOption, proof: ProofOption = .asTheDatasetSays, encryption: Encryption,
    room: BundleRoom = BundleRoom()
  ) throws -> ExportReport {
    if try keys.areDiscarded() {
      throw WorkspaceError(
        .noKey, "This device has no key of its own: it receives, and delivers nothing.",
        hint:
          """
          Changes made here stay here. To set up a device that delivers: satchel-hub device provision, without \
          --no-keys
          """
      )
    }
    try LeftExports(session).make()
    let key = try keys.signing()
    let recipients = try encryption.recipients(
      session.state.hubRecipient, name: session.state.hubName, session.dataset, keys)
    var draft = try BundleDraft(in: folder.outbox, platform: platform)
    try DeviceAttachments(session).sweep()
    // The health is read only once, so that the measured bundle and the written bundle have the same size.
    session.health = health()
    let oversized = try session.oversizedExport(in: room)
    func unchangedExport() throws -> ExportRecord? {
      guard snapshot != .always, !session.isProofWanted(proof), let last = try ExportTable.last(in: session.database),
        last.sequence != oversized,
        try session.isNothingNew(since: last)
      else { return nil }
      return last
    }
    let attached = try DeviceAttachments(session).stage(into: &draft, in: room, replacing: oversized) {
      try unchangedExport() != nil
    } rows: { outgoing in
      try measure(session, outgoing, snapshot: snapshot, proof: proof, key: key, for: recipients)
    }
    let (counts, record) = try session.database.writeTransaction(runMode) {
      try Capture.settle(session.tables, in: session.database)
      if !attached.isDue, let last = try unchangedExport() { return (try session.countSteps(), last) }
      return try session.seal(into: &draft, attached, snapshot: snapshot, proof: proof, key: key)
    }
    // Other writers must wait only while the rows are read, not while the file is written. If the file cannot be
    // written, the export counts as lost on its way, and its number is not used again.
    var report = try session.report(record, counts, attached)
    if let sealed = record.sealed {
      let file = try draft.write(sealed, for: recipients)
      report.bytes = try platform.files.size(file)
      if runMode == .commit { try session.publish(record, file) }
      report.file = try folder.place(ofOutgoing: record.file, platform.files)
      return report
    }
    if runMode == .commit, !recipients.isEmpty {
      try encryptInPlace(report.file, for: recipients, platform: platform)
    }
    // The file of an acknowledged export may have been deleted.
    if try platform.files.kind(report.file) == .file { report.bytes = try platform.files.size(report.file) }
    return report
  }

  /// Returns the size of the file that an export without attached files would have. Makes this export and drops it.
  private func measure(
    _ session: DeviceSession, _ attached: DeviceAttachments.Outgoing, snapshot: SnapshotOption, proof: ProofOption,
    key: borrowing SigningKey, for recipients: [AgeRecipient]
  ) throws -> Int64 {
    var draft = try BundleDraft(in: folder.outbox, platform: platform)
    let state = session.state
    defer { session.state = state }
    let sealed = try session.database.writeTransaction(.dryRun) {
      try Capture.settle(session.tables, in: session.database)
      return try session.seal(into: &draft, attached, snapshot: snapshot, proof: proof, key: key).record.sealed
    }
    return try sealed.map { try platform.files.size(draft.write($0, for: recipients)) } ?? 0
  }
}

extension DeviceSession {
  /// The first generation whose writes the next export must carry. Earlier writes are in acknowledged or sealed
  /// exports.
  var acknowledgedGeneration: Generation { Generation(state.base.rawValue) }

  /// The last export, if it carries attached files and does not fit. An export with fewer files can replace it.
  fileprivate func oversizedExport(in room: BundleRoom) throws -> SequenceNumber? {
    guard let last = try ExportTable.last(in: database), last.sequence > state.acknowledged else { return nil }
    let file = try folder.place(ofOutgoing: last.file, platform.files)
    guard try platform.files.kind(file) == .file, try !room.fits(file, platform.files),
      try DeviceAttachments(self).list.areCarried(by: last.sequence, in: database)
    else { return nil }
    return last.sequence
  }

  /// Whether the last export already contains everything that a new export would contain.
  fileprivate func isNothingNew(since last: ExportRecord) throws -> Bool {
    // If a person moved the file away and the hub has not confirmed the export, the file may be lost.
    let isKept =
      try workspace.docking?.holds(last.file) ?? false
      || platform.files.kind(folder.place(ofOutgoing: last.file, platform.files)) == .file
    guard last.isWritten, isKept || last.sequence <= state.acknowledged else { return false }
    // The last export is of an earlier epoch. A hub that was set back to that epoch needs a new export, to see that a
    // newer epoch exists.
    if last.received == .zero { return false }
    if try mustNameOthers(than: last) { return false }
    // While a former user's export is on its way, the hub's answers to it need no answer.
    let isSealed = state.sealed == last.sequence && last.sequence > state.acknowledged
    if try !isSealed && hasHeardAnything(since: last.received) { return false }
    if try workspace.keys.nextKey() != nil, state.toldKey == nil { return false }
    if try hasRefusedAnswer(since: last) { return false }
    if try hasRefusedOlderKey(since: last) { return false }
    guard try ConflictTable.countUntold(of: state.id, in: database) == 0 else { return false }
    let generation = Generation(last.sequence.rawValue)
    guard try ResolutionTable.all(since: generation, in: database).isEmpty else { return false }
    return try !PreImageStore.hasSteps(tables, since: generation, in: database)
  }

  /// Whether the hub, after the last export, answered exports that this database does not know. If so, a new export
  /// shows the hub the history of this database, even without a new change.
  private func hasRefusedAnswer(since last: ExportRecord) throws -> Bool {
    // If the clock was set back after the export, the times do not show whether a failure came after the export, so
    // each failure counts. If it was not set back, a failure with a time in the future does not count, because the next
    // import records it again.
    let now = platform.clock.milliseconds()
    let isOfFuture = last.created > now
    return try workspace.failedImports.list().contains { failure in
      [.olderDatabase, .copied].contains(failure.code)
        && (isOfFuture || failure.at >= last.created && failure.at <= now)
    }
  }

  /// Whether this device, after the last export, refused a bundle that a replaced key of the hub had signed. The hub's
  /// `keys/` may be an old copy, and the next export shows this to the hub. An export that is still on its way shows it
  /// too.
  private func hasRefusedOlderKey(since last: ExportRecord) throws -> Bool {
    guard last.sequence <= state.acknowledged else { return false }
    // The names of refused files begin with the time of the refusal.
    let made = UTCTime.fileName(milliseconds: last.created)
    return try workspace.quarantined().contains { $0.reason == Reason.replacedKey.rawValue && $0.file >= made }
  }

  /// Whether the hub sent anything that this device must acknowledge. Bundles that only acknowledge do not count.
  /// Otherwise both sides would acknowledge acknowledgements for ever.
  private func hasHeardAnything(since number: EmissionNumber) throws -> Bool {
    var version: Int64?
    for heard in try archive.numbers(incomingPrefix) where heard >= number.rawValue && heard <= state.received.rawValue
    {
      let path = archive.path(incomingPrefix, heard)
      let manifest = try workspace.reader.manifestIfSound(of: path, trust: .keys(workspace.hubKeys()))
      // The next export shows the hub that this device has reached a new version.
      let isOfSameVersion = version.map { $0 == manifest?.version } ?? true
      if heard > number.rawValue, manifest?.saysAnything ?? true || !isOfSameVersion { return true }
      version = manifest?.version
    }
    // If the file of the present emission is missing, its contents are unknown and count as something to acknowledge.
    let newest = archive.path(incomingPrefix, state.received.rawValue)
    return try state.received != number && platform.files.kind(newest) != .file
  }

  fileprivate func countSteps() throws -> [(table: Name, count: Int)] {
    try PreImageStore.countSteps(tables, since: acknowledgedGeneration, unsent: acknowledgedGeneration, in: database)
      .tables
  }

  /// Adds the changes of all rows. Returns the number of changes for each table.
  private func addChanges(to draft: inout BundleDraft) throws -> [(table: Name, count: Int)] {
    var counts = [Int](repeating: 0, count: tables.count)
    let rekeys = try untoldKeys().map { row in
      ChangeLine(
        table: row.table, key: RowKey([row.old]), generation: nil, stamp: .zero,
        content: .rekey(to: RowKey([row.new]), number: row.number))
    }
    var units = try StepUnits(tables, since: acknowledgedGeneration, in: database)
    try draft.addSteps(of: tables.map(\.schema), behind: rekeys) { add in
      try PreImageStore.eachStep(tables, since: acknowledgedGeneration, in: database) { place, table, step in
        counts[table] += 1
        var step = step
        step.unit = units?.number(of: step.key, step.generation, in: table)
        try add(place, table, step)
      }
    }
    return zip(tables, counts).filter { $0.1 > 0 }.map { ($0.0.name, $0.1) }
  }

  /// Adds a snapshot of the whole database, if a snapshot is requested or due. A snapshot that is only due is left out
  /// in two cases: a row is too large for the hub, or a table needs a function that only the app has.
  private func addSnapshot(
    to draft: inout BundleDraft, as wish: DeviceWorkspace.SnapshotOption, in sequence: SequenceNumber
  ) throws {
    let isDue = wish == .asTheDatasetSays && dataset.snapshot.applies(to: sequence)
    guard wish == .always || isDue else { return }
    do {
      try SnapshotBuilder.addWhole(database, tables, to: &draft, largeRows: .areRefused)
    } catch BundleError.rowTooLarge where isDue {
    } catch let error as SQLiteError {
      guard let lacking = error.nameOfApp else { throw error }
      if isDue { return }
      throw WorkspaceError(
        .database,
        "The whole database cannot be exported, because a table needs \(lacking), which only the app has.",
        hint: "Export the changes alone: satchel export")
    }
  }

  /// Builds and signs the export, and records it. The caller holds the transaction.
  fileprivate func seal(
    into draft: inout BundleDraft, _ attached: DeviceAttachments.Outgoing, snapshot: DeviceWorkspace.SnapshotOption,
    proof: ProofOption,
    key: borrowing SigningKey
  ) throws -> (counts: [(table: Name, count: Int)], record: ExportRecord) {
    let sequence = state.sequence.next
    try ExportedRows(self).noteUnexported()
    let conflicts = try ConflictTable.untold(of: state.id, after: state.acknowledged.rawValue, in: database)
    let counts = try addChanges(to: &draft)
    try draft.addResolutions(ResolutionTable.all(since: Generation(state.acknowledged.rawValue), in: database))
    try draft.addConflicts { add in
      for id in conflicts {
        if let record = try ConflictTable.recordForOtherSide(id, in: database) { try add(record) }
      }
    }
    try addSnapshot(to: &draft, as: snapshot, in: sequence)
    if isProofDue(in: sequence, proof) {
      try draft.addState(stateEntry())
      (state.lastProof, state.mustProve, state.compare) = (sequence, false, [])
    }
    try DeviceAttachments(self).seal(attached, into: &draft, sequence: sequence)
    draft.require(tables.critical)

    try Capture.witness(PreImageStore.newestStamp(tables, in: database), in: database)
    let now = platform.clock.milliseconds()
    var changes = Manifest.Changes(
      epoch: state.epoch, incarnation: state.incarnation, received: state.received, sequence: sequence,
      chain: try chain(before: sequence), lost: attached.lost)
    changes.base = state.base
    changes.formerExports = state.formerExports
    changes.former = try FormerEpochTable.all(but: state.epoch, in: database)
    changes.proof = try emissionProof()
    changes.brings = try brought().map(\.digest)
    changes.renamed = try Capture.renamedColumns(of: tables, in: database).prefix(Manifest.Changes.mostRenamed)
      .map { .init(table: $0.table, from: $0.from, to: $0.to) }
    changes.health = health
    var manifest = Manifest(
      bundle: BundleID(random: platform.random.bytes(16)), dataset: dataset.name, version: dataset.version,
      from: .init(id: state.id, name: state.name), to: hub, user: state.user, created: UTCTime.text(milliseconds: now),
      stamp: try Capture.tick(now: now, in: database), changes: draft.count(of: .changes),
      conflicts: draft.count(of: .conflicts),
      resolutions: draft.count(of: .resolutions),
      body: .changes(changes))
    manifest.recipient = try workspace.keys.recipient()
    manifest.understands = Set(Manifest.Critical.allCases)
    manifest.rotation = try workspace.keys.rotation(of: state.id, in: dataset.name)
    if manifest.rotation != nil {
      state.toldKey = state.toldKey ?? sequence
    }
    let sealed = try draft.seal(manifest, with: key)
    try record(sealed, sequence: sequence, at: now)
    try ConflictTable.markTold(conflicts, by: sequence.rawValue, in: database)
    return (
      counts,
      ExportRecord(
        sequence: sequence, received: state.received, file: manifest.fileName, isWritten: false, created: now,
        sealed: sealed)
    )
  }

  /// The proof of the present emission, with the hub's signature. Release 0.1 did not store the signature. In this
  /// case, the archived file gives the signature.
  private func emissionProof() throws -> Manifest.EmissionProof? {
    if let proof = state.proof, proof.signature != nil { return proof }
    let path = archive.path(incomingPrefix, state.received.rawValue)
    guard let identity = try workspace.reader.identityIfSound(of: path, trust: .keys(workspace.hubKeys())),
      state.proof.map({ $0.digest == identity.digest }) ?? true
    else { return state.proof }
    return .init(digest: identity.digest, signature: identity.signature)
  }

  private func record(_ sealed: SealedBundle, sequence: SequenceNumber, at now: Int64) throws {
    if case .changes(let changes) = sealed.manifest.body { try ExportTable.add(sealed, changes, at: now, in: database) }
    try Ledger.add(
      sealed.manifest, digest: sealed.digest, direction: .outgoing, verdict: .written, at: now, in: database)
    state.sequence = sequence
    try state.save(in: database)
    try Capture.begin(Generation(sequence.rawValue), in: database)
  }

  /// Gives the file its name in the outbox. This export contains the older exports, so they move to `sent`. If the
  /// database is a copy from a tablet, both wait until the copy is back on the tablet.
  fileprivate func publish(_ record: ExportRecord, _ path: String) throws {
    if let docking = workspace.docking {
      guard let digest = try ExportTable.digest(of: record.sequence, in: database) else {
        throw WorkspaceError(.badExport, "The export \(record.sequence) has no record in satchel_exports.")
      }
      try docking.hold(
        .init(name: record.file, sequence: record.sequence, digest: digest, path: path), platform.files)
      return try ExportTable.markWritten(record.sequence, in: database)
    }
    try publish(path, as: record.file)
    try ExportTable.markWritten(record.sequence, in: database)
    try moveToSent(below: record.sequence)
  }

  /// Moves the file of an export from `path` into the outbox, and keeps a copy in the archive.
  func publish(_ path: String, as name: String) throws {
    // The archive keeps a copy, because a person may move the file out of the outbox. The device needs the contents
    // while bundles from the hub build on them.
    try archive.keepOwn(path, as: name)
    try platform.files.rename(path, to: Paths.join(folder.outbox, name))
  }

  /// Moves exports below `sequence` from the outbox to `bundles/sent`, from which they can be sent again.
  func moveToSent(below sequence: SequenceNumber) throws {
    // Exports that a restored hub lacks stay in the outbox, because they must be carried to the hub again.
    let kept = state.restored?.rawValue ?? Int64.max
    for name in try platform.files.list(folder.outbox) {
      guard let number = BundleArchive.number(in: name, outgoingPrefix), number <= kept, number < sequence.rawValue,
        // Exports up to the sealed export stay until the hub has them, because no later export contains their changes.
        number <= state.acknowledged.rawValue || number > state.sealed?.rawValue ?? 0,
        // A database that was created again has no record of earlier exports. Such exports move when the hub has them.
        try number <= state.acknowledged.rawValue || isKnown(export: number)
      else { continue }
      try platform.files.rename(Paths.join(folder.outbox, name), to: Paths.join(folder.sent, name))
    }
    try BundleVolumes.remove(outgoingPrefix, below: sequence.rawValue, folder: folder, files: platform.files)
  }

  /// Whether this database has a record of the export. False: the export was made before this database was created.
  func isKnown(export number: Int64) throws -> Bool {
    try ExportTable.contains(SequenceNumber(number), in: database)
  }

  fileprivate func report(
    _ record: ExportRecord, _ counts: [(table: Name, count: Int)], _ attached: DeviceAttachments.Outgoing
  ) throws -> ExportReport {
    let isNew = record.sealed != nil
    return ExportReport(
      sequence: record.sequence, file: try folder.place(ofOutgoing: record.file, platform.files),
      changes: counts,
      conflicts: Int(record.sealed?.manifest.conflicts ?? 0), attached: isNew ? attached.staged.count : 0,
      attachedLeft: isNew ? attached.left : attached.dueLeft, attachedLost: isNew ? attached.lost.count : 0,
      isProved: record.isProved, isNew: isNew)
  }
}
