import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelDataset
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The hub's workspace: the authority that holds all rows, the users, the scopes, the conflicts and the history.
public struct HubWorkspace: Sendable {
  public let folder: WorkspaceFolder
  public let configuration: WorkspaceConfiguration
  public let keys: WorkspaceKeys
  let platform: Platform
  /// The limits for the held changes of one device.
  var heldLimit = HeldLimit()
  /// The number of other files from one device that the hub keeps beside one file name.
  var mostBeside = 100
  /// The most emissions of the lost time that one bundle names.
  var mostBrought = Manifest.Changes.mostBrought
  /// The limit for the changes of one row in a bundle. A bundle is never refused for a row with at most this number.
  var mostSteps = StepLimit.usual
  /// The memory in bytes that one bundle may need: for its waiting changes, and for new rows that may get other keys.
  var mostMemory = StepMemory.usual
  /// With `dryRun`, commands report what they would do, and change nothing.
  let runMode: RunMode
  /// The act of an operator that the next transaction records. nil if there is none.
  var pending: PendingAct?

  /// The user name of changes that were made at the hub itself.
  static let hubUser = "hub"

  var databasePath: String { configuration.databasePath(folder) }

  /// Opens the workspace in `root`. Throws a `WorkspaceError` if there is none.
  ///
  /// - Parameter passwords: the source of the password, if the workspace's keys have one.
  public static func open(
    _ root: String, platform: Platform, runMode: RunMode = .commit, passwords: any PasswordSource = NoPassword()
  ) throws -> HubWorkspace {
    let folder = WorkspaceFolder(root)
    let configuration = try WorkspaceConfiguration.load(folder, role: .hub, files: platform.files)
    let platform = try folder.guarded(platform, database: configuration.databasePath(folder), runMode)
    return HubWorkspace(
      folder: folder, configuration: configuration,
      keys: WorkspaceKeys(folder, of: .hub, platform: platform, passwords: passwords),
      platform: platform, runMode: runMode)
  }

  /// Makes `root` the hub's workspace for an existing database. The database stays in its place. It gets the triggers
  /// of capture and the hub's tables.
  ///
  /// Throws a `DatasetError` if definition and database do not fit, and leaves both as they were.
  /// - Parameter defaults: the rules that apply where the definition has none. They are added to the definition.
  public static func create(
    _ root: String, definition source: [UInt8], database: String, name: String = "hub",
    defaults: InitCheck.Defaults = .asWritten, platform: Platform, runMode: RunMode = .commit
  ) throws -> HubWorkspace {
    let files = platform.files
    let folder = WorkspaceFolder(root)
    guard isSafeName(name) else {
      throw WorkspaceError(.badName, "\"\(name)\" cannot be the name of a hub.", hint: safeNameHint)
    }
    if let known = try committed(folder, platform, runMode) { return known }
    try folder.checkVacant(files, runMode)
    let definition = try DatasetDefinition(json: source)
    guard try files.kind(database) == .file else {
      throw WorkspaceError(
        .noDatabase, "There is no database \(database).", hint: "Name the SQLite file that your app writes.")
    }
    let here = try files.currentDirectory()
    let isInside =
      Paths.absolute(Paths.parent(of: database), currentDirectory: here) == Paths.absolute(root, currentDirectory: here)
    let configuration = WorkspaceConfiguration(
      role: .hub, dataset: definition.name, id: platform.random.identifier(), name: name,
      database: isInside ? Paths.name(of: database) : Paths.absolute(database, currentDirectory: here), incarnation: nil
    )
    let guarded = try folder.guarded(platform, database: database, runMode)
    let workspace = HubWorkspace(
      folder: folder, configuration: configuration, keys: WorkspaceKeys(folder, of: .hub, platform: guarded),
      platform: guarded,
      runMode: runMode)
    let check = InitCheck(definition, database: database, defaults: defaults)
    let tables = try check.tables()
    if runMode == .dryRun { return workspace }
    do { try workspace.build(check.completed(), tables, in: database) } catch {
      try folder.undoCreation(files)
      throw error
    }
    return workspace
  }

  /// The workspace, if its creation was interrupted after the commit: then the database has the hub's tables already.
  /// Otherwise nil.
  private static func committed(_ folder: WorkspaceFolder, _ platform: Platform, _ runMode: RunMode) throws
    -> HubWorkspace?
  {
    guard try folder.isUnfinished(platform.files), try platform.files.kind(folder.configuration) != nil else {
      return nil
    }
    let known = try open(folder.root, platform: platform, runMode: runMode)
    guard try Database(path: known.databasePath, mode: .readWrite).hasTable("satchel_hub"),
      try known.examined().identity.id == known.configuration.id
    else { return nil }
    return known
  }

