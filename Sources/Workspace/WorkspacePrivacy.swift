import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// Access of other users on this machine to the files of a workspace.
///
/// Bundles hold rows. So neither `bundles/` nor a file that comes with a row is open to more users than the database.
/// Links below `bundles/` and `files/` are not followed: others may have put them there.
extension WorkspaceFolder {
  private var bundlesRoot: String { path("bundles") }

  /// The platform for commands in this workspace. Closes files that are too open, if this user may close them.
  /// - Parameter database: the path of the database.
  public func guarded(_ platform: Platform, database: String, _ runMode: RunMode) throws -> Platform {
    var platform = platform
    let mode = try databaseMode(at: database, platform.files)
    platform.files = platform.files.confined(below: root, names: ["bundles", "files"])
    for place in [bundlesRoot, attached] {
      platform.files = platform.files.limitingModes(below: place, to: mode)
    }
    // An obstacle, such as a read-only medium, must not stop the command. `doctor` reports open files.
    if runMode == .commit { try? closeBundles(platform.files) }
    return platform
  }

  /// The mode of the database's file. If that file cannot be read, the mode that `bundles/` still shows.
  public func databaseMode(at database: String, _ files: any FileSystem) throws -> UInt32 {
    do { return try files.permissions(database) & 0o666 } catch {
      let isThere = try files.kind(bundlesRoot) == .directory
      return try 0o644 & (isThere ? files.permissions(bundlesRoot) : 0o644)
    }
  }

  /// Throws `PlatformError.link` if a link is in the place of one of the folders for bundles.
  func refuseLinks(_ files: any FileSystem) throws {
    for place in [bundlesRoot, outbox, sent, inbox, waiting, staged, quarantine, archive, lost]
    where try files.kind(place) == .link { throw PlatformError.link(path: place) }
  }

  /// Whether users who may not read the database can read in `bundles/`.
  func isOpen(_ files: any FileSystem) throws -> Bool {
    guard try files.kind(bundlesRoot) == .directory else { return false }
    let mode = try files.permissions(bundlesRoot) & 0o777
    return files.rules.mode(mode, ofFolder: bundlesRoot) != mode
  }

  /// Removes rights on `bundles/` that the database does not give. Such rights exist if the workspace is of an earlier
  /// release, or if the database was closed to others later.
  private func closeBundles(_ files: any FileSystem) throws {
    // The folder is closed first, then each file in it.
    if try isOpen(files) { try close(bundlesRoot, files) }
  }

  private func close(_ path: String, _ files: any FileSystem) throws {
    switch try files.kind(path) {
    case .directory:
      let mode = try files.permissions(path) & 0o777
      let less = files.rules.mode(mode, ofFolder: path)
      if less != mode { try files.restrict(path, to: less) }
      for name in try files.list(path) { try close(Paths.join(path, name), files) }
    case .file:
      let mode = try files.permissions(path) & 0o777
      let less = files.rules.mode(mode, ofFile: path)
      if less != mode { try files.restrict(path, to: less) }
    case .link, .other, nil: return
    }
  }

  /// Keeps a copy of a database for people to examine. The copy gets its mode before the first row is in it.
  /// - Parameter path: below `bundles/`; a copy that a stopped command left is replaced.
  public func keep(_ database: borrowing Database, at path: String, _ files: any FileSystem) throws {
    try files.makeDirectory(Paths.parent(of: path), mode: 0o755)
    try files.replace(path, mode: 0o644, contents: [])
    try database.copy(to: path)
  }
}
