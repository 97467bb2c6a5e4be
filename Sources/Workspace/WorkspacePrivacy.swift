import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// Limits which other users of this machine can read the files of a workspace.
///
/// Bundles and attached files hold the content of rows. So they get no wider access rights than the database's file.
/// Links below `bundles/` and `files/` are not followed, because another user may have put them there.
extension WorkspaceFolder {
  private var bundlesRoot: String { path("bundles") }

  /// The platform that commands in this workspace use. Also removes access rights that are too wide, if this user may
  /// do that.
  /// - Parameter database: the path of the database.
  public func guarded(_ platform: Platform, database: String, _ runMode: RunMode) throws -> Platform {
    var platform = platform
    let mode = try databaseMode(at: database, platform.files)
    platform.files = platform.files.confined(below: root, names: ["bundles", "files"])
    for place in [bundlesRoot, attached] {
      platform.files = platform.files.limitingModes(below: place, to: mode)
    }
    // A command goes on if the rights cannot be changed, for example on a read-only medium. `doctor` reports files
    // that others can read.
    if runMode == .commit { try? closeBundles(platform.files) }
    return platform
  }

  /// The access rights of the database's file. If the file cannot be read, the rights of the folder `bundles/`.
  public func databaseMode(at database: String, _ files: any FileSystem) throws -> UInt32 {
    do { return try files.permissions(database) & 0o666 } catch {
      let isThere = try files.kind(bundlesRoot) == .directory
      return try 0o644 & (isThere ? files.permissions(bundlesRoot) : 0o644)
    }
  }

  /// Throws `PlatformError.link` if one of the folders for bundles is a link.
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

  /// Removes rights on `bundles/` that the database's file does not have. An earlier release may have given such
  /// rights. A person may also have limited the rights of the database later.
  private func closeBundles(_ files: any FileSystem) throws {
    // The folder loses its rights first, then each file in it.
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

  /// Makes a copy of a database for people to examine. The copy gets its access rights before it holds any row.
  /// - Parameter path: the path of the copy, below `bundles/`. A copy of a stopped command is replaced.
  public func keep(_ database: borrowing Database, at path: String, _ files: any FileSystem) throws {
    try files.makeDirectory(Paths.parent(of: path), mode: 0o755)
    try files.replace(path, mode: 0o644, contents: [])
    try database.copy(to: path)
  }
}
