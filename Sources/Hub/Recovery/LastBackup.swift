import SatchelJSON
import SatchelPlatform
import SatchelWorkspace

/// The time and path of the last backup. They are in `backup.json` beside the database. They are not in the database,
/// so that a backup does not make other programs wait.
struct LastBackup {
  /// The time of the backup, in milliseconds since 1970.
  let at: Int64
  let file: String

  private static func path(_ folder: WorkspaceFolder) -> String { folder.path("backup.json") }

  init(at: Int64, file: String) {
    self.at = at
    self.file = file
  }

  /// nil if no backup was made, or if `backup.json` is damaged.
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

  /// Gives a backup that was made by a clock that was ahead the present time. Otherwise it would look new for years.
  static func lower(to now: Int64, in folder: WorkspaceFolder, _ files: any FileSystem) throws {
    guard let last = try LastBackup(in: folder, files), last.at > now else { return }
    try LastBackup(at: now, file: last.file).write(to: folder, files)
  }
}
