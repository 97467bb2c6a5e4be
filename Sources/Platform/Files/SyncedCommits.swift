/// Makes commits survive a power cut.
extension FileSystem {
  /// Returns when each commit that the database shows is on the medium. A command may have been killed between its
  /// commit and the sync. Without this sync, a later command would act on a commit that a power cut then undoes. Does
  /// nothing if there is no database.
  ///
  /// SQLite's pages "Atomic Commit In SQLite" and "Write-Ahead Logging" say which files contain a commit. SQLite does
  /// not lock these files, so another program can close them in the meantime.
  public func syncCommits(of database: String) throws(PlatformError) {
    let path: String
    do throws(PlatformError) { path = try resolved(database) } catch .missing { return }
    for name in ["\(path)-wal", "\(path)-journal"] {
      // Another program may be ending its transaction, which removes the file.
      do throws(PlatformError) {
        let fd = try open(name)
        defer { close(fd) }
        try sync(fd)
      } catch .missing {}
    }
    // This user may not be allowed to read the names in the folder. That is no error.
    do throws(PlatformError) { try syncDirectory(Paths.parent(of: path)) } catch .permissionDenied {} catch .missing {}
  }
}
