import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Changes of a former user of this device that the hub is not known to have. They are in an export of their own, in
/// the name of the former user.
public struct SealedChanges: Sendable {
  public let user: String
  /// The export's file in the outbox.
  public let file: String
  public let changes: Int
  /// Whether the sealed export also carries the whole database, because the import could not find unseen writes.
  public var hasDatabase = false
}

/// The change of a device's user.
///
/// The hub must merge the former user's changes with that user's rights and name. The new user may not even see these
/// changes. So the changes leave in a sealed export, which later exports do not contain. Then every row gets the values
/// that the hub last sent, and the new user's history begins there.
struct Handover {
  private let session: DeviceSession
  private let formerUser: String
  /// In a dry run: the number of changes that unseen writes would add.
  private var rehearsed = 0
  /// Whether unseen writes could be found. False: bundles of the archive are missing.
  private var isCompared = true

  private var database: Database { _read { yield session.database } }

  /// nil: the bundle is for the present user of this device, or this device delivers nothing.
  init?(_ session: DeviceSession, to manifest: Manifest) throws {
    guard Name(manifest.user) != Name(session.state.user), try !session.workspace.keys.areDiscarded() else {
      return nil
    }
    self.session = session
    formerUser = session.state.user
    if session.workspace.runMode == .dryRun { rehearsed = try takeUpUnseen(.dryRun) }
  }

  /// The error if the app wrote after the export that was about to be sealed.
  struct WrittenMeanwhile: Error {}

  /// Exports all changes of the former user, with their files. If unseen writes cannot be found, the export carries the
  /// whole database too, because the import will overwrite these writes.
  mutating func export() throws {
    guard session.workspace.runMode == .commit else { return }
    _ = try takeUpUnseen(.commit)
    guard try isAnythingPending() || !isCompared else { return }
    var left = Int.max
    var snapshot: DeviceWorkspace.SnapshotOption = isCompared ? .never : .always
    repeat {
      let report = try session.workspace.exportHere(
        session, snapshot: snapshot, proof: .never, encryption: .asTheDatasetSays, room: BundleRoom(attached: .max))
      if report.attachedLeft >= left { return }
      left = report.attachedLeft
      snapshot = .never
    } while left > 0
  }

  /// Turns the former user's unseen writes into pending changes, as `doctor --repair` does. Changes nothing if the
  /// archive is not complete. Returns the number of changes that became pending.
  private mutating func takeUpUnseen(_ runMode: RunMode) throws -> Int {
    do {
      return try database.writeTransaction(runMode) {
        let changes = try session.reinstallAndCompare()
        let before = try countPending()
        try session.save(changes)
        return try countPending() - before
      }
    } catch let error as WorkspaceError where error.code == .noHistory {
      isCompared = false
      return 0
    }
  }

  /// Seals the last export, and gives every row the values that the hub last sent. The caller holds the transaction,
  /// with triggers off. The caller has logged the local writes and forgotten the acknowledged changes.
  ///
  /// - Returns: `sealed`: the sealed work; nil: nothing was pending. `unnamed`: the files that rows no longer name.
  func seal() throws -> (sealed: SealedChanges?, unnamed: Set<AttachmentPath>) {
    let changes = try countPending() + rehearsed
    let isAnySealed = try changes > 0 || !isCompared || session.hasUnacknowledgedConflictsOrDecisions()
    if isAnySealed {
      if session.workspace.runMode == .commit, try isAnythingUnsealed() { throw WrittenMeanwhile() }
      session.state.sealed = session.state.sequence
    }
    let unnamed = try takeRowsBack()
    // The sealed export has reported the new primary keys to the hub.
    try RenumberedTable.markAllKnown(in: database)
    guard isAnySealed else { return (nil, unnamed) }
    var sealed = try session.sealedChanges(of: formerUser, changes)
    sealed.hasDatabase = !isCompared
    return (sealed, unnamed)
  }

  private func isAnythingPending() throws -> Bool {
    // The logged local writes may be committed, because the export logs them anyway.
    try database.writeTransaction(.commit) {
      try Capture.settle(session.tables, in: database)
      return try countPending() > 0 || session.hasUnacknowledgedConflictsOrDecisions()
        || !DeviceAttachments(session).list.undelivered(in: database).isEmpty
    }
  }

  private func countPending() throws -> Int {
    try PreImageStore.countSteps(
      session.tables, since: session.acknowledgedGeneration, unsent: session.acknowledgedGeneration, in: database
    ).unsent
  }

  /// Whether the last export lacks changes or conflicts.
  private func isAnythingUnsealed() throws -> Bool {
    try PreImageStore.hasSteps(session.tables, since: Generation(session.state.sequence.rawValue), in: database)
      || ConflictTable.countUntold(of: session.state.id, in: database) > 0
  }

  /// Gives each changed row the values that the hub last sent. Returns the files that rows no longer name. All changed
  /// rows are deleted before any row is written, because rows may have exchanged UNIQUE values.
  private func takeRowsBack() throws -> Set<AttachmentPath> {
    var unnamed: Set<AttachmentPath> = []
    let all = try session.tables.map { try RowTable($0, in: database) }
    for rows in all.reversed() {
      try PreImageStore.each(rows.table, since: .zero, in: database) { key, images, current in
        guard let current else { return }
        if !rows.table.rules.attachments.isEmpty {
          let kept = images[0].hubRow.map { rows.table.attachments(of: $0) } ?? []
          unnamed.formUnion(rows.table.attachments(of: current).subtracting(kept))
        }
        try rows.write(nil, over: current, key: key)
      }
    }
    for rows in all {
      try PreImageStore.each(rows.table, since: .zero, in: database) { key, images, _ in
        try rows.write(images[0].hubRow, over: nil, key: key)
      }
      try PreImageStore.forget(before: Generation(.max), [rows.table], in: database)
    }
    try ExportedRowTable.forgetAll(in: database)
    session.state.isUnwiped = true
    return unnamed
  }
}

extension DeviceSession {
  /// Whether there are conflicts that this device found, or decisions of its user, that the hub is not known to have.
  fileprivate func hasUnacknowledgedConflictsOrDecisions() throws -> Bool {
    try !ConflictTable.untold(of: state.id, after: state.base.rawValue, in: database).isEmpty
      || !ResolutionTable.all(since: acknowledgedGeneration, in: database).isEmpty
  }

  /// Changes of former users of this device that the hub is not known to have, oldest first.
  func sealedChanges() throws -> [SealedChanges] {
    try sealedFiles().compactMap { path in
      let manifest = try workspace.reader.manifest(of: path, trust: .keys(workspace.ownKeys()))
      return SealedChanges(user: manifest.user, file: path, changes: Int(manifest.changes))
    }
  }

  fileprivate func sealedChanges(of user: String, _ changes: Int) throws -> SealedChanges {
    // A dry run makes no export, so the report names the next export.
    let sequence = workspace.runMode == .commit ? state.sequence : state.sequence.next
    let file = Paths.join(folder.outbox, fileName(ofExport: sequence))
    return SealedChanges(user: user, file: file, changes: changes)
  }
}
