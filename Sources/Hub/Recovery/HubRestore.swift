import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The result of a restore.
public struct RestoreReport: Sendable {
  public let dataset: String
  public let name: String
  /// The time of the backup, for people.
  public let created: String
  /// The epoch that ended with the loss of the hub. `epoch` is the epoch that begins.
  public let former: Epoch
  public let epoch: Epoch
  public let cursor: Cursor
  /// The devices in the backup, each with the newest export that the hub had merged.
  public let devices: [(name: String, merged: SequenceNumber)]
  public let fingerprint: String
}

/// The source of a restored hub's keys.
public enum KeysOfRestored: Sendable {
  /// The backup contains the keys.
  case inBackup
  /// The keys are in a copy of the folder `keys` that a person kept elsewhere.
  case folder(String)
  /// The keys are lost. The hub makes new keys, and people compare the new fingerprint at each device.
  case new
}

/// Whether the hub trusts this machine's clock, even if the times in the backup contradict the clock.
public enum ClockAtRestore: Sendable {
  /// No person has checked the clock.
  case unchecked
  /// A person has checked that the clock is right. The hub uses it, whatever times the backup has.
  case right
}

/// Makes a hub's workspace from a backup.
public struct HubRestore {
  private var platform: Platform
  private let passwords: any PasswordSource
  /// The access mode of the database file.
  private var mode: UInt32 = 0o644

  public init(platform: Platform, passwords: any PasswordSource = NoPassword()) {
    self.platform = platform
    self.passwords = passwords
  }

  /// Makes the workspace `root`, as a whole or not at all. The folder must be absent or empty. The hub begins a new
  /// epoch. Devices first deliver the changes that the backup lacks, and then receive all rows again.
  ///
  /// The backup is used only after its signature is verified, with the keys in the named folder. If there is no such
  /// folder, a person must have compared the fingerprint of the signing key.
  public func restore(
    _ path: String, into root: String, keys source: KeysOfRestored, fingerprint: String?,
    clock: ClockAtRestore = .unchecked, runMode: RunMode = .commit
  ) throws -> RestoreReport {
    try checkVacant(root)
    let made = try NewFolder(for: root, platform: platform)
    let folder = WorkspaceFolder(made.path)
    var restore = self
    // A user who may not read the backup may not read the restored files either.
    restore.mode = try 0o644 & platform.files.permissions(path)
    for place in [folder.path("bundles"), folder.attached] {
      restore.platform.files = restore.platform.files.limitingModes(below: place, to: restore.mode)
    }
    return try restore.restore(path, into: made, folder, keys: source, fingerprint: fingerprint, clock: clock, runMode)
  }

  private func restore(
    _ path: String, into made: borrowing NewFolder, _ folder: WorkspaceFolder, keys source: KeysOfRestored,
    fingerprint: String?, clock: ClockAtRestore, _ runMode: RunMode
  ) throws -> RestoreReport {
    try folder.makeFolders(platform.files)
    if case .folder(let keys) = source { try copyKeys(from: keys, to: folder) }
    let keys = WorkspaceKeys(folder, of: .hub, platform: platform, passwords: passwords)
    let bundle = try read(path, source, keys, fingerprint, staging: Paths.parent(of: made.path))
    let report = try build(folder, keys, source, clock, bundle)
    if runMode == .commit { try made.publish() }
    return report
  }

  private func checkVacant(_ root: String) throws {
    guard let kind = try platform.files.kind(root) else { return }
    guard kind == .directory, try platform.files.list(root).isEmpty else {
      throw WorkspaceError(
        .exists, "\(root) is in use already: it is not an empty folder.",
        hint: "A hub is restored into a folder that is new or empty.")
    }
  }

  // MARK: whose it is

  private func copyKeys(from source: String, to folder: WorkspaceFolder) throws {
    let files = platform.files
    guard try files.kind(Paths.join(source, "own.key")) == .file, try files.kind(Paths.join(source, "own.pub")) == .file
    else {
      throw WorkspaceError(
        .noKey, "There are no keys of a hub in \(source): own.key and own.pub are missing.",
        hint: "Name the folder keys of the hub's workspace, or of a copy of it.")
    }
    for place in ["keys", "keys/former"] {
      let from = place == "keys" ? source : Paths.join(source, "former")
      guard try files.kind(from) == .directory else { continue }
      try files.makeDirectory(folder.path(place), mode: 0o700)
      for name in try files.list(from) {
        guard let file = BackedUpFile("\(place)/\(name)"), try files.kind(Paths.join(from, name)) == .file else {
          continue
        }
        try files.copy(Paths.join(from, name), to: folder.path(file.path), mode: file.mode)
      }
    }
  }

