import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A device that goes on as another one, with another id, name and key: a copy of it keeps the old ones, or nobody
/// believes the old key any more.
///
/// Its rows stay, and so does all that the hub is not known to have: pre-images, conflicts, decisions. They keep their
/// generations and its exports their numbers, because the request names those exports, and the hub then knows up to
/// which of them it took this history.
///
/// `satchel.json` with the new identity is what decides: what follows from it is completed by the next command, if this
/// one was killed.
extension DeviceWorkspace {
  /// Gives the workspace a new identity. Where it has one already that the hub has not answered, that one stays.
  ///
  /// Throws a `WorkspaceError` where there is nothing to go on with, or where what went by unseen must be seen to
  /// first.
  /// - Parameter name: by which the hub does not know any device; nil: only to ask once more.
  public func renew(name: String?) throws -> DeviceWorkspace {
    try locked {
      _ = try session()
      if configuration.continues != nil {
        if let name, Name(name) != Name(configuration.name) {
          throw WorkspaceError(
            "renewed", "This device has asked already to go on as \(configuration.name).",
            hint:
              "Leave --name out to write the request once more. At the hub it may get another name: satchel-hub device enrol --name"
          )
        }
        return self
      }
      return try begin(as: newName(name))
    }
  }

  private func newName(_ name: String?) throws -> String {
    if try keys.areDiscarded() {
      throw WorkspaceError(
        "no-key", "This device has no key of its own: it delivers nothing, and so need not be told from a copy.")
    }
    guard let name else {
      throw WorkspaceError(
        "name-needed", "A new name is needed: the old one is another copy's.", hint: "Add: --name NEW-NAME")
    }
    guard isSafeName(name), Name(name) != Name(configuration.name) else {
      throw WorkspaceError("bad-name", "\"\(name)\" cannot be the new name of this device.", hint: safeNameHint)
    }
    return name
  }

  private func begin(as name: String) throws -> DeviceWorkspace {
    if let sealed = try session().sealedChanges().first {
      throw WorkspaceError(
        "sealed", "What \(sealed.user) wrote here is on its way to the hub under this device's present name.",
        hint: "First carry it there, and bring the hub's answer back: \(sealed.file)")
    }
    if ending == .takeBack { return self }
    try keys.dropNext()
    let key = try keys.beginRotation(name: name)
    let id: ReplicaID = platform.random.identifier()
    let renewed = DeviceWorkspace(
      folder: folder,
      configuration: WorkspaceConfiguration(
        role: .device, dataset: configuration.dataset, id: id, name: name, database: configuration.database,
        incarnation: platform.random.identifier(), continues: configuration.id, proof: try proof(of: id, key)),
      platform: platform, keys: keys, ending: ending)
    try platform.files.replace(folder.configuration, mode: 0o644, contents: renewed.configuration.bytes)
    try renewed.completeRenewal()
    return renewed
  }

  /// The signature by which this device's present key says that it goes on under another id; nil: its secret half is
  /// lost.
  private func proof(of id: ReplicaID, _ key: PublicKey) throws -> String? {
    guard try keys.canSign() else { return nil }
    let statement = KeyStatement.continuation(
      dataset: configuration.dataset, device: id, former: configuration.id, key: key)
    return String(decoding: try statement.signed(with: keys.signing()).fileBytes, as: UTF8.self)
  }

  /// Brings keys, files and at last the database to the identity that `satchel.json` names.
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
      // Under the new name nothing was exported yet.
      try database.run("UPDATE satchel_exports SET written = 0")
      try database.run(
        "UPDATE satchel_conflicts SET device = :new, told = NULL WHERE device = :former AND (told IS NULL OR told > :acknowledged)",
        [
          "new": .string(configuration.id.text), "former": .string(former.text),
          "acknowledged": .integer(state.acknowledged.rawValue),
        ])
      (state.id, state.name, state.incarnation) = (configuration.id, configuration.name, incarnation)
      (state.toldKey, state.restored) = (nil, nil)
      try state.save(in: database)
    }
  }

  /// Bundles from and for the device that this one was: nobody is to carry them any more, and nothing is to be told
  /// from them.
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

  /// What a request says of the device that this one was; nil: it was none.
  func continuation() throws -> Manifest.Continuation? {
    guard let former = configuration.predecessor else { return nil }
    let session = try session()
    return .init(
      device: former, acknowledged: session.state.acknowledged, received: session.state.received,
      // A hub that was put back knows less than it acknowledged.
      chain: try session.chain(from: .zero, before: session.state.sequence.next),
      proof: try configuration.proof.map { try Signature(fileBytes: Array($0.utf8)) })
  }

  /// The hub has answered this device under its new name: it is a device as any other.
  func noteAnswer() throws {
    guard configuration.continues != nil else { return }
    try platform.files.replace(folder.configuration, mode: 0o644, contents: configuration.answered.bytes)
  }
}

extension WorkspaceError {
  static var renewing: WorkspaceError {
    WorkspaceError(
      "renewing", "This device was about to go on under a new name, and the command that saw to it was interrupted.",
      hint: "Give it once more: satchel renew --request FILE")
  }
}
