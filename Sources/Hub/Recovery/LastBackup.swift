import SatchelJSON
import SatchelPlatform
import SatchelWorkspace

/// The time and path of the last backup, in `backup.json` beside the database. They are not in the database, because
/// then each backup would make other writers wait.
struct LastBackup {
  /// The time of the backup, in milliseconds since 1970.
  let at: Int64
  let file: String

  private static func path(_ folder: WorkspaceFolder) -> String { folder.path("backup.json") }

  init(at: Int64, file: String) {
    self.at = at
    self.file = file
  }

  /// Returns nil if no backup was made, or if `backup.json` is damaged.
  init?(in folder: WorkspaceFolder, _ files: any FileSystem) throws {
    guard let document = try folder.document(at: Self.path(folder), files),
      let at = document["at"]?.integerValue, let file = document["file"]?.stringValue
    else { return nil }
    self.init(at: at, file: file)
  }

  func write(to folder: WorkspaceFolder, _ files: any FileSystem) throws {
    let document: JSONValue = ["at": .integer(at), "file": .string(file)]
    try files.replace(Self.path(folder), mode: 0o644, contents: document.prettyBytes)
  }

  /// Replaces the time of the last backup by `now`, if that time is in the future because the clock was ahead. Without
  /// this, the backup would look new for years.
  static func lower(to now: Int64, in folder: WorkspaceFolder, _ files: any FileSystem) throws {
    guard let last = try LastBackup(in: folder, files), last.at > now else { return }
    try LastBackup(at: now, file: last.file).write(to: folder, files)
  }
}
