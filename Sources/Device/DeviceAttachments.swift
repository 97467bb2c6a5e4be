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

  /// What an export may carry: copies that lie in its draft, and which of them make an export worth while.
  struct Outgoing {
    var staged: [AttachmentPath: AttachedFiles.Staged] = [:]
    /// Never carried, or lost with the bundle that did.
    var due: Set<AttachmentPath> = []
    /// How many are left for the exports after this one.
    var left = 0
    /// What it asks the hub for, in order.
    var lost: [AttachmentPath] = []
    /// Whether no export asked for one of them yet.
    var isAskingAnew = false

    var isDue: Bool { isAskingAnew || staged.keys.contains { due.contains($0) } }
  }

  /// Looks for files that the hub is not known to have, and copies those that fit into the draft; and for those that it
  /// has and that are gone here. Writers wait for the look alone.
  /// - Parameters:
  ///   - bytes: how much at most; nil: what the dataset says.
  ///   - isNothingElse: whether there will be no export but for files that are due.
  func stage(into draft: inout BundleDraft, atMost bytes: Int64?, isNothingElse: () throws -> Bool) throws -> Outgoing {
    guard list.named.areAny else { return Outgoing() }
    var outgoing = Outgoing()
    let seen = try list.look(database)
    let waiting = try database.writeTransaction(session.workspace.ending) {
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
    outgoing.staged = try list.files.stage(waiting.map(\.path), limits: list.limits.atMost(bytes), into: &draft)
    for (path, _) in waiting { if try outgoing.staged[path] == nil && list.isThere(path) { outgoing.left += 1 } }
    return outgoing
  }

  /// Takes up the files that changes name which the hub does not have; a file that no row here names any more before it
  /// was ever sent is forgotten. The caller holds the transaction, and has sorted in what was written.
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
      try database.run(
        "DELETE FROM satchel_attachments WHERE path = :path AND sent = 0 AND delivered = 0",
        ["path": .string(path.text)])
      begun.remove(path)
    }
    for path in begun.sorted() { try list.add(path, in: database) }
  }

  /// Adds files, and what came since the last export that the hub is known to have. The caller holds the transaction.
  func seal(_ outgoing: Outgoing, into draft: inout BundleDraft, sequence: SequenceNumber) throws {
    for path in outgoing.lost {
      let asked: KeyValuePairs<String, Value> = ["path": .string(path.text), "sequence": .integer(sequence.rawValue)]
      try database.run("UPDATE satchel_attachments SET asked = :sequence WHERE path = :path", asked)
      // Nobody says in one breath that a file came and that it is gone.
      try database.run("DELETE FROM satchel_received WHERE path = :path", ["path": asked[0].value])
    }
    let carried = try outgoing.staged.map {
      BundleDraft.CarriedFile($0.key, $0.value.file, was: try list.former($0.key, in: database))
    }
    try draft.addAttachments(carried, received: receipts())
    for (path, staged) in outgoing.staged {
      let (bytes, modified) = staged.mark.values
      try database.run(
        """
        UPDATE satchel_attachments SET sent = :sequence, digest = :digest, bytes = :bytes, modified = :modified WHERE path = :path
        """,
        [
          "path": .string(path.text), "sequence": .integer(sequence.rawValue),
          "digest": .string(staged.file.digest.hexadecimal), "bytes": bytes, "modified": modified,
        ])
    }
    try database.run(
      "UPDATE satchel_received SET told = :sequence WHERE told = 0", ["sequence": .integer(sequence.rawValue)])
  }

  private func receipts() throws -> [AttachmentLine] {
    try database.all("SELECT path, digest FROM satchel_received") {
      AttachmentLine(received: $0.text(0), digest: $0.text(1))
    }.compactMap(\.self)
  }

  // MARK: from the hub

  /// Takes what a bundle brought, and what the hub says that it has. The caller holds the transaction, and this is the
  /// last that it does.
  /// - Parameter left: files that rows named which left this user's sight, or name others now.
  func take(_ arriving: borrowing ArrivingAttachments, left: Set<AttachmentPath>) throws {
    try database.run(
      "DELETE FROM satchel_received WHERE told > 0 AND told <= :acknowledged",
      ["acknowledged": .integer(session.state.acknowledged.rawValue)])
    for receipt in arriving.receipts {
      try database.run(
        "UPDATE satchel_attachments SET delivered = 1 WHERE path = :path AND digest = :digest",
        ["path": .string(receipt.path.text), "digest": .string(receipt.digest.hexadecimal)])
    }
    for path in left {
      try database.run("UPDATE satchel_attachments SET leaving = 1 WHERE path = :path", ["path": .string(path.text)])
    }
    try list.take(arriving, in: database)
    if session.workspace.ending == .keep { try arriving.put() }
  }

  /// What to do with a file that comes.
  func reception(_ line: AttachmentLine, _ present: Digest?) throws -> ArrivingAttachments.Reception {
    try list.reception(line, present, in: database)
  }

  func takeUpOthers(but arriving: borrowing ArrivingAttachments) throws {
    try list.takeUpOthers(but: arriving, in: database)
  }

  func sweep() throws { if session.workspace.ending == .keep { try list.sweep(database) } }

  // MARK: to be seen

  func status() throws -> DeviceStatus.Attachments {
    guard list.named.areAny else { return DeviceStatus.Attachments() }
    let waiting = try list.undelivered(in: database).filter { try list.isThere($0.path) }
    let lost = try list.lost(in: database)
    let known = Set(waiting.map(\.path))
    let rewritten = try list.look(database, marked: true).count { $0.isRewritten && !known.contains($0.path) }
    return DeviceStatus.Attachments(
      missing: try list.named.missing(in: database, list.files, list.limits), waiting: waiting.count + rewritten,
      notSent: waiting.count { $0.sent == 0 } + rewritten, lost: lost.count, notAsked: lost.count { $0.asked == 0 })
  }
}
