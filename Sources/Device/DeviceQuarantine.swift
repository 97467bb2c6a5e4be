import SatchelWorkspace

/// What this device refused.
extension DeviceWorkspace {
  /// The refused files, the newest first.
  public func quarantined() throws -> [Quarantine.Refused] { try Quarantine.list(folder, files: platform.files) }

  /// Deletes refused files, with the words beside them. Returns which.
  /// - Parameter names: nil: all of them.
  public func dropQuarantined(_ names: [String]?) throws -> [Quarantine.Refused] {
    try locked { try Quarantine.drop(names, folder: folder, files: platform.files, ending: ending) }
  }
}
