import SatchelJSON
import SatchelPlatform
import SatchelWorkspace

/// When a backup was made last, and where it was put: `backup.json`, beside the database and not in it, so that nobody has to wait who writes.
struct LastBackup {
  /// Milliseconds since 1970.
  let at: Int64
  let file: String

  private static func path(_ folder: WorkspaceFolder) -> String { folder.path("backup.json") }

  init(at: Int64, file: String) {
    self.at = at
    self.file = file
  }

  /// nil: none was made, or nobody can say.
  init?(in folder: WorkspaceFolder, _ files: any FileSystem) throws {
    guard try files.kind(Self.path(folder)) == .file,
      let document = try? JSONValue.parse(files.read(Self.path(folder), limit: 64 << 10)),
      let at = document["at"]?.integerValue, let file = document["file"]?.stringValue
    else { return nil }
    self.init(at: at, file: file)
  }

  func write(to folder: WorkspaceFolder, _ files: any FileSystem) throws {
    let document: JSONValue = ["at": .integer(at), "file": .string(file)]
    try files.replace(Self.path(folder), mode: 0o644, contents: document.prettyBytes)
  }
}
