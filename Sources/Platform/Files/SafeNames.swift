/// Names that survive a power cut. A name is on the medium only after its folder was synced.
extension FileSystem {
  /// Renames a file in one step, and replaces a file at the target. Then it syncs the target's folder.
  public func rename(_ from: String, to: String) throws(PlatformError) {
    try move(from, to: to)
    try syncDirectory(Paths.parent(of: to))
  }

  /// Makes a folder and its missing parents, with this mode less the umask. Syncs the parent of each folder, also if
  /// the last folder already exists. Throws `.notADirectory` if a file that is no folder has the name.
  public func makeDirectory(_ path: String, mode: UInt32) throws(PlatformError) {
    do throws(PlatformError) {
      try makeLastDirectory(path, mode: mode)
    } catch .missing where Paths.parent(of: path) != path {
      try makeDirectory(Paths.parent(of: path), mode: mode)
      try makeLastDirectory(path, mode: mode)
    }
  }

  private func makeLastDirectory(_ path: String, mode: UInt32) throws(PlatformError) {
    do throws(PlatformError) {
      try makeOneDirectory(path, mode: mode)
    } catch .exists {
      // The name may be a link to a folder, or a folder whose names this user may not read. Both are allowed.
      do throws(PlatformError) { _ = try list(path) } catch .missing {
        throw .notADirectory(path: path)
      } catch .permissionDenied {}
      // The process that made the folder may have been killed before the folder's name was synced. A parent folder that
      // cannot be read does not belong to Satchel, so it is not synced.
      do throws(PlatformError) { try syncDirectory(Paths.parent(of: path)) } catch .permissionDenied {}
      return
    }
    try syncDirectory(Paths.parent(of: path))
  }
}
