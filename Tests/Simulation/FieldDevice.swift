import SatchelDevice
import SatchelPlatform
import SatchelWorkspace

/// One device with its app, and the values that its user must not lose.
final class FieldDevice {
  let index: Int
  let usesWAL: Bool
  var workspace: DeviceWorkspace
  private var opened: FieldApp?
  /// The newest value that the user wrote into each cell and did not overwrite.
  var duty: [Cell: String] = [:]
  /// A copy of the database, made after an export and without any unexported changes.
  var copy: String?
  /// A copy of the whole folder.
  var backup: String?

  init(_ index: Int, _ workspace: DeviceWorkspace, usesWAL: Bool) {
    self.index = index
    self.workspace = workspace
    self.usesWAL = usesWAL
  }

  var name: String { workspace.configuration.name }
  var databasePath: String { workspace.configuration.databasePath(workspace.folder) }

  /// nil before the hub's first bundle. Once opened the app stays open during all imports.
  func app() throws -> FieldApp? {
    if let opened { return opened }
    if try workspace.isInitial() { return nil }
    let app = try FieldApp(path: databasePath)
    if usesWAL { try app.execute("PRAGMA journal_mode = WAL") }
    opened = app
    return app
  }

  /// The connection of its app, if it is open.
  var openApp: FieldApp? { opened }

  /// The number of the last export in its database; 0 before the first.
  func sequence() throws -> Int64 {
    try app()?.database.first("SELECT sequence FROM satchel_device") { $0.integer(0) } ?? 0
  }

  /// The version of the dataset that its database has.
  func version() throws -> Int64 {
    try app()?.database.first("SELECT definition ->> 'version' FROM satchel_device") { $0.integer(0) } ?? 0
  }

  /// The hub's epoch that its database knows.
  func epoch() throws -> String? { try app()?.database.first("SELECT epoch FROM satchel_device") { $0.text(0) } }

  func closeApp() { opened = nil }
}
