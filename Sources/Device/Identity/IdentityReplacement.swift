import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A device takes a new identity: another id, name and key. A copy of the device keeps the old identity, or the old key
/// is no longer trusted.
///
/// The device's rows stay, and so do all changes that the hub is not known to have: pre-images, conflicts, decisions.
/// The changes keep their generations, and the exports keep their numbers. The request names these exports, so the hub
/// can find the last of them that it merged.
///
/// The change is made when `satchel.json` holds the new identity. If this command is killed after that, the next
/// command completes the rest.
extension DeviceWorkspace {
  /// Gives the workspace a new identity. If the workspace already has a new identity that the hub has not answered,
  /// that identity stays.
  ///
  /// Throws a `WorkspaceError` if there is no database to continue with, or if capture may have missed changes.
  /// - Parameter name: a name that no device has at the hub; nil: only write the request again.
  public func renew(name: String?) throws -> DeviceWorkspace {
    try locked {
      try requireDatabase(
        "If neither is possible, keep this folder, because its bundles hold your work. Ask the hub for a new device.")
      _ = try session()
      if configuration.continues != nil {
        if let name, Name(name) != Name(configuration.name) {
          throw WorkspaceError(
            .renewed, "This device has already asked to continue as \(configuration.name).",
            hint:
              """
              Leave --name out to write the request again. At the hub it may get another name: satchel-hub device \
              enrol --name
              """
          )
        }
        return self
      }
      return try begin(as: newName(name))
    }
  }

  /// Throws a `WorkspaceError` if the database is lost. A new identity continues the work in the database.
  /// - Parameter other: a text that says what to do if no bundle can build the database again.
  func requireDatabase(_ other: String) throws {
    guard case .lost(let words) = try databaseCondition() else { return }
    throw WorkspaceError(
      .databaseLost, "\(words) A new identity continues the work in the database, so the database comes first.",
      hint: """
        Build it again: satchel doctor --repair, or import a full bundle (satchel-hub emit --device \
        \(configuration.name) --full). Then run this command again. \(other)
        """)
  }

  private func newName(_ name: String?) throws -> String {
    if try keys.areDiscarded() {
      throw WorkspaceError(
        .noKey, "This device has no key of its own: it delivers nothing, so a copy of it needs no new name.")
    }
    guard let name else {
      throw WorkspaceError(
        .nameNeeded, "A new name is needed: another copy has the old one.", hint: "Add: --name NEW-NAME")
    }
    guard isSafeName(name), Name(name) != Name(configuration.name) else {
      throw WorkspaceError(.badName, "\"\(name)\" cannot be the new name of this device.", hint: safeNameHint)
    }
    return name
  }

  private func begin(as name: String) throws -> DeviceWorkspace {
    if let sealed = try session().sealedChanges().first {
      throw WorkspaceError(
        .sealed, "The work of \(sealed.user) is on its way to the hub under this device's present name.",
        hint: "First carry it there, and bring the hub's answer back: \(sealed.file)")
    }
    if runMode == .dryRun { return self }
    try keys.dropNext()
    let key = try keys.beginRotation(name: name)
    let id: ReplicaID = platform.random.identifier()
    let renewed = DeviceWorkspace(
      folder: folder,
      configuration: WorkspaceConfiguration(
        role: .device, dataset: configuration.dataset, id: id, name: name, database: configuration.database,
        incarnation: platform.random.identifier(), continues: configuration.id, proof: try proof(of: id, key)),
      platform: platform, keys: keys, runMode: runMode)
    try platform.files.replace(folder.configuration, mode: 0o644, contents: renewed.configuration.bytes)
    try renewed.completeRenewal()
    return renewed
  }

  /// The signature, with the present key, that links this device to its new id; nil: the secret key is lost.
  private func proof(of id: ReplicaID, _ key: PublicKey) throws -> String? {
    guard try keys.canSign() else { return nil }
    let statement = KeyStatement.continuation(
      dataset: configuration.dataset, device: id, former: configuration.id, key: key)
    return String(decoding: try statement.signed(with: keys.signing()).fileBytes, as: UTF8.self)
  }

  /// Brings the keys, then the files, then the database to the identity in `satchel.json`.
  func completeRenewal() throws {
    guard let former = configuration.continues, let incarnation = configuration.incarnation,
      try platform.files.kind(databasePath) == .file, try DamagedDatabase.find(self) == nil
    else { return }
    let database = try Database(path: databasePath, mode: .readWrite)
    try database.prepareForCommand()
    guard try database.hasTable("satchel_device"), var state = try DeviceState.load(from: database), state.id == former
    else {
      return
    }
    try keys.finishRotation()
    try putAside(of: state, in: database)
    try database.writeTransaction {
      // No export was made yet under the new name.
      try ExportTable.markAllUnwritten(in: database)
      try ConflictTable.moveUnsent(
        from: former, to: configuration.id, sentUpTo: state.acknowledged.rawValue, in: database)
      (state.id, state.name, state.incarnation) = (configuration.id, configuration.name, incarnation)
      // A sealed export that still has its file would have stopped this command.
      (state.toldKey, state.restored, state.sealed) = (nil, nil, nil)
      try state.save(in: database)
    }
  }

  /// Moves the bundles from and for this device's former identity aside. They must not be carried any more.
  private func putAside(of state: DeviceState, in database: borrowing Database) throws {
    let files = platform.files
    let outgoing = Manifest.namePrefix(dataset: configuration.dataset, from: state.name, to: state.hubName)
    let incoming = Manifest.namePrefix(dataset: configuration.dataset, from: state.hubName, to: state.name)
    for name in try files.list(folder.outbox) where name.hasPrefix(outgoing) {
      try files.rename(Paths.join(folder.outbox, name), to: Paths.join(folder.sent, name))
    }
    let archive = BundleArchive(folder, files)
    for prefix in [outgoing, incoming] { try archive.setAside(prefix, but: nil) }
    if try files.kind(folder.staged) == .directory {
      for name in try files.list(folder.staged) { try files.removeTree(Paths.join(folder.staged, name)) }
    }
  }

  /// The part of a request that describes the former identity of this device; nil: the device had no former identity.
  func continuation() throws -> Manifest.Continuation? {
    guard let former = configuration.predecessor else { return nil }
    let session = try session()
    return .init(
      device: former, acknowledged: session.state.acknowledged, received: session.state.received,
      // The chain begins at the first export, because a hub that was set back may lack exports that it acknowledged.
      chain: try session.chain(from: .zero, before: session.state.sequence.next),
      proof: try configuration.proof.map { try Signature(fileBytes: Array($0.utf8)) })
  }

  /// Records that the hub has answered this device under its new name: from now on it is an ordinary device.
  func noteAnswer() throws {
    guard configuration.continues != nil else { return }
    try platform.files.replace(folder.configuration, mode: 0o644, contents: configuration.answered.bytes)
  }
}

extension WorkspaceError {
  static var renewing: WorkspaceError {
    WorkspaceError(
      .renewing, "This device was about to get a new name, and the command was interrupted.",
      hint: "Run it again: satchel renew --request FILE")
  }
}
