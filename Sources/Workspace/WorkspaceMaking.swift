import SatchelPlatform
import SatchelValues

/// Creates a workspace. If a creation was interrupted, it is undone and begins again.
extension WorkspaceFolder {
  /// The file that marks an unfinished workspace. It exists from the first step of the creation to the last.
  private var unfinished: String { path("satchel.unfinished") }

  /// Throws a `WorkspaceError` if no workspace can be made here, because a workspace or other files with its names
  /// exist. An unfinished workspace is removed, except in a dry run.
  public func checkVacant(_ files: any FileSystem, _ runMode: RunMode) throws {
    if try isUnfinished(files) {
      if runMode == .commit { try undoCreation(files) }
      return
    }
    guard try files.kind(configuration) == nil else {
      throw WorkspaceError(.exists, "There is a Satchel workspace in \(root) already.", hint: "Choose another folder.")
    }
    for name in ["bundles", "keys"] where try files.kind(path(name)) != nil {
      throw WorkspaceError(
        .exists, "There is already a file named \(name) in \(root).", hint: "Choose another folder.")
    }
  }

  /// Begins to create a workspace, which is unfinished until `finish` is called.
  public func begin(_ files: any FileSystem) throws {
    try files.makeDirectory(root, mode: 0o755)
    try sweep(files)
    try files.replace(
      unfinished, mode: 0o644, contents: Array("Creating this workspace was interrupted. Run init again.\n".utf8))
    try makeFolders(files)
  }

  /// Creates the missing folders that every workspace has.
  public func makeFolders(_ files: any FileSystem) throws {
    try files.makeDirectory(root, mode: 0o755)
    try files.makeDirectory(keys, mode: 0o700)
    for folder in bundles { try files.makeDirectory(folder, mode: 0o755) }
  }

  public func finish(_ files: any FileSystem) throws { try files.removeIfThere(unfinished) }

  public func isUnfinished(_ files: any FileSystem) throws -> Bool { try files.kind(unfinished) != nil }

  /// Removes the files of an unfinished workspace. A person's own files stay, for example an app's database.
  public func undoCreation(_ files: any FileSystem) throws {
    try sweep(files)
    for name in ["bundles", "keys"] { try files.removeTree(path(name)) }
    for file in [configuration, lock, unfinished] where try files.kind(file) != nil { try files.remove(file) }
    if try files.kind(root) == .directory, try files.list(root).isEmpty { try files.remove(root) }
  }
}
