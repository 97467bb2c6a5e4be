import SatchelPlatform
import SatchelWorkspace

/// The files that this hub refused.
extension HubWorkspace {
  /// The refused files, the newest first.
  public func quarantined() throws -> [Quarantine.Refused] { try Quarantine.list(folder, files: platform.files) }

  /// Deletes refused files, with the words beside them. Returns the deleted files.
  ///
  /// Throws a `WorkspaceError` if a file belongs to a device whose copies wait for a decision. Such a file may hold
  /// work that exists nowhere else.
  /// - Parameter names: nil for all files.
  public func dropQuarantined(_ names: [String]?) throws -> [Quarantine.Refused] {
    try locked {
      let store = try store()
      for device in try store.devices() where device.state == .flagged {
        let needed = try findFork(of: device.name, store).histories.flatMap(\.waiting).map { Paths.name(of: $0.path) }
        guard let file = needed.first(where: { names?.contains($0) ?? true }) else { continue }
        throw WorkspaceError(
          "fork", "\(file) is of a copy of the device \(device.name): it may hold work that exists nowhere else.",
          hint: "First choose the copy that continues: satchel-hub device fork \(device.name)")
      }
      return try Quarantine.drop(names, folder: folder, files: platform.files, ending: ending)
    }
  }
}
