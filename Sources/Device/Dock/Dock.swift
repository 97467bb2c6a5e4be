import SatchelBundle
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// How to treat a tablet without the database of this device.
public enum MissingTabletDatabase: Sendable {
  /// The dock does nothing, because the folder may be a wrong folder.
  case refused
  /// The tablet was lost or reset. The dock builds the database from bundles and exports, as far as they reach.
  case rebuilt
}

/// The result of a dock.
public struct DockReport<Work> {
  /// The result of the work on the copy of the database.
  public let work: Work
  /// The path of the database on the tablet.
  public let database: String
  /// Whether the tablet got another database file. False: the work changed nothing, or this was a dry run.
  public let isPut: Bool
  /// Whether the tablet got a database of this device for the first time.
  public let isFirst: Bool
}

extension DeviceWorkspace {
  /// Copies this device's database from a tablet, runs `work` on the copy, and puts the copy back on the tablet.
  ///
  /// Throws a `WorkspaceError` with the reason `written-meanwhile` if the app wrote to the tablet's database meanwhile.
  /// In that case, the tablet's database stays as it is, and no export of the copy leaves this machine. The next dock
  /// continues from the tablet's file.
  /// - Parameters:
  ///   - folder: the tablet's folder with the database.
  ///   - name: the database's name in the folder. The first dock of a device needs it; nil: the known name.
  ///   - missing: how to treat a tablet without the database.
  ///   - work: imports and exports with the workspace that it receives. The database of that workspace is the copy.
  public func dock<Work>(
    _ folder: String, database name: String?, missing: MissingTabletDatabase = .refused,
    _ work: (DeviceWorkspace) throws -> Work
  ) throws -> DockReport<Work> {
    let name = try tabletName(name)
    return try lockedWithoutDatabase {
      try platform.files.makeDirectory(self.folder.dock, mode: 0o700)
      // A command that was killed may have left its copy.
      for name in try platform.files.list(self.folder.dock) where name != HeldExports.name {
        try platform.files.removeTree(Paths.join(self.folder.dock, name))
      }
      let staging = try StagingFolder(in: self.folder.dock, platform: platform)
      let copy = Docking(database: staging.file("copy.sqlite"), in: staging.path)
      let tablet = TabletDatabase(name, in: folder, platform.files)
      let dock = Dock(workspace: self, tablet: tablet, copy: copy, missing: missing)
      return try dock.run(name, work)
    }
  }

  private func tabletName(_ given: String?) throws -> String {
    let known = configuration.docks
    guard let name = given ?? known else {
      throw WorkspaceError(
        .nameNeeded, "This device has not been docked yet, so the name of its database on the tablet is not known.",
        hint: "Name the file that the app on the tablet opens: satchel dock FOLDER --database survey.gpkg")
    }
    // Before the first dock has ended, the recorded name may be a mistake.
    if let known, known != name, try !configuration.joins && platform.files.kind(databaseAtHome) == nil {
      throw WorkspaceError(
        .badName, "The database of this device has the name \(known) on its tablet.",
        hint: "Dock without --database. For another tablet, use the workspace of that tablet.")
    }
    if name.isEmpty || name.hasPrefix(".") || name.contains("/") {
      throw WorkspaceError(
        .badName, "\"\(name)\" cannot be the name of a database on a tablet.",
        hint: "Give the file's name alone, and its folder as FOLDER.")
    }
    return name
  }

  /// The path of a database that was provisioned on this machine, before it goes to the tablet.
  fileprivate var databaseAtHome: String { configuration.databasePath(folder) }

  /// Throws if the present database of this device cannot be used.
  public func checkDatabase() throws {
    try checkAfterLeaving()
    if try !isInitial() || hasBundles() { _ = try session() }
  }

  private func hasBundles() throws -> Bool {
    try !configuration.joins && hasHistory()
  }
}

/// One run of `dock`. It finds out whether the tablet or the workspace has the database, and works on a copy.
private struct Dock {
  let workspace: DeviceWorkspace
  let tablet: TabletDatabase
  let copy: Docking
  let missing: MissingTabletDatabase

