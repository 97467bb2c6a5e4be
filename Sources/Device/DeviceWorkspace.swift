import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelDataset
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A device's workspace: one database that works offline for one user.
///
/// A command opens the workspace, and closes it when the command ends. A lock prevents two commands that conflict from
/// running together.
public struct DeviceWorkspace: Sendable {
  public let folder: WorkspaceFolder
  public let configuration: WorkspaceConfiguration
  let platform: Platform
  public let keys: WorkspaceKeys
  /// `dryRun`: commands report what they would do, and change nothing.
  let runMode: RunMode
  /// The maximum number of emissions of the lost time that one export names.
  var mostBrought = Manifest.Changes.mostBrought
  /// Called with the name of each step of an import before the step begins. Tests use this to stop an import at a step.
  var beforeStep: @Sendable (String) throws -> Void = { _ in }
  /// The work on a copy of a tablet's database; nil: the database is on this machine, or no copy is here.
  var docking: Docking?

  var databasePath: String { docking?.database ?? configuration.databasePath(folder) }

  /// Opens the workspace in `root`. Throws a `WorkspaceError` if there is no workspace.
  ///
  /// - Parameter passwords: asked if a password protects the workspace's keys.
  public static func open(
    _ root: String, platform: Platform, runMode: RunMode = .commit, passwords: any PasswordSource = NoPassword()
  ) throws -> DeviceWorkspace {
    let folder = WorkspaceFolder(root)
    let configuration = try WorkspaceConfiguration.load(folder, role: .device, files: platform.files)
    let platform = try folder.guarded(platform, database: configuration.databasePath(folder), runMode)
    return DeviceWorkspace(
      folder: folder, configuration: configuration, platform: platform,
      keys: WorkspaceKeys(folder, of: .device, platform: platform, passwords: passwords), runMode: runMode)
  }

  /// Creates a workspace with its own keys in `root`. The workspace has no database yet, because the hub's first bundle
  /// brings the database. If a workspace with this name already waits for that bundle, returns that workspace.
  public static func create(
    _ root: String, dataset: String, name: String, database: String = "data.sqlite", platform: Platform,
    runMode: RunMode = .commit
  ) throws -> DeviceWorkspace {
    let folder = WorkspaceFolder(root)
    for (what, word) in [("dataset", dataset), ("device", name)] where !isSafeName(word) {
      throw WorkspaceError(.badName, "\"\(word)\" cannot be the name of a \(what).", hint: safeNameHint)
    }
    if let known = try waiting(folder, dataset: dataset, name: name, database: database, platform, runMode) {
      return known
    }
    try folder.checkVacant(platform.files, runMode)
    let configuration = WorkspaceConfiguration(
      role: .device, dataset: dataset, id: ReplicaID(random: platform.random.bytes(16)), name: name, database: database,
      incarnation: Incarnation(random: platform.random.bytes(16)))
    let platform = try folder.guarded(platform, database: configuration.databasePath(folder), runMode)
    let keys = WorkspaceKeys(folder, of: .device, platform: platform)
    let workspace = DeviceWorkspace(
      folder: folder, configuration: configuration, platform: platform, keys: keys, runMode: runMode)
    if runMode == .dryRun { return workspace }
    try folder.begin(platform.files)
    try keys.generate(name: name)
    // This file is written last, because it makes the folder a workspace.
    try platform.files.replace(folder.configuration, mode: 0o644, contents: configuration.bytes)
    try folder.finish(platform.files)
    return workspace
  }

  private static func waiting(
    _ folder: WorkspaceFolder, dataset: String, name: String, database: String, _ platform: Platform, _ runMode: RunMode
  ) throws -> DeviceWorkspace? {
    guard try platform.files.kind(folder.configuration) != nil,
      let known = try? open(folder.root, platform: platform, runMode: runMode),
      known.configuration.dataset == dataset, known.configuration.name == name,
      known.configuration.database == database,
      try known.isInitial()
    else { return nil }
    if runMode == .commit {
      try folder.finish(platform.files)
      // Removes the remains of an enrolment request that was not completely written.
      try folder.sweep(platform.files)
    }
    return known
  }

