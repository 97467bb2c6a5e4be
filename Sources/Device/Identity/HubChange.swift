import SatchelBundle
import SatchelCapture
import SatchelDataset
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A device leaves its lost hub and asks another hub to enrol it.
///
/// The device gets a new id, a new key and a new ledger. Its rows stay, and capture continues. The first bundle from
/// the next hub joins the rows of both sides, as for any database with its own rows (`Joining.swift`). Undecided
/// conflicts and the work of former users go to the next hub too (`LeftConflicts.swift`, `LeftExports.swift`). The
/// decided conflicts, the ledger and the other exports of the lost hub stay only in `bundles/archive/former`.
///
/// The change is made when `satchel.json` holds the new identity. If this command is killed after that, the next
/// command completes the rest.
extension DeviceWorkspace {
  /// The result of leaving a hub.
  public struct Departure: Sendable {
    public let workspace: DeviceWorkspace
    /// The path of a copy of the old database; nil: the device left the hub before, and only the request is written
    /// again.
    public let copy: String?
  }

  /// Leaves the hub. If the device left the hub before, and the next hub has not answered, nothing changes.
  ///
  /// Throws a `WorkspaceError` if there is no database to continue with, or if capture may have missed changes.
  /// - Parameter name: the name at the next hub; nil: the present name.
  public func leaveHub(name: String?) throws -> Departure {
    try locked {
      if configuration.leaves != nil {
        guard let name, Name(name) != Name(configuration.name) else { return Departure(workspace: self, copy: nil) }
        throw WorkspaceError(
          .renewed, "This device has left its hub already, to continue as \(configuration.name).",
          hint:
            """
            Leave --name out to write the request again. At the hub it may get another name: satchel-hub device \
            enrol --name
            """
        )
      }
      try requireDatabase(
        """
        If neither is possible, no rows are left to bring to another hub. Keep this folder, because its bundles hold \
        your work, and make a new device in another folder: satchel init
        """)
      let session = try session()
      if configuration.continues != nil {
        throw WorkspaceError(
          .renewed, "This device has asked its hub to continue as \(configuration.name), and has no answer.",
          hint: "If that hub is lost for good, restore the folder to its state before that, then run this command.")
      }
      if try keys.areDiscarded() {
        throw WorkspaceError(
          .noKey, "This device has no key of its own: it delivers nothing.",
          hint: "Have the next hub provision a new device.")
      }
      let name = name ?? configuration.name
      guard isSafeName(name) else {
        throw WorkspaceError(.badName, "\"\(name)\" cannot be the name of a device.", hint: safeNameHint)
      }
      return try leave(session, as: name)
    }
  }

  /// The file name of a database copy from the time when a device left its hub begins with this. The hub's name and the
  /// time follow.
  static let copyPrefix = "data-of-"

  private func leave(_ session: DeviceSession, as name: String) throws -> Departure {
    let time = UTCTime.fileName(milliseconds: platform.clock.milliseconds())
    let copy = Paths.join(folder.former, "\(Self.copyPrefix)\(session.state.hubName)-\(time).sqlite")
    if runMode == .dryRun { return Departure(workspace: self, copy: copy) }
    try folder.keep(session.database, at: copy, platform.files)
    try keys.dropNext()
    _ = try keys.beginRotation(name: name)
    let left = WorkspaceConfiguration(
      role: .device, dataset: configuration.dataset, id: platform.random.identifier(), name: name,
      database: configuration.database, incarnation: platform.random.identifier(), joins: true, leaves: configuration.id
    )
    try platform.files.replace(folder.configuration, mode: 0o644, contents: left.bytes)
    let workspace = DeviceWorkspace(
      folder: folder, configuration: left, platform: platform, keys: keys, runMode: runMode)
    try workspace.completeChangeOfHub()
    return Departure(workspace: workspace, copy: copy)
  }

  /// Brings the keys, then the files, then the database to the state in `satchel.json`: this device has no hub.
  func completeChangeOfHub() throws {
    guard configuration.joins, try platform.files.kind(databasePath) == .file, try DamagedDatabase.find(self) == nil
    else {
      return
    }
    let database = try Database(path: databasePath, mode: .readWrite)
    try database.prepareForCommand()
    guard try database.hasTable("satchel_device"), let state = try DeviceState.load(from: database) else { return }
    if state.id == configuration.id { return try noteJoined() }
    guard state.id == configuration.leaves else { return }
    let received = try newestEmission(of: state)
    try keys.finishRotation()
    try keys.renounce(Self.hubKeyName)
    try keys.renounce(Self.nextHubKeyName)
    try putAsideAll()
    let left = try leftExports(of: state, in: database)
    let tables = try TrackedTable.findIntact(DatasetDefinition(json: state.definition), in: database)
    try database.writeTransaction {
      try Capture.settle(tables, in: database)
      for table in tables {
        try PreImageStore.joinGenerations(of: table, into: OwnRows.firstOwn, in: database)
        try PreImageStore.saveOthersAsNew(table, generation: .zero, stamp: received, in: database)
      }
      try Capture.begin(OwnRows.firstOwn, in: database)
      try LeftConflictTable.keep(of: state.user, in: database)
      try LeftExportTable.keep(left, in: database)
      for table in OwnTables(madeBy: DeviceSchema.all + [SchemaUpgrade.schema]).names {
        try database.execute("DROP TABLE IF EXISTS main.\(quoted(table))")
      }
    }
  }

  /// The time at which the lost hub made the present emission. No row from that hub is newer.
  private func newestEmission(of state: DeviceState) throws -> Stamp {
    let name =
      Manifest.namePrefix(dataset: configuration.dataset, from: state.hubName, to: state.name)
      + "\(state.received).satchel"
    let files = [folder.archive, folder.former].map { Paths.join($0, name) }
    let keys = (try? hubKeys() + self.keys.renounced(Self.hubKeyName)) ?? []
    let manifests = try files.compactMap { try reader.manifestIfSound(of: $0, trust: .keys(keys)) }
    // If the file is gone, or is now a bundle of another device, the time of the last contact counts.
    return manifests.first?.stamp ?? Stamp(milliseconds: state.heard)
  }

  /// Moves the bundles from and for this device's former identity aside. They must no longer be carried, but they are
  /// kept.
  private func putAsideAll() throws {
    let files = platform.files
    let archive = BundleArchive(folder, files)
    for place in [folder.outbox, folder.sent, folder.archive, folder.waiting, folder.staged]
    where try files.kind(place) == .directory {
      for name in try files.list(place)
      where try name.hasSuffix(".satchel") && files.kind(Paths.join(place, name)) == .file {
        try archive.setAside(Paths.join(place, name))
      }
    }
  }
}
