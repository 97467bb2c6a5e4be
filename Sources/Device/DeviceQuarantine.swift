import SatchelWorkspace

/// The files that this device refused.
extension DeviceWorkspace {
  /// The refused files, newest first.
  public func quarantined() throws -> [Quarantine.Refused] { try Quarantine.list(folder, files: platform.files) }

  /// Deletes refused files and their explanations. Returns the deleted files.
  /// - Parameter names: the files to delete; nil: all refused files.
  public func dropQuarantined(_ names: [String]?) throws -> [Quarantine.Refused] {
    try lockedWithoutDatabase { try Quarantine.drop(names, folder: folder, files: platform.files, runMode: runMode) }
  }
}