  /// Writes the file that asks a hub to enrol this device. Returns the key whose fingerprint both sides compare.
  public func writeRequest(to path: String) throws -> PublicKey {
    let key = try keys.signing()
    guard let incarnation = configuration.incarnation else {
      throw WorkspaceError(.badWorkspace, "satchel.json has no incarnation.")
    }
    let now = platform.clock.milliseconds()
    var manifest = Manifest(
      bundle: BundleID(random: platform.random.bytes(16)), dataset: configuration.dataset, version: 1,
      from: .init(id: configuration.id, name: configuration.name),
      to: .unknownHub, user: "",
      created: UTCTime.text(milliseconds: now), stamp: Stamp(milliseconds: now),
      body: .enrolment(.init(incarnation: incarnation, key: key.publicKey, continues: try continuation())))
    manifest.recipient = try keys.recipient()
    var draft = try BundleDraft(in: folder.outbox, platform: platform)
    let sealed = try draft.seal(manifest, with: key)
    try platform.files.deliver(draft.write(sealed), to: path, mode: 0o644)
    return key.publicKey
  }

  /// Runs `body` while no other command works on this workspace. Throws if the database is on a tablet.
  func locked<T>(_ body: () throws -> T) throws -> T {
    // The dock command holds the lock during all its work on the copy.
    if docking != nil { return try body() }
    if let name = configuration.docks { throw WorkspaceError.away(name) }
    return try lockedWithoutDatabase(body)
  }

  /// Runs `body` as `locked` does, even if the database is on a tablet. `body` must not use the database.
  func lockedWithoutDatabase<T>(_ body: () throws -> T) throws -> T {
    try folder.locked(platform, runMode) {
      if runMode == .commit {
        try platform.files.syncCommits(of: databasePath)
        try keys.completeRotation()
        try completeRenewal()
        try completeChangeOfHub()
        try folder.finish(platform.files)
      }
      return try body()
    }
  }
}

/// An open device database. A session exists for one command.
final class DeviceSession {
  let workspace: DeviceWorkspace
  let database: Database
  private(set) var dataset: DatasetDefinition
  /// The tables of the dataset that can be kept in step. If nothing is damaged, these are all tables of the dataset.
  private(set) var tables: [TrackedTable]
  /// Damage to capture. Capture may have missed changes because of this damage.
  let damage: [CaptureDamage]
  var state: DeviceState
  /// How to handle exports that a restored hub lacks.
  var lost = LostExports.deliveredAgain
  /// Whether archived bundles are imported again to rebuild a database. The changes of primary
  /// keys in these bundles have already been made.
  var isRebuilt = false
  /// The keys that verify archived bundles from the hub in a rebuild; nil: the keys of the hub in `keys/`.
  var archiveKeys: [PublicKey]?
  /// Whether a person compared the fingerprint of the key that signed the imported bundle.
  var isHubConfirmed = false
  /// The place from which the imported bundle comes.
  var source = BundleSource.named
  /// The device's health for the next export; nil: not known.
  var health: Manifest.Changes.Health?
  /// How this command handles migrations in a bundle.
  var migrations = BroughtMigrations.run
  /// How this command handles a bundle that removes very many rows.
  var removals = BroughtRemovals.withinLimits

  var platform: Platform { workspace.platform }
  var folder: WorkspaceFolder { workspace.folder }
  var hub: Manifest.Party { .init(id: state.hubID, name: state.hubName) }

  convenience init(_ workspace: DeviceWorkspace) throws {
    try self.init(workspace, Database(path: workspace.databasePath, mode: .readWrite))
  }

