import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Rebuilds a device's database from its workspace: from the hub's bundles since the last full bundle, and from this
/// device's exports.
///
/// Changes that no export carried are lost with the old file. Everything else is restored. Changes that the hub does
/// not have are pending again, so the next export contains them. A later export always contains the changes of the
/// exports that it replaces.
struct DatabaseRebuild {
  private let workspace: DeviceWorkspace
  /// The keys that verify the bundles. The rebuild changes no key in `keys/`, because an archived bundle may have an
  /// old key.
  private let keys: [PublicKey]
  private let full: Kept
  private let deltas: [Kept]
  /// How to handle exports whose files are missing.
  var lost = LostExports.deliveredAgain

  /// A bundle from the hub in the archive.
  private struct Kept {
    let path: String
    let scope: Manifest.Scope
  }

  /// The result of the rebuild.
  struct Result {
    /// The present emission of the rebuilt database.
    let received: EmissionNumber
    /// The number of exported changes that are pending again.
    let replayed: Int
    /// The new path of the file that was in the database's place; nil: there was none.
    var kept: String?
  }

  private var files: any FileSystem { workspace.platform.files }

  /// Finds the bundles for a rebuild. nil: the archive holds no full bundle from the hub, or the hub has not answered
  /// this device's new name.
  static func find(_ workspace: DeviceWorkspace) throws -> DatabaseRebuild? {
    if workspace.configuration.continues != nil { return nil }
    let archive = try ArchivedEmissions(workspace)
    let kept = archive.emissions.map { Kept(path: $0.path, scope: $0.scope) }
    guard let first = kept.lastIndex(where: { $0.scope.extent == .full }) else { return nil }
    return DatabaseRebuild(workspace, archive.keys, kept[first], Array(kept[(first + 1)...]))
  }

  private init(_ workspace: DeviceWorkspace, _ keys: [PublicKey], _ full: Kept, _ deltas: [Kept]) {
    self.workspace = workspace
    self.keys = keys
    self.full = full
    self.deltas = deltas
  }

  /// Uses a full bundle that has just come instead of the archived bundles, which are incomplete. The archive already
  /// has a copy of this full bundle.
  init(_ workspace: DeviceWorkspace, from path: String, _ scope: Manifest.Scope) throws {
    self.init(workspace, try ArchivedEmissions(workspace).keys, Kept(path: path, scope: scope), [])
  }

  /// Builds the database beside its final path and renames it. Throws if a needed bundle or export is missing. In that
  /// case, nothing has changed.
  func run() throws -> Result {
    var (result, kept) = try workspace.replaceDatabase { path in
      try BundleArchive(workspace.folder, files).secure()
      // The path is made absolute, because paths in the configuration are relative to the workspace's folder.
      return try build(workspace.with(database: Paths.absolute(path, currentDirectory: files.currentDirectory())))
    }
    result.kept = kept
    return result
  }

  private func build(_ workspace: DeviceWorkspace) throws -> Result {
    let bundle = try read(full)
    _ = try workspace.makeDatabase(from: bundle, full.scope, at: full.path, signer: .isKept)
    let session = try DeviceSession(workspace)
    session.isRebuilt = true
    session.archiveKeys = keys
    session.lost = lost
    var replay = try ExportReplay(session)
    try replay.begin()
    // Exports and bundles are replayed in the order of time. The changes of an export start from the rows of the
    // emission that the device then had.
    try replay.run(onto: bundle, full.scope)
    for next in deltas {
      _ = try session.importScope(read(next), next.scope, from: next.path)
      try replay.run(through: next.scope.number)
    }
    try replay.finish()
    return Result(received: session.state.received, replayed: try replay.pending())
  }

  /// Throws a `WorkspaceError` if the archived file is damaged: only a full bundle can build the database then.
  private func read(_ kept: Kept) throws -> VerifiedBundle {
    do {
      return try workspace.reader.read(kept.path, trust: .keys(keys), staging: workspace.folder.inbox)
    } catch let error as BundleError {
      throw ArchivedBundles.incomplete("\(Paths.name(of: kept.path)) is damaged (\(error.message))")
    }
  }
}

extension DeviceWorkspace {
  /// This workspace with another database path.
  fileprivate func with(database path: String) -> DeviceWorkspace {
    DeviceWorkspace(
      folder: folder,
      configuration: WorkspaceConfiguration(
        role: .device, dataset: configuration.dataset, id: configuration.id, name: configuration.name, database: path,
        incarnation: configuration.incarnation, former: configuration.predecessor), platform: platform, keys: keys,
      runMode: .commit)
  }

  /// Makes a database beside its final path and renames it. The file that was in its place stays under another name.
  ///
  /// Throws a `WorkspaceError` if the folder of the database is missing.
  /// - Parameter make: makes the database at the path that it gets. If it throws, nothing has changed.
  /// - Returns: `kept`: the new path of the file that was in the database's place; nil: there was none.
  func replaceDatabase<Made>(_ make: (_ path: String) throws -> Made) throws -> (made: Made, kept: String?) {
    let parent = Paths.parent(of: databasePath)
    guard try platform.files.kind(Paths.join(parent, ".")) == .directory else {
      throw WorkspaceError(
        .noFolder, "The folder \(parent) of the database is missing.", hint: "Is the card or the disk mounted?")
    }
    let staging = try StagingFolder(in: parent, platform: platform)
    let path = staging.file("database.sqlite")
    let made = try make(path)
    let kept = try putAsideRemains()
    try platform.files.rename(path, to: databasePath)
    return (made, kept)
  }

  /// Moves the remaining files of a lost or damaged database aside. Returns the new path of the database's file; nil if
  /// there was none.
  func putAsideRemains() throws -> String? {
    let kept = try putAsideCompanions()
    guard try platform.files.kind(databasePath) != nil else { return nil }
    try platform.files.rename(databasePath, to: kept)
    return kept
  }

  /// Moves the log and the journal of a former database aside, because they would damage the new database. Returns a
  /// path for the former database itself.
  @discardableResult
  func putAsideCompanions() throws -> String {
    let kept = "\(databasePath).damaged-\(UTCTime.fileName(milliseconds: platform.clock.milliseconds()))"
    for suffix in ["-wal", "-journal"] where try platform.files.kind(databasePath + suffix) != nil {
      try platform.files.rename(databasePath + suffix, to: kept + suffix)
    }
    try platform.files.removeIfThere(databasePath + "-shm")
    return kept
  }
}
