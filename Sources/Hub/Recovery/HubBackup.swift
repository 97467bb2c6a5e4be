import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The content of a backup.
public struct BackupReport: Sendable {
  public let epoch: Epoch
  /// The number of row changes that the hub had committed.
  public let cursor: Cursor
  /// The time of the backup by the hub's clock, for people.
  public let created: String
  /// The size of the file, in bytes.
  public let bytes: Int64
  /// The number of archived bundles in the backup.
  public let bundles: Int
  public let hasSecretKeys: Bool
  /// Whether the new backup opens only with the hub's own keys: it is encrypted, and the dataset names no escrow key.
  /// False in the report of a verification.
  public internal(set) var needsOwnKeys = false
}

/// Whether a backup contains the hub's secret keys. A person with these keys can sign as the hub, and can read bundles
/// for the hub.
public enum SecretKeys: Sendable {
  case leftOut
  /// The backup contains the keys. If they have no password, any person with the file can read them.
  case included
}

extension HubWorkspace {
  /// Writes the whole hub into one signed file, which must not exist yet. Meanwhile, apps can write into the database.
  ///
  /// The backup contains the database, the configuration, the public keys, the files that rows name, and the archive of
  /// bundles. It does not contain the outbox, because a restored hub makes new bundles.
  public func backup(
    to path: String, keys secrets: SecretKeys = .leftOut, encryption: Encryption = .asTheDatasetSays
  ) throws -> BackupReport {
    guard try platform.files.kind(path) == nil else {
      throw WorkspaceError(.exists, "There is something at \(path) already.", hint: "Give the backup another name.")
    }
    return try locked {
      let store = try store()
      let recipients = try encryption.recipients(keys.recipient(), name: configuration.name, store.dataset, keys)
      if !recipients.isEmpty, secrets == .included {
        throw WorkspaceError(
          .lockedIn, "The backup would be encrypted for keys that are only in the backup itself.",
          hint: "Leave out --with-keys, and keep a copy of keys/ elsewhere.")
      }
      // The draft is not made beside the target, because the target may be on a slow stick.
      var draft = try BundleDraft(in: folder.outbox, platform: platform)
      let copy = draft.file("building.sqlite")
      try store.database.copy(to: copy)
      let cursor = try HubStore(path: copy).cursor()
      try draft.addSnapshot(at: copy)
      let names = try backupFiles(secrets)
      let lost = try lostFiles(store).filter { !names.contains(BackedUpFile.archived($0)) }
      let files = try BackupFiles.making(at: draft.file("files"), platform.files)
      try files.add {
        for name in names { try files.add(folder.path(name), as: name) }
        for name in lost { try files.add(lostPath(name), as: BackedUpFile.archived(name)) }
      }
      try draft.addFiles(at: draft.file("files"))
      let sealed = try draft.seal(backupManifest(store, cursor), with: keys.signing())
      let made = try draft.write(sealed, for: recipients)
      let bytes = try platform.files.size(made)
      if runMode == .commit {
        // The backup contains all rows, so it gets no wider access mode than the database.
        let mode = try 0o644 & folder.databaseMode(at: databasePath, platform.files)
        try platform.files.deliver(made, to: path, mode: secrets == .included ? 0o600 : mode)
        try LastBackup(at: platform.clock.milliseconds(), file: path).write(to: folder, platform.files)
        // The backup is complete. If this record is not made, devices only store more exports than they need to.
        do { try store.noteBackedUp() } catch let error as SQLiteError where error.kind == .busy {}
      }
      var result = report(
        sealed.manifest, store.identity.epoch, cursor, bytes, names + lost.map { BackedUpFile.archived($0) })
      result.needsOwnKeys = !recipients.isEmpty && store.dataset.escrow.isEmpty
      return result
    }
  }

  /// Returns the file names of the lost emissions that wait to be merged. The backup needs them, because their devices
  /// do not bring them again.
  private func lostFiles(_ store: HubStore) throws -> [String] {
    try store.lostEmissionsToMerge().compactMap(\.file).filter { try platform.files.kind(lostPath($0)) == .file }
  }

  private func backupManifest(_ store: HubStore, _ cursor: Cursor) -> Manifest {
    let itself = Manifest.Party(id: configuration.id, name: configuration.name)
    let now = platform.clock.milliseconds()
    return Manifest(
      bundle: platform.random.identifier(), dataset: store.dataset.name, version: store.dataset.version, from: itself,
      to: itself,
      user: "", created: UTCTime.text(milliseconds: now), stamp: Stamp(milliseconds: now),
      body: .backup(.init(epoch: store.identity.epoch, cursor: cursor)))
  }

  private func report(_ manifest: Manifest, _ epoch: Epoch, _ cursor: Cursor, _ bytes: Int64, _ names: [String])
    -> BackupReport
  {
    BackupReport(
      epoch: epoch, cursor: cursor, created: manifest.created, bytes: bytes,
      bundles: names.count { $0.hasPrefix("bundles/archive/") }, hasSecretKeys: names.contains(BackedUpFile.ownKey))
  }

  private func backupFiles(_ secrets: SecretKeys) throws -> [String] {
    let files = platform.files
    func list(_ place: String) throws -> [String] {
      guard try files.kind(folder.path(place)) == .directory else { return [] }
      return try files.list(folder.path(place)).map { "\(place)/\($0)" }.filter {
        try files.kind(folder.path($0)) == .file
      }
    }
    return try ["satchel.json"]
      + ["keys", "keys/former", "bundles/archive"].flatMap { try list($0) }.filter {
        guard let file = BackedUpFile($0) else { return false }
        return secrets == .included || !file.needsSecret
      } + AttachedFiles(folder, platform).all().map { "files/\($0)" }
  }

  /// Checks every byte of a backup that this hub made, and checks that its parts belong together. Changes nothing.
  public func verifyBackup(_ path: String) throws -> BackupReport {
    try locked {
      let bundle = try reader.read(path, trust: .keys(ownKeys()), staging: folder.inbox)
      let size = try platform.files.size(path)
      let opened = try OpenedBackup(bundle, platform)
      let cursor = try opened.check()
      return report(bundle.manifest, opened.backup.epoch, cursor, size, opened.names)
    }
  }
}