  /// - Parameter database: a connection to the workspace's database.
  init(_ workspace: DeviceWorkspace, _ database: consuming Database) throws {
    try database.prepareForCommand()
    guard try database.hasTable("satchel_device"), let state = try DeviceState.load(from: database) else {
      if try !workspace.hasHistory() { throw DeviceWorkspace.noData }
      throw WorkspaceError(
        .notCaptured,
        "The database \(workspace.databasePath) was not set up by Satchel: its satchel_ tables are missing.",
        hint: "Put the right file back; or, to continue with this one, run satchel doctor.")
    }
    if [workspace.configuration.continues, workspace.configuration.leaves].contains(state.id) {
      throw WorkspaceError.renewing
    }
    guard state.id == workspace.configuration.id else {
      throw WorkspaceError(
        .otherDevice,
        """
        The database \(workspace.databasePath) belongs to the device \(state.name), this workspace to \
        \(workspace.configuration.name).
        """,
        hint: "Put each database back into its own workspace.")
    }
    try OwnTables(madeBy: DeviceSchema.all + [SchemaUpgrade.schema]).check(
      in: database, at: workspace.databasePath,
      hint:
        """
        Put the right file back. If there is none, keep this one aside and import a full bundle: satchel-hub emit \
        --device \(state.name) --full. Your exports are in bundles/.
        """
    )
    dataset = try DatasetDefinition(json: state.definition)
    let found = try CapturedTables(of: dataset, in: database)
    (tables, damage) = (found.tables, found.damage)
    try RowTable.prepareLocalKeys(of: tables, in: database)
    self.workspace = workspace
    self.state = state
    self.database = database
  }

  /// Creates a session on a database that is about to become this device's database. The database has no record of this
  /// device yet.
  init(
    _ workspace: DeviceWorkspace, beginning database: consuming Database, _ state: DeviceState, _ tables: [TrackedTable]
  )
    throws
  {
    dataset = try DatasetDefinition(json: state.definition)
    damage = []
    try RowTable.prepareLocalKeys(of: tables, in: database)
    self.tables = tables
    self.workspace = workspace
    self.state = state
    self.database = database
  }

  /// The parts of this session that an import changes. If the import's transaction is rolled back, the caller sets them
  /// back.
  var progress: (state: DeviceState, dataset: DatasetDefinition, tables: [TrackedTable]) {
    get { (state, dataset, tables) }
    set { (state, dataset, tables) = newValue }
  }

  /// Continues with the tables of another dataset version. The caller's transaction has created these tables.
  func go(to definition: DatasetDefinition, _ tables: [TrackedTable]) {
    dataset = definition
    self.tables = tables
  }

  func table(_ name: Name) -> TrackedTable? { tables.first { $0.name == name } }

  var archive: BundleArchive { BundleArchive(folder, platform.files) }
  /// The prefixes of file names: `outgoingPrefix` is for this device's exports, `incomingPrefix` for bundles from its
  /// hub.
  var outgoingPrefix: String { Manifest.namePrefix(dataset: dataset.name, from: state.name, to: state.hubName) }
  var incomingPrefix: String { Manifest.namePrefix(dataset: dataset.name, from: state.hubName, to: state.name) }

  /// The hub as the sender of volumes.
  var partsSender: PartsSender {
    PartsSender(state.hubID, named: [state.hubName], dataset: dataset.name, to: state.name)
  }

  /// The highest export number among the files, if this database has no record of that export; nil: there is such a
  /// record.
  func unknownExport() throws -> SequenceNumber? {
    let highest = SequenceNumber(try archive.highestOutgoing(outgoingPrefix))
    return highest > state.sequence ? highest : nil
  }

  /// Returns this session. Throws if capture may have missed writes, or if an older copy replaced the database.
  func refusingDamage() throws -> DeviceSession {
    if let damage = damage.first { throw WorkspaceError.damaged(damage, tool: "satchel") }
    try refuseOldCopy()
    return self
  }

  /// Throws if an older copy replaced the database. The copy's next export would reuse the number of another export.
  private func refuseOldCopy() throws {
    guard let highest = try unknownExport() else { return }
    throw WorkspaceError(
      .olderDatabase,
      """
      The database \(workspace.databasePath) has made \(state.sequence) exports, and this workspace holds export \
      \(highest): the database was replaced by an older copy.
      """,
      hint:
        """
        Put the newer database back if there is one. If not: satchel doctor --repair brings this one to where the \
        newer one was, as far as its exports tell.
        """
    )
  }
}
