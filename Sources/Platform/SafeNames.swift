/// Names that stay: a name is on the medium only when the folder that holds it was synced.
extension FileSystem {
  /// Gives a file another name in one step, taking the place of a file there, then syncs the target's folder.
  public func rename(_ from: String, to: String) throws(PlatformError) {
    try move(from, to: to)
    try syncDirectory(Paths.parent(of: to))
  }

  /// Makes a folder, and those above it that are missing, with this mode less the umask, and syncs the folder above
  /// each. One that is there is fine; throws `.notADirectory` where something else is.
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
      // It may be a link to a folder, and a folder whose names nobody may read is one too.
      do throws(PlatformError) { _ = try list(path) } catch .missing {
        throw .notADirectory(path: path)
      } catch .permissionDenied {}
      // Who made it may have been killed before its name was safe. Where nobody may look, it is no folder of ours.
      do throws(PlatformError) { try syncDirectory(Paths.parent(of: path)) } catch .permissionDenied {}
      return
    }
    try syncDirectory(Paths.parent(of: path))
  }
}
