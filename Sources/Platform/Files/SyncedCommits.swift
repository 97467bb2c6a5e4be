/// Commits that survive a power cut.
extension FileSystem {
  /// Returns when every commit that the database shows is on the medium. A command that was killed may have ended
  /// between a commit and its sync. The next command sees such a commit and acts on it, and a power cut undoes it.
  /// Does nothing if there is no database.
  ///
  /// SQLite's documentation, "Atomic Commit In SQLite" and "Write-Ahead Logging", says which files hold a commit. It
  /// takes no lock on these files, so another program may close them.
  public func syncCommits(of database: String) throws(PlatformError) {
    let path: String
    do throws(PlatformError) { path = try resolved(database) } catch .missing { return }
    for name in ["\(path)-wal", "\(path)-journal"] {
      // Another program may end its transaction now, and with it the file.
      do throws(PlatformError) {
        let fd = try open(name)
        defer { close(fd) }
        try sync(fd)
      } catch .missing {}
    }
    // A folder whose names this user may not read is allowed.
    do throws(PlatformError) { try syncDirectory(Paths.parent(of: path)) } catch .permissionDenied {} catch .missing {}
  }
}
