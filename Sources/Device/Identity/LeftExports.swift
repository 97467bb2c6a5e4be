import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelCrypto
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The work of former users that the device's lost hub is not known to have.
///
/// A former user's work is in sealed exports, which later exports do not contain. When the device leaves its lost hub,
/// all exports are put aside. So the device makes each sealed export again for the next hub, in the former user's name.
/// The device does this before its own first export there. The new export keeps the old number, because its changes
/// name generations below that number. It names no emission, so the next hub merges it by values. That hub accepts it
/// only after its operator confirms the former user.
struct LeftExports {
  private let session: DeviceSession

  init(_ session: DeviceSession) { self.session = session }

  private var files: any FileSystem { session.platform.files }
  private var database: Database { _read { yield session.database } }

  /// Makes the exports for this hub. If this command is killed, the next command completes the rest.
  func make() throws {
    guard session.workspace.runMode == .commit else { return }
    let left = try LeftExportTable.all(in: database)
    if left.isEmpty { return }
    let former = try LeftExportTable.columns(in: database)
    var base = SequenceNumber.zero
    for entry in left where try hasFile(of: entry) {
      let name = session.fileName(ofExport: entry.sequence)
      if let kept = try session.archive.place(ofOutgoing: name) {
        // A command may have been killed after it archived the export and before it put the export into the outbox.
        let target = Paths.join(session.folder.outbox, name)
        if try files.kind(target) != .file { try files.copy(kept, to: target, mode: 0o644) }
      } else {
        try make(entry, after: base, former, as: name)
      }
      try record(name, at: entry.sequence)
      base = entry.sequence
    }
    try database.writeTransaction { try LeftExportTable.remove(from: database) }
  }

  private func path(of entry: LeftExportTable.Entry) -> String { Paths.join(session.folder.former, entry.file) }

  /// Whether the former export is still here, and not damaged. Otherwise its contents are lost.
  private func hasFile(of entry: LeftExportTable.Entry) throws -> Bool {
    let keys = try session.workspace.ownKeys()
    return try session.workspace.reader.identityIfSound(of: path(of: entry), trust: .keys(keys))?.digest == entry.digest
  }

  private func make(
    _ entry: LeftExportTable.Entry, after base: SequenceNumber, _ former: FormerColumns, as name: String
  ) throws {
    let (workspace, state) = (session.workspace, session.state)
    let bundle = try workspace.reader.read(
      path(of: entry), trust: .keys(workspace.ownKeys()), staging: session.folder.inbox)
    var draft = try BundleDraft(in: session.folder.outbox, platform: session.platform)
    try draft.addChanges { add in
      try bundle.eachChange { line in
        if let line = try fitted(line.present(former, since: bundle.manifest.version)) { try add(line) }
      }
    }
    try draft.addConflicts(conflicts(in: bundle))
    try draft.addAttachments(of: bundle)
    draft.require(session.tables.critical)
    var changes = Manifest.Changes(
      epoch: state.epoch, incarnation: state.incarnation, received: .zero, sequence: entry.sequence,
      chain: try session.chain(before: entry.sequence), lost: [])
    changes.base = base
    var manifest = Manifest(
      bundle: BundleID(random: session.platform.random.bytes(16)), dataset: session.dataset.name,
      version: session.dataset.version, from: .init(id: state.id, name: state.name), to: session.hub,
      user: bundle.manifest.user, created: bundle.manifest.created, stamp: bundle.manifest.stamp,
      changes: draft.count(of: .changes), conflicts: draft.count(of: .conflicts), resolutions: 0,
      body: .changes(changes))
    manifest.understands = Set(Manifest.Critical.allCases)
    try session.publish(session.write(&draft, manifest), as: name)
  }

  /// Returns the line with the columns of this hub's dataset. nil: the line is about keys at the lost hub, or none of
  /// its content is in this dataset. Content that does not fit stays in `bundles/archive/former`.
  private func fitted(_ line: ChangeLine) throws -> ChangeLine? {
    guard let schema = session.table(line.table)?.schema, line.key.values.count == schema.key.count else { return nil }
    switch line.content {
    case .insert(let fields):
      return line.with(content: .insert(schema.fields(try schema.row(kept: fields, in: database))))
    case .delete(let was):
      return line.with(content: .delete(was: schema.fields(try schema.row(kept: was, in: database))))
    case .update(let set, let was):
      let pairs = zip(set, was).compactMap { set, was in schema.position(of: set.name).map { ($0, set, was) } }
        .sorted { $0.0 < $1.0 }
      if pairs.isEmpty { return nil }
      return line.with(content: .update(set: pairs.map(\.1), was: pairs.map(\.2)))
    case .row, .gone, .rekey, .block: return nil
    }
  }

  private func conflicts(in bundle: borrowing VerifiedBundle) throws -> [ConflictRecord] {
    var records: [ConflictRecord] = []
    try bundle.eachConflict { if session.fitsDataset($0) { records.append($0) } }
    return session.asOwn(records)
  }

  /// Records the export whose file is in the outbox. The numbers of this device's own exports continue from there.
  private func record(_ name: String, at sequence: SequenceNumber) throws {
    guard let path = try session.archive.place(ofOutgoing: name) else { return }
    let workspace = session.workspace
    let bundle = try workspace.reader.read(path, trust: .keys(workspace.ownKeys()), staging: session.folder.inbox)
    guard case .changes(let changes) = bundle.manifest.body else { return }
    try database.writeTransaction {
      try ExportTable.restore(bundle, changes, received: .zero, isWritten: true, in: database)
      try Ledger.add(
        bundle.manifest, digest: bundle.digest, direction: .outgoing, verdict: .written,
        at: session.platform.clock.milliseconds(), in: database)
      session.state.sealed = sequence
      try session.state.save(in: database)
    }
  }
}

extension DeviceWorkspace {
  /// The exports of former users that the lost hub is not known to have, oldest first. Their files have been put aside.
  func leftExports(of state: DeviceState, in database: borrowing Database) throws -> [LeftExportTable.Entry] {
    guard let sealed = state.sealed, sealed > state.acknowledged else { return [] }
    let prefix = Manifest.namePrefix(dataset: configuration.dataset, from: state.name, to: state.hubName)
    var found: [SequenceNumber: (entry: LeftExportTable.Entry, base: SequenceNumber?)] = [:]
    for name in try platform.files.list(folder.former) where name.hasPrefix(prefix) && name.hasSuffix(".satchel") {
      let path = Paths.join(folder.former, name)
      guard let identity = try reader.identityIfSound(of: path, trust: .keys(ownKeys())),
        identity.manifest.from.id == state.id, case .changes(let changes) = identity.manifest.body,
        try ExportTable.digest(of: changes.sequence, in: database).map({ $0 == identity.digest }) ?? true
      else { continue }
      let entry = LeftExportTable.Entry(sequence: changes.sequence, digest: identity.digest, file: name)
      found[changes.sequence] = (entry, changes.base)
    }
    var (left, next) = ([LeftExportTable.Entry](), Optional(sealed))
    while let sequence = next, sequence > state.acknowledged {
      if let entry = found[sequence]?.entry { left.insert(entry, at: 0) }
      let base = try ExportTable.file(of: sequence, in: database)?.base ?? found[sequence]?.base
      next = base.flatMap { $0 < sequence ? $0 : nil }
    }
    return left
  }
}