  /// Checks that the definition's rules can be evaluated over these tables, and that all rows can be kept in step.
  /// Throws a `DatasetError` that says where the fault is.
  /// - Parameter former: the tables of the former dataset version. A hub from release 0.1 may have a `sum` policy on a
  ///   column of texts. If `former` has this column too, the column is accepted.
  static func check(
    _ tables: [TrackedTable], of definition: DatasetDefinition, after former: [TrackedTable] = [],
    in database: borrowing Database
  ) throws {
    try ScopeRules(dataset: definition, tables: tables).check(in: database)
    for table in tables {
      let count = try table.namelessRows(in: database)
      if count > 0 {
        throw DatasetError(
          "tables.\(table.name)",
          "\(count) of its rows have NULL in their key, so two databases cannot name them alike",
          hint: "Give them keys, or delete them.")
      }
      let known = former.first { $0.name == table.name }?.countersOfTexts ?? []
      guard let column = table.countersOfTexts.first(where: { !known.contains($0) }) else { continue }
      throw DatasetError(
        "tables.\(table.name).columns.\(column)", "a sum needs numbers, and this column holds texts",
        hint: "Use another policy, or give the column a type for numbers.")
    }
  }

  private func build(_ definition: DatasetDefinition, _ tables: [TrackedTable], in path: String) throws {
    let database = try Database(path: path, mode: .readWrite)
    try folder.begin(platform.files)
    try keys.generate(name: configuration.name)
    let identity = HubStore.Identity(
      id: configuration.id, name: configuration.name, epoch: platform.random.identifier())
    try database.writeTransaction {
      try HubStore.install(
        in: database, identity: identity, definition: definition, tables: tables, at: platform.clock.milliseconds())
      try HubStore.giveFirstBlocks(tables, to: identity.id, in: database)
      try writeBase(database, tables, definition, epoch: identity.epoch, cursor: .zero)
      // The configuration is written before the commit. If the write came after the commit and failed, `create` could
      // not use the database again.
      try platform.files.replace(folder.configuration, mode: 0o644, contents: configuration.bytes)
    }
    try folder.finish(platform.files)
  }

  /// Opens the database. Throws if damage may have hidden changes from capture, because later work would overwrite
  /// these changes.
  func store() throws -> HubStore {
    let store = try examined()
    if let error = WorkspaceError.damagedHub(store.damage) { throw error }
    return store
  }

  /// Opens the database for long work, during which other writers must wait. Before that, it records in the log what
  /// they have written so far.
  func storeForLongWork() throws -> HubStore {
    let store = try store()
    if runMode == .commit { try store.absorbAhead(user: Self.hubUser, clock: platform.clock) }
    return store
  }

  /// Opens the database for inspection or repair, even if capture is damaged.
  func examined() throws -> HubStore {
    guard try platform.files.kind(databasePath) == .file else {
      throw WorkspaceError(
        .noDatabase, "The hub's database \(databasePath) is missing.", hint: "Bring it back from a backup.")
    }
    if try folder.isUnfinished(platform.files) {
      guard try Database(path: databasePath, mode: .readWrite).hasTable("satchel_hub") else {
        throw WorkspaceError(
          .unfinished, "The creation of this hub was interrupted.",
          hint: "Repeat the same command: satchel-hub init")
      }
      // The command that created the hub was stopped before this last step.
      if runMode == .commit { try folder.finish(platform.files) }
    }
    return try HubStore(path: databasePath, clock: platform.clock)
  }

  /// Runs `body` while no other Satchel command works on this workspace.
  func locked<T>(_ body: () throws -> T) throws -> T {
    try folder.locked(platform, runMode) {
      if runMode == .commit {
        try platform.files.syncCommits(of: databasePath)
        try keys.completeRotation()
        try settleArchive()
      }
      return try body()
    }
  }

  /// Runs `body` in one transaction. At its start, all local writes at the hub enter the log.
  func changing<T>(_ body: (HubStore) throws -> T) throws -> T {
    try locked {
      let store = try store()
      return try recordingAct(store) { act in
        try store.writeTransaction(runMode) {
          try store.logLocalWrites(user: Self.hubUser, at: platform.clock.milliseconds())
          let result = try body(store)
          try store.add(act)
          return result
        }
      }
    }
  }

  /// Runs `body` in one transaction, like `changing`. But this `body` may write rows of the dataset, and no trigger
  /// captures them. So `body` itself must log them. At the end, stored files get the names that the written rows use.
  func applying<T>(_ body: (HubStore) throws -> T) throws -> T {
    try locked {
      let store = try store()
      return try recordingAct(store) { act in
        try store.applyTransaction(runMode) {
          try store.logLocalWrites(user: Self.hubUser, at: platform.clock.milliseconds())
          let result = try body(store)
          try settleNames(.all, store)
          try store.add(act)
          return result
        }
      }
    }
  }
}
