import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The files that this hub refused.
extension HubWorkspace {
  /// The refused files, the newest first. Each file says whether its changes have come since.
  public func quarantined() throws -> [Quarantine.Refused] {
    let refused = try Quarantine.list(folder, files: platform.files)
    // If the database, a key or a file cannot be read, the list is still returned, with `hasCome` false.
    guard !refused.isEmpty, let store = try? examined() else { return refused }
    return sayingWhatHasCome(refused, store)
  }

  /// The refused files, as `quarantined()` returns them.
  func quarantined(_ store: HubStore) throws -> [Quarantine.Refused] {
    try sayingWhatHasCome(Quarantine.list(folder, files: platform.files), store)
  }

  private func sayingWhatHasCome(_ files: [Quarantine.Refused], _ store: HubStore) -> [Quarantine.Refused] {
    guard !files.isEmpty, let known = try? trustedKeys(store) else { return files }
    var refused = files
    let reader = readerWithoutPassword()
    for place in refused.indices {
      refused[place].hasCome = (try? hasCome(refused[place], signedBy: known, using: reader, store)) ?? false
    }
    return refused
  }

  /// A reader for commands that do not ask for a password. If a password protects the keys, it reads no encrypted file.
  private func readerWithoutPassword() -> BundleReader {
    let identities = RememberedIdentities { [keys] in try keys.isProtected() ? [] : keys.identities() }
    return BundleReader(platform: platform, identities: { (try? identities.all()) ?? [] })
  }

  /// Whether the changes in a refused file have come in another bundle since. False if there is no proof.
  private func hasCome(
    _ refused: Quarantine.Refused, signedBy keys: [PublicKey], using reader: BundleReader, _ store: HubStore
  ) throws -> Bool {
    let path = Paths.join(folder.quarantine, refused.file)
    guard let bundle = try reader.identityIfSound(of: path, trust: .keys(keys)),
      let device = try store.device(bundle.manifest.from.id), device.state != .flagged
    else { return false }
    switch bundle.manifest.body {
    case .changes(let changes):
      // The number alone is no proof, because a copy of the device makes other bundles with the same numbers. The
      // digest is a proof. The device's later bundles name the digests of its own earlier bundles, and contain their
      // changes.
      guard changes.sequence <= device.merged else { return false }
      return try store.digest(of: changes.sequence, in: device.id) == bundle.digest
    case .volume(let volume):
      return try volume.whole == .changes && Ledger.hasTaken(volume.of, from: device.name, in: store.database)
    case .scope, .enrolment, .backup: return false
    }
  }

  /// Deletes refused files, and the reasons beside them. Returns the deleted files.
  ///
  /// Throws a `WorkspaceError` if a file belongs to a flagged device. Such a file may hold the only copy of some work.
  /// - Parameter names: the names of the files. nil: all files.
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

  /// The refused bundles of a flagged device. They belong to the copies between which a person must choose.
  private func filesOfFork(of device: EnrolledDevice, _ store: HubStore) throws -> [String] {
    try findFork(of: device.name, store).histories.flatMap(\.waiting).map(\.path)
  }

  /// The refused bundles of all flagged devices.
  func filesOfForks(_ store: HubStore) throws -> Set<String> {
    Set(try store.devices().filter { $0.state == .flagged }.flatMap { try filesOfFork(of: $0, store) })
  }

  /// Deletes the refused bundles of a revoked device, because the hub will never accept them. Bundles with numbers
  /// below the first refused number of the device stay.
  func forgetRefused(of device: EnrolledDevice, _ store: HubStore) throws {
    let keys = try device.provedKeys + store.formerKeys(of: device.id)
    for path in try Quarantine.files(signedBy: keys, folder, files: platform.files) {
      // A damaged file stays. It may be a bundle with a lower number, which the hub would still accept.
      guard let manifest = try reader.manifestIfSound(of: path, trust: .keys(keys)), manifest.from.id == device.id,
        manifest.wholeNumber >= (device.revokedFrom ?? .zero).rawValue
      else { continue }
      try Quarantine.release(path, files: platform.files)
    }
  }
}
