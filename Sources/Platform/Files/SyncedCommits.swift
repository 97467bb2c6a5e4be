/// Commits that survive a power cut.
extension FileSystem {
  /// Returns when every commit that the database shows is on the medium. A command that was killed may have ended
  /// between a commit and its sync. Other commands see such a commit, and a power cut undoes it.
  ///
  /// SQLite's documentation, "Atomic Commit In SQLite" and "Write-Ahead Logging", says which files hold a commit. It
  /// takes no lock on these files, so another program may close them.
  public func syncCommits(of database: String) throws(PlatformError) {
    let path = try resolved(database)
    for name in ["\(path)-wal", "\(path)-journal"] where try kind(name) == .file {
      let fd = try open(name)
      defer { close(fd) }
      try sync(fd)
    }
    try syncDirectory(Paths.parent(of: path))
  }
}
