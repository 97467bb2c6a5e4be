import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The files that this device's rows name, in exports and imports.
struct DeviceAttachments {
  let session: DeviceSession
  var database: Database { _read { yield session.database } }

  init(_ session: DeviceSession) { self.session = session }

  var list: AttachmentList {
    AttachmentList(
      session.tables, limits: session.dataset.attachments, AttachedFiles(session.folder, session.platform))
  }

  // MARK: to the hub

  /// The files that an export may carry, copied into the export's draft. A file that is also in `due` is a reason to
  /// make a new export.
  struct Outgoing {
    var staged: [AttachmentPath: AttachedFiles.Staged] = [:]
    /// Files that no export carried yet, or that the hub lacks although it acknowledged the export with the file.
    var due: Set<AttachmentPath> = []
    /// The number of files that are left for later exports. `dueLeft`: the number of these that no export carried yet.
    var left = 0
    var dueLeft = 0
    /// The last export, if it is too large to be carried as it is. Its files count as never carried.
    var oversized: SequenceNumber?
    /// The files that the export requests from the hub, in order.
    var lost: [AttachmentPath] = []
    /// Whether one of the requested files was never requested before.
    var isAskingAnew = false

    var isDue: Bool { isAskingAnew || staged.keys.contains { due.contains($0) } }
  }

  /// Finds files that the hub is not known to have, and copies those that fit into the draft. Also finds files that the
  /// hub has and that are missing here. Other writers must wait only during the search, not during the copying.
  /// - Parameters:
  ///   - room: the room for the export.
  ///   - oversized: the last export, if it is too large to be carried as it is.
  ///   - isNothingElse: whether there is nothing else to export than due files.
  ///   - rows: makes the export without files, and returns the size of its file.
  func stage(
    into draft: inout BundleDraft, in room: BundleRoom, replacing oversized: SequenceNumber?,
    isNothingElse: () throws -> Bool, rows: (Outgoing) throws -> Int64
  ) throws -> Outgoing {
    guard list.named.areAny else { return Outgoing() }
    var outgoing = Outgoing()
    outgoing.oversized = oversized
    let seen = try list.look(database)
    let waiting = try database.writeTransaction(session.workspace.runMode) {
      try Capture.settle(session.tables, in: database)
      try noteChanges()
      for file in seen { try list.note(file, in: database) }
      let waiting = try list.undelivered(in: database)
      for (path, sent) in waiting where sent == 0 || sent <= session.state.acknowledged.rawValue {
        if try list.isThere(path) { outgoing.due.insert(path) }
      }
      let lost = try list.lost(in: database).prefix(BundleLimits.mostBlobs)
      outgoing.lost = lost.map(\.path).sorted()
      outgoing.isAskingAnew = lost.contains { $0.asked == 0 }
      return try outgoing.due.isEmpty && !outgoing.isAskingAnew && isNothingElse() ? [] : waiting
    }
    outgoing.staged = try list.files.stage(
      waiting.map(\.path), limits: list.limits, in: room, besides: session.workspace.databasePath, into: &draft
    ) { try rows(outgoing) }
    for (path, _) in waiting where try outgoing.staged[path] == nil && list.isThere(path) {
      outgoing.left += 1
      if outgoing.due.contains(path) { outgoing.dueLeft += 1 }
    }
    return outgoing
  }

  /// Records the files that changes name and that the hub lacks. Forgets a file that was never sent and that no row
  /// names any more. The caller holds the transaction and has logged the local writes.
  func noteChanges() throws {
    guard list.named.areAny else { return }
    var begun: Set<AttachmentPath> = []
    var ended: Set<AttachmentPath> = []
    try PreImageStore.eachStep(session.tables, since: session.acknowledgedGeneration, in: database) { _, place, step in
      let table = session.tables[place]
      if table.rules.attachments.isEmpty { return }
      begun.formUnion(table.attachments(of: step.change))
      ended.formUnion(table.attachments(before: step.change))
    }
    for path in try list.named.unnamed(ended, in: database) {
      try list.forgetUnsent(path, in: database)
      begun.remove(path)
    }
    for path in begun.sorted() { try list.add(path, in: database) }
  }

  /// Adds the files to the draft, and the receipts that the hub is not known to have. The caller holds the transaction.
  func seal(_ outgoing: Outgoing, into draft: inout BundleDraft, sequence: SequenceNumber) throws {
    for path in outgoing.lost {
      try list.markRequested(path, by: sequence, in: database)
    }
    let carried = try outgoing.staged.map {
      BundleDraft.CarriedFile($0.key, $0.value.file, was: try list.former($0.key, in: database))
    }
    try draft.addAttachments(carried, received: list.receipts(in: database))
    if let oversized = outgoing.oversized { try list.markUnsent(by: oversized, in: database) }
    for (path, staged) in outgoing.staged {
      try list.markSent(path, staged.file.digest, staged.mark, by: sequence, in: database)
    }
    try list.markReceiptsSent(by: sequence, in: database)
  }

  // MARK: from the hub

  /// Stores the files of a bundle, and records the hub's receipts. The caller holds the transaction and calls this
  /// function as its last step.
  /// - Parameter left: files that rows named before. These rows have left the user's scope, or name other files now.
  func take(_ arriving: borrowing ArrivingAttachments, left: Set<AttachmentPath>) throws {
    try list.forgetReceipts(sentUpTo: session.state.acknowledged, in: database)
    for receipt in arriving.receipts { try list.markDelivered(receipt.path, receipt.digest, in: database) }
    for path in left { try list.markLeaving(path, in: database) }
    try list.take(arriving, in: database)
    if session.workspace.runMode == .commit { try arriving.put() }
  }

  /// Decides how to store an arriving file. `present` is the digest of the file that has its path here.
  func action(_ line: AttachmentLine, _ present: Digest?) throws -> ArrivingAttachments.IncomingFileAction {
    try list.action(line, present, in: database)
  }

  func takeUpOthers(but arriving: borrowing ArrivingAttachments) throws {
    try list.takeUpOthers(but: arriving, in: database)
  }

  /// Removes files that no row names any more. If the database is a copy from a tablet, this waits until the copy is
  /// back on the tablet.
  func sweep() throws { if session.workspace.docking == nil { try sweepNow() } }

  func sweepNow() throws { if session.workspace.runMode == .commit { try list.sweep(database) } }

  // MARK: status

  func status() throws -> DeviceStatus.Attachments {
    guard list.named.areAny else { return DeviceStatus.Attachments() }
    let undelivered = try list.undelivered(in: database)
    let waiting = try undelivered.filter { try list.isThere($0.path) }
    let lost = try list.lost(in: database)
    let known = Set(waiting.map(\.path))
    let rewritten = try list.look(database, marked: true).filter { $0.isRewritten && !known.contains($0.path) }
    let notSent = waiting.filter { $0.sent == 0 }.map(\.path) + rewritten.map(\.path)
    let missing = try list.named.missing(in: database, list.files, list.limits)
    let absent = Set(undelivered.map(\.path)).subtracting(known)
    let named = absent.subtracting(try list.named.unnamed(absent, in: database)).map(\.text)
    let blocked = missing.filter { $0.why != .missing }.map(\.path)
    return DeviceStatus.Attachments(
      missing: missing, waiting: waiting.count + rewritten.count,
      notSent: notSent.count, notSentBytes: try list.files.bytes(of: notSent), lost: lost.count,
      notAsked: lost.count { $0.asked == 0 }, notCarriable: Set(named + blocked).count)
  }
}
