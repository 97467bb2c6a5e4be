import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The files that this hub refused.
extension HubWorkspace {
  /// The refused files, the newest first.
  public func quarantined() throws -> [Quarantine.Refused] { try Quarantine.list(folder, files: platform.files) }

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
