import SatchelBundle
import SatchelCapture
import SatchelDataset
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A device that leaves its hub, because that is lost, and asks another hub to let it in.
///
/// It gets a new id, a new key and a new life; its rows stay, and capture goes on. The first bundle of the next hub
/// brings both sides together as it does for any database with rows of its own (`Joining`). What the lost hub knew that
/// is not in rows stays in the copy of the database that is kept: decided conflicts, the ledger, the exports.
///
/// `satchel.json` with the new identity is what decides: what follows from it is completed by the next command, if this
/// one was killed.
extension DeviceWorkspace {
  /// What a device does when it leaves its hub.
  public struct Departure: Sendable {
    public let workspace: DeviceWorkspace
    /// Where the database as it was is kept; nil: the hub was left before, and the request is only written once more.
    public let copy: String?
  }

  /// Leaves the hub. If that was done before, and the next hub has not answered, nothing changes.
  ///
  /// Throws a `WorkspaceError` if there is nothing to go on with, or if what went by unseen must be seen to first.
  /// - Parameter name: at the next hub; nil: the same as before.
  public func leaveHub(name: String?) throws -> Departure {
    try locked {
      if configuration.leaves != nil {
        guard let name, Name(name) != Name(configuration.name) else { return Departure(workspace: self, copy: nil) }
        throw WorkspaceError(
          "renewed", "This device has left its hub already, to go on as \(configuration.name).",
          hint:
            "Leave --name out to write the request once more. At the hub it may get another name: satchel-hub device enrol --name"
        )
      }
      let session = try session()
      if configuration.continues != nil {
        throw WorkspaceError(
          "renewed", "This device has asked its hub to go on as \(configuration.name), and has no answer.",
          hint: "If that hub is lost for good, bring the folder back as it was before, and give this command there.")
      }
      if try keys.areDiscarded() {
        throw WorkspaceError(
          "no-key", "This device has no key of its own: it delivers nothing.",
          hint: "Have the next hub provision a new one.")
      }
      let name = name ?? configuration.name
      guard isSafeName(name) else {
        throw WorkspaceError("bad-name", "\"\(name)\" cannot be the name of a device.", hint: safeNameHint)
      }
      return try leave(session, as: name)
    }
  }

  private func leave(_ session: DeviceSession, as name: String) throws -> Departure {
    let time = UTCTime.fileName(milliseconds: platform.clock.milliseconds())
    let copy = Paths.join(folder.archive, "former/data-of-\(session.state.hubName)-\(time).sqlite")
    if ending == .takeBack { return Departure(workspace: self, copy: copy) }
    try folder.keep(session.database, at: copy, platform.files)
    try keys.dropNext()
    _ = try keys.beginRotation(name: name)
    let left = WorkspaceConfiguration(
      role: .device, dataset: configuration.dataset, id: platform.random.identifier(), name: name,
      database: configuration.database, incarnation: platform.random.identifier(), joins: true, leaves: configuration.id
    )
    try platform.files.replace(folder.configuration, mode: 0o644, contents: left.bytes)
    let workspace = DeviceWorkspace(folder: folder, configuration: left, platform: platform, keys: keys, ending: ending)
    try workspace.completeChangeOfHub()
    return Departure(workspace: workspace, copy: copy)
  }

  /// Brings keys, files and at last the database to what `satchel.json` says: no hub is known here.
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
    let tables = try TrackedTable.findIntact(DatasetDefinition(json: state.definition), in: database)
    try database.writeTransaction {
      try Capture.settle(tables, in: database)
      for table in tables {
        try PreImageStore.joinGenerations(of: table, into: OwnRows.firstOwn, in: database)
        try PreImageStore.saveOthersAsNew(table, generation: .zero, stamp: received, in: database)
      }
      try Capture.begin(OwnRows.firstOwn, in: database)
      for table in OwnTables(madeBy: DeviceSchema.all + [SchemaUpgrade.schema]).names {
        try database.execute("DROP TABLE IF EXISTS main.\(quoted(table))")
      }
    }
  }

  /// When the emission was made on which the database is: no row that the lost hub sent is newer.
  private func newestEmission(of state: DeviceState) throws -> Stamp {
    let name =
      Manifest.namePrefix(dataset: configuration.dataset, from: state.hubName, to: state.name)
      + "\(state.received).satchel"
    let files = [folder.archive, Paths.join(folder.archive, "former")].map { Paths.join($0, name) }
    let keys = (try? hubKeys() + self.keys.renounced(Self.hubKeyName)) ?? []
    let manifests = try files.compactMap { try reader.manifestIfSound(of: $0, trust: .keys(keys)) }
    // It may be the bundle of another device by now, or gone.
    return manifests.first?.stamp ?? Stamp(milliseconds: state.heard)
  }

  /// Bundles from and for the device that this one was: nobody is to carry them any more, and none is lost.
  private func putAsideAll() throws {
    let files = platform.files
    let former = Paths.join(folder.archive, "former")
    try files.makeDirectory(former, mode: 0o755)
    for place in [folder.outbox, folder.sent, folder.archive, folder.waiting, folder.staged]
    where try files.kind(place) == .directory {
      for name in try files.list(place)
      where try name.hasSuffix(".satchel") && files.kind(Paths.join(place, name)) == .file {
        try files.rename(Paths.join(place, name), to: Paths.join(former, name))
      }
    }
  }
}
