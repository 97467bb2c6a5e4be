import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The files that this hub refused.
extension HubWorkspace {
  /// The refused files, the newest first, each with the knowledge whether its changes have come since.
  public func quarantined() throws -> [Quarantine.Refused] {
    var refused = try Quarantine.list(folder, files: platform.files)
    // The list is shown even if the database, a key or a file cannot be read.
    guard !refused.isEmpty, let store = try? examined(), let known = try? trustedKeys(store) else { return refused }
    let reader = readerWithoutPassword()
    for place in refused.indices {
      refused[place].hasCome = (try? hasCome(refused[place], signedBy: known, using: reader, store)) ?? false
    }
    return refused
  }

  /// Reads bundles for commands that ask for no password. If a password protects the keys, no encrypted file is read.
  private func readerWithoutPassword() -> BundleReader {
    let identities = RememberedIdentities { [keys] in try keys.isProtected() ? [] : keys.identities() }
    return BundleReader(platform: platform, identities: { (try? identities.all()) ?? [] })
  }

  /// Whether the changes in a refused file have come since. False if nothing proves it.
  private func hasCome(
    _ refused: Quarantine.Refused, signedBy keys: [PublicKey], using reader: BundleReader, _ store: HubStore
  ) throws -> Bool {
    let path = Paths.join(folder.quarantine, refused.file)
    guard let bundle = try reader.identityIfSound(of: path, trust: .keys(keys)),
      let device = try store.device(bundle.manifest.from.id), device.state != .flagged
    else { return false }
    switch bundle.manifest.body {
    case .changes(let changes):
      // A copy of the device makes other bundles with the same numbers. The device's later bundles name the digests of
      // its own bundles, and contain their changes.
      guard changes.sequence <= device.merged else { return false }
      return try store.digest(of: changes.sequence, in: device.id) == bundle.digest
    case .volume(let volume):
      return try volume.whole == .changes && Ledger.hasTaken(volume.of, from: device.name, in: store.database)
    case .scope, .enrolment, .backup: return false
    }
  }

  /// Deletes refused files, with the reasons beside them. Returns the deleted files.
  ///
  /// Throws a `WorkspaceError` if a file belongs to a device whose copies wait for a decision. Such a file may hold
  /// work that exists nowhere else.
  /// - Parameter names: nil for all files.
  public func dropQuarantined(_ names: [String]?) throws -> [Quarantine.Refused] {
    try locked {
      let store = try store()
      for device in try store.devices() where device.state == .flagged {
        let needed = try filesOfFork(of: device, store).map { Paths.name(of: $0) }
        guard let file = needed.first(where: { names?.contains($0) ?? true }) else { continue }
        throw WorkspaceError(
          .fork, "\(file) is of a copy of the device \(device.name): it may hold work that exists nowhere else.",
          hint: "First choose the copy that continues: satchel-hub device fork \(device.name)")
      }
      return try Quarantine.drop(names, folder: folder, files: platform.files, runMode: runMode)
    }
  }

  /// The refused bundles of a device whose copies wait for a decision.
  private func filesOfFork(of device: EnrolledDevice, _ store: HubStore) throws -> [String] {
    try findFork(of: device.name, store).histories.flatMap(\.waiting).map(\.path)
  }

  /// The refused bundles of all devices whose copies wait for a decision.
  func filesOfForks(_ store: HubStore) throws -> Set<String> {
    Set(try store.devices().filter { $0.state == .flagged }.flatMap { try filesOfFork(of: $0, store) })
  }

  /// Forgets the refused bundles of a revoked device. A device is revoked for ever, so none of these bundles is ever
  /// taken. Bundles from before the first bundle that the device may no longer deliver stay.
  func forgetRefused(of device: EnrolledDevice, _ store: HubStore) throws {
    let keys = try device.provedKeys + store.formerKeys(of: device.id)
    for path in try Quarantine.files(signedBy: keys, folder, files: platform.files) {
      // A damaged file stays, because it may be a bundle that still counts.
      guard let manifest = try reader.manifestIfSound(of: path, trust: .keys(keys)), manifest.from.id == device.id,
        manifest.wholeNumber >= (device.revokedFrom ?? .zero).rawValue
      else { continue }
      try Quarantine.release(path, files: platform.files)
    }
  }
}
