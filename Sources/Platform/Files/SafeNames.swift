/// Names that survive a power cut: a name is on the medium only when its folder was synced.
extension FileSystem {
  /// Renames a file in one step, replacing a file there, then syncs the target's folder.
  public func rename(_ from: String, to: String) throws(PlatformError) {
    try move(from, to: to)
    try syncDirectory(Paths.parent(of: to))
  }

  /// Makes a folder and its missing parents, with this mode less the umask, and syncs the parent of each. An existing
  /// folder is allowed; throws `.notADirectory` if another file has the name.
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
      // It may be a link to a folder, or a folder whose names this user may not read.
      do throws(PlatformError) { _ = try list(path) } catch .missing {
        throw .notADirectory(path: path)
      } catch .permissionDenied {}
      // The process that made it may have been killed before its name was synced. An unreadable parent folder is not
      // Satchel's.
      do throws(PlatformError) { try syncDirectory(Paths.parent(of: path)) } catch .permissionDenied {}
      return
    }
    try syncDirectory(Paths.parent(of: path))
  }
}