  private func read(
    _ path: String, _ source: KeysOfRestored, _ keys: WorkspaceKeys, _ fingerprint: String?, staging: String
  ) throws -> VerifiedBundle {
    let reader = BundleReader(platform: platform) { if case .folder = source { try keys.identities() } else { [] } }
    if case .folder = source {
      let own = try [keys.ownKey()] + [keys.nextKey()].compactMap(\.self) + keys.former()
      return try reader.read(path, trust: .keys(own), staging: staging)
    }
    return try reader.read(path, trust: .firstContact, staging: staging) { manifest, signer in
      guard let fingerprint else {
        throw Refusal(
          .untrustedHub,
          "The owner of this backup is not confirmed yet, so a stranger may have made it.",
          hint:
            """
            Use the hub's fingerprint that you wrote down, or that satchel keys show prints at one of its devices. \
            Then add: --fingerprint WORDS
            """
        )
      }
      try signer.requireFingerprint(
        fingerprint, of: "backup", hint: "Do not use this file until you know its source.")
    }
  }

  // MARK: its content

  private func build(
    _ folder: WorkspaceFolder, _ keys: WorkspaceKeys, _ source: KeysOfRestored, _ clock: ClockAtRestore,
    _ bundle: borrowing VerifiedBundle
  ) throws -> RestoreReport {
    let files = platform.files
    let opened = try OpenedBackup(bundle, platform)
    let cursor = try opened.check()
    if case .unchecked = clock { try refuseClockBehind(bundle.manifest) }
    let lost = try opened.lostFiles()
    for name in opened.names {
      guard let file = BackedUpFile(name) else { continue }
      let target = lost.contains(name) ? Paths.join(folder.lost, Paths.name(of: name)) : folder.path(file.path)
      // The file exists if a person kept the keys elsewhere. The kept keys are the same as in the backup, or newer.
      if try files.kind(target) != nil { continue }
      try files.makeDirectory(Paths.parent(of: target), mode: file.folderMode)
      try opened.files.extract(name, to: target, mode: file.mode)
    }
    let old = try WorkspaceConfiguration.load(folder, role: .hub, files: files)
    let configuration = WorkspaceConfiguration(
      role: .hub, dataset: old.dataset, id: old.id, name: old.name, database: Paths.name(of: old.database),
      incarnation: nil)
    try files.copy(opened.database, to: configuration.databasePath(folder), mode: mode)
    try files.replace(folder.configuration, mode: 0o644, contents: configuration.bytes)
    try checkKeys(keys, source, folder, bundle.signer)
    let hub = HubWorkspace(
      folder: folder, configuration: configuration, keys: keys, platform: platform, runMode: .commit)
    try settle(clock, of: hub)
    if case .new = source { _ = try hub.replaceLostKeys(again: true) }
    try hub.store().noteBackedUp()
    let epoch = try hub.beginEpochAfterLoss(of: bundle.manifest.stamp.milliseconds)
    // The new key belongs to the new epoch. So the hub needs no emission of an earlier epoch.
    if case .new = source { try hub.store().noteKeyLost() }
    return RestoreReport(
      dataset: configuration.dataset, name: configuration.name, created: bundle.manifest.created,
      former: opened.backup.epoch,
      epoch: epoch, cursor: cursor, devices: try hub.devices().map { ($0.name, $0.merged) },
      fingerprint: try hub.fingerprint())
  }

  /// Refuses a clock that is behind the backup, because times must distinguish the bundles before and after the
  /// restore.
  private func refuseClockBehind(_ manifest: Manifest) throws {
    let (now, made) = (platform.clock.milliseconds(), manifest.stamp.milliseconds)
    if now >= made { return }
    let text = platform.clock.localText(milliseconds:)
    throw WorkspaceError(
      .clock, "This machine's clock shows \(text(now)), and the backup has a later time, \(text(made)).",
      hint: Self.lookAtClock)
  }

  /// Accepts this machine's clock for the hub. Throws a `WorkspaceError` if no person has checked the clock and the
  /// hub's records contradict it. A wrong clock would put wrong times into the log.
  private func settle(_ clock: ClockAtRestore, of hub: HubWorkspace) throws {
    let store = try hub.store()
    if case .right = clock { return try store.writeTransaction(.commit) { try hub.acceptClock(store) } }
    guard let fault = try hub.clockFault(store), fault.isRepairable else { return }
    throw WorkspaceError(.clock, fault.words, hint: Self.lookAtClock)
  }

  private static let lookAtClock = """
    Look at this computer's clock (date). If it is wrong, correct it, then try again. If it is right, the times in the \
    backup are wrong or old: add --clock-is-right
    """

  private func checkKeys(
    _ keys: WorkspaceKeys, _ source: KeysOfRestored, _ folder: WorkspaceFolder, _ signer: PublicKey
  ) throws {
    if case .new = source { return }
    guard try platform.files.kind(folder.key(WorkspaceKeys.own, "key")) != nil else {
      throw WorkspaceError(
        .noKey, "The backup holds no secret keys.",
        hint:
          """
          Name the folder that holds a copy of them: --keys DIR. If they are lost, --new-keys makes new keys, and a \
          person compares their fingerprint at each device.
          """
      )
    }
    try keys.check()
    guard try ([keys.ownKey()] + keys.former()).contains(signer) || keys.nextKey() == signer else {
      throw WorkspaceError(
        .otherKey, "The keys do not belong to the hub that made this backup.", hint: "Name that hub's keys.")
    }
  }
}