  private var files: any FileSystem { workspace.platform.files }
  private var runMode: RunMode { workspace.runMode }
  /// The path of a database that was provisioned on this machine, before it goes to the tablet.
  private var ownDatabase: String { workspace.databaseAtHome }
  private var heldExports: HeldExports { HeldExports(workspace) }

  func run<Work>(_ name: String, _ work: (DeviceWorkspace) throws -> Work) throws -> DockReport<Work> {
    if try files.resolved(tablet.path) == files.resolved(ownDatabase) {
      throw WorkspaceError(
        .insideWorkspace, "\(tablet.path) is the place of a database in this workspace.",
        hint: "Name the folder of the app's database on the tablet.")
    }
    let taken = try tablet.isThere() ? take() : nil
    if taken != nil { try refuseStranger() }
    try finishFormerDock(isTaken: taken != nil)
    let held = try begin(name, isTaken: taken != nil)
    let result = try work(held)
    let isPut = try runMode == .commit && put(held, over: taken)
    return DockReport(work: result, database: tablet.path, isPut: isPut, isFirst: wasInitial)
  }

  /// Puts the copy on the tablet. After that, the exports may leave this machine. If this command is killed, the next
  /// dock completes its work.
  private func put(_ held: DeviceWorkspace, over taken: TabletDatabase.Taken?) throws -> Bool {
    try TabletDatabase.settle(copy.database, files)
    try heldExports.keep(copy)
    let isPut: Bool
    do {
      try recordName(held)
      isPut = try tablet.put(copy.database, over: taken)
    } catch {
      // If the tablet does not have the copy, this dock changed nothing, so its exports are dropped.
      if try !tablet.has(copy.database) {
        try heldExports.remove()
        try forgetName()
      }
      throw error
    }
    try held.completeDocking()
    try removeOwnDatabase()
    try heldExports.remove()
    return isPut
  }

  /// Settles the exports of an earlier dock that was interrupted.
  private func finishFormerDock(isTaken: Bool) throws {
    if runMode == .dryRun { return }
    if !isTaken, missing == .refused, try heldExports.isAny() { throw Self.missing(tablet) }
    try heldExports.settle(isTaken ? copy.database : nil)
  }

  private var wasInitial: Bool { workspace.configuration.docks == nil || workspace.configuration.joins }

  private func take() throws -> TabletDatabase.Taken {
    if try workspace.configuration.docks == nil && files.kind(ownDatabase) != nil {
      throw WorkspaceError(
        .exists, "\(tablet.path) is there already, and this workspace has a database of its own.",
        hint:
          """
          To give this device's database to the tablet, first move \(tablet.path) away. To join a tablet that has \
          rows, make a workspace without a database: satchel init
          """)
    }
    do {
      let taken = try tablet.take(to: copy.database)
      if let fault = try Database(path: copy.database, mode: .readWrite).brokenPage() { throw damaged(fault) }
      return taken
    } catch let error as SQLiteError where error.isDamage {
      throw damaged(error.message)
    }
  }

  /// The error for a damaged database on the tablet. A repair is not possible here, because only this file has some
  /// changes.
  private func damaged(_ fault: String) -> WorkspaceError {
    WorkspaceError(
      .corrupt, "The database \(tablet.path) is damaged (\(fault)). Nothing was changed.",
      hint:
        """
        Copy it to a safe place and keep it. Then delete it on the tablet, and run this command again with --rebuild. \
        That builds the database from bundles and exports, without the changes since the last dock. For these changes, \
        sqlite3 can often read most of the copy (.dump, or .recover if your sqlite3 has it).
        """)
  }

