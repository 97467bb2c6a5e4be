/// Changes of names that survive a power cut. A name is on the medium only after its folder was synced.
extension FileSystem {
  /// Renames a file in one step, in place of a file at the target. Then syncs the folder of the target.
  public func rename(_ from: String, to: String) throws(PlatformError) {
    try move(from, to: to)
    try syncDirectory(Paths.parent(of: to))
  }

  /// Makes a folder and its missing parents with this mode, limited by the umask. Syncs the parent of each of these
  /// folders, also if the last folder already exists. Throws `.notADirectory` if another object has its name.
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
      // A link to a folder is allowed, and so is a folder whose names this user may not read.
      do throws(PlatformError) { _ = try list(path) } catch .missing {
        throw .notADirectory(path: path)
      } catch .permissionDenied {}
      // The process that made the folder may have been killed before the sync. If the parent cannot be read, it is no
      // folder of Satchel and is not synced.
      do throws(PlatformError) { try syncDirectory(Paths.parent(of: path)) } catch .permissionDenied {}
      return
    }
    try syncDirectory(Paths.parent(of: path))
  }
}
