import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The exports that a device made under a former name. A hub that was restored or set back may have lost them.
///
/// A device with a new name continues its history and its export numbers. But the hub no longer trusts the device's
/// former key, or another copy of the device has the former name. So the device signs its former exports again under
/// its present name. Each new file states which export it was.
struct FormerExports {
  private let session: DeviceSession

  init(_ session: DeviceSession) { self.session = session }

  private var files: any FileSystem { session.platform.files }

  /// The files of the exports after `merged`, by number. The database has a record of each of these exports.
  func files(after merged: SequenceNumber) throws -> [SequenceNumber: String] {
    try files(in: [session.folder.sent]) { sequence, digest in
      try sequence > merged && session.digest(ofExport: sequence) == digest
    }
  }

  /// The files of the exports that this device made before it got its present name, by number. A database that is made
  /// again has no records of these exports. Files with later numbers are left out: they are of a history that the
  /// device has left.
  func allFiles() throws -> [SequenceNumber: String] {
    if session.workspace.configuration.predecessor == nil { return [:] }
    let present = try session.archive.outgoing(session.outgoingPrefix).first ?? .max
    return try files(in: [session.folder.former, session.folder.sent]) { sequence, _ in sequence.rawValue < present }
  }

  private func files(
    in folders: [String], where isWanted: (SequenceNumber, Digest) throws -> Bool
  ) throws -> [SequenceNumber: String] {
    let keys = try session.workspace.ownKeys()
    var found: [SequenceNumber: String] = [:]
    for folder in folders where try files.kind(folder) == .directory {
      for name in try files.list(folder) where name.hasSuffix(".satchel") && !name.hasPrefix(session.outgoingPrefix) {
        let path = Paths.join(folder, name)
        guard let identity = try session.workspace.reader.identityIfSound(of: path, trust: .keys(keys)),
          case .changes(let changes) = identity.manifest.body, identity.manifest.from.id != session.state.id,
          try isWanted(changes.sequence, identity.digest)
        else { continue }
        found[changes.sequence] = path
      }
    }
    return found
  }

  /// Copies the export at `path` and signs the copy with the present key.
  func signAgain(_ path: String, as target: String) throws {
    let (workspace, state) = (session.workspace, session.state)
    let bundle = try workspace.reader.read(path, trust: .keys(workspace.ownKeys()), staging: session.folder.inbox)
    guard case .changes(let changes) = bundle.manifest.body else { return }
    var draft = try BundleDraft(in: session.folder.outbox, platform: session.platform)
    try draft.addContents(of: bundle)
    var records: [ConflictRecord] = []
    try bundle.eachConflict { records.append($0.byPresentName(of: state, insteadOf: bundle.manifest.from.id)) }
    try draft.addConflicts(records)
    var manifest = again(bundle.manifest, changes, original: changes.original ?? bundle.digest)
    manifest.understands = bundle.manifest.understands
    try files.rename(session.write(&draft, manifest), to: target)
  }

  private func again(_ manifest: Manifest, _ former: Manifest.Changes, original: Digest) -> Manifest {
    let state = session.state
    var changes = Manifest.Changes(
      epoch: former.epoch, incarnation: state.incarnation, received: former.received, sequence: former.sequence,
      chain: former.chain, lost: former.lost)
    (changes.base, changes.proof, changes.original) = (former.base, former.proof, original)
    (changes.formerExports, changes.former) = (former.formerExports, former.former)
    return Manifest(
      bundle: BundleID(random: session.platform.random.bytes(16)), dataset: manifest.dataset, version: manifest.version,
      from: .init(id: state.id, name: state.name), to: manifest.to, user: manifest.user, created: manifest.created,
      stamp: manifest.stamp, changes: manifest.changes, conflicts: manifest.conflicts,
      resolutions: manifest.resolutions,
      body: .changes(changes))
  }
}

extension DeviceSession {
  /// Signs a former export that was made again, and writes it for the hub, encrypted if the dataset says so. Returns
  /// the path of the file.
  func write(_ draft: inout BundleDraft, _ manifest: Manifest) throws -> String {
    var manifest = manifest
    manifest.recipient = try workspace.keys.recipient()
    let sealed = try draft.seal(manifest, with: workspace.keys.signing())
    let recipients = try Encryption.asTheDatasetSays.recipients(
      state.hubRecipient, name: state.hubName, dataset, workspace.keys)
    return try draft.write(sealed, for: recipients)
  }
}

extension ConflictRecord {
  /// The record with the present id of the device instead of its former id.
  func byPresentName(of state: DeviceState, insteadOf former: ReplicaID) -> ConflictRecord {
    guard device == former else { return self }
    var record = self
    record.device = state.id
    return record
  }
}