  /// Prepares the workspace that works on the copy.
  private func begin(_ name: String, isTaken: Bool) throws -> DeviceWorkspace {
    let isNew = workspace.configuration.docks == nil
    if !isTaken, try files.kind(ownDatabase) == .file {
      try takeOwnDatabase()
      return held(named: name, joins: workspace.configuration.joins)
    }
    // Without this mark, a database without tables of Satchel would look like a replacement by another program.
    let joins = isNew || workspace.configuration.joins
    let held = held(named: name, joins: joins)
    if !isTaken, missing == .refused { throw try joins ? nothingToJoin() : Self.missing(tablet) }
    if joins {
      if try held.isInitial() && workspace.staged().isEmpty { throw Self.noBundle }
      return held
    }
    if isTaken { return held }
    if runMode == .commit, try held.rebuild(.deliveredAgain) == nil {
      throw WorkspaceError(
        .noHistory, "The database cannot be built: bundles are missing in bundles/archive.",
        hint: "Bring the missing bundles back into bundles/archive, from a backup of this workspace.")
    }
    return held
  }

  private func held(named name: String, joins: Bool) -> DeviceWorkspace {
    var held = DeviceWorkspace(
      folder: workspace.folder, configuration: workspace.configuration.docking(name, joins: joins),
      platform: workspace.platform, keys: workspace.keys, runMode: runMode)
    held.docking = copy
    return held
  }

  /// Records that the database is on the tablet. After that, commands on this machine use no other database.
  private func recordName(_ held: DeviceWorkspace) throws {
    if workspace.configuration.docks == held.configuration.docks { return }
    try files.replace(workspace.folder.configuration, mode: 0o644, contents: held.configuration.bytes)
  }

  /// Undoes `recordName`.
  private func forgetName() throws {
    let former = workspace.configuration
    guard try WorkspaceConfiguration.load(workspace.folder, role: .device, files: files).docks != former.docks else {
      return
    }
    try files.replace(workspace.folder.configuration, mode: 0o644, contents: former.bytes)
  }

  private func takeOwnDatabase() throws {
    if workspace.configuration.database.hasPrefix("/") {
      throw WorkspaceError(
        .exists, "The database of this device is \(ownDatabase), which an app on this machine uses.",
        hint: "Close that app, move the file to the tablet as \(tablet.path), and run the command again.")
    }
    let database = try Database(path: ownDatabase, mode: .readWrite)
    try database.emptyLog()
    try files.copy(ownDatabase, to: copy.database, mode: 0o600)
  }

  private func removeOwnDatabase() throws {
    for suffix in ["-wal", "-shm", "-journal", ""] { try files.removeIfThere(ownDatabase + suffix) }
  }

  /// Throws if the tablet's database belongs to another device.
  private func refuseStranger() throws {
    let database = try Database(path: copy.database, mode: .readWrite)
    let own = workspace.configuration
    guard try database.hasTable("satchel_device"), let state = try DeviceState.load(from: database), state.id != own.id
    else { return }
    throw WorkspaceError(
      .otherDevice, "\(tablet.path) belongs to the device \(state.name), and this is the workspace of \(own.name).",
      hint: "Use the workspace of \(state.name): satchel -C DIR dock FOLDER")
  }

  private static let noBundle = WorkspaceError(
    .initial, "No bundle from the hub has come for this device yet.",
    hint:
      """
      Add --stick with the folder of the stick that has it, or first run satchel import --stage FILE. The hub's \
      operator makes it: satchel-hub emit
      """)

  private func nothingToJoin() throws -> WorkspaceError {
    let others = try tablet.databasesBeside()
    let seen = others.isEmpty ? "" : " The folder has: \(others.joined(separator: ", "))."
    return WorkspaceError(
      .noDatabase, "There is no \(tablet.path).\(seen)",
      hint:
        """
        Name the database that the app made: --database NAME. If the tablet is to get a new database with the hub's \
        rows, add --rebuild.
        """)
  }

  private static func missing(_ tablet: TabletDatabase) -> WorkspaceError {
    WorkspaceError(
      .noDatabase, "There is no \(tablet.path).",
      hint:
        """
        Is it the folder with the app's database, and is the tablet unlocked? If the tablet was lost or reset: add \
        --rebuild. It builds the database from bundles and exports, as far as they reach.
        """)
  }
}
