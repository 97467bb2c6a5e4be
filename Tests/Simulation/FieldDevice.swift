import SatchelDevice
import SatchelPlatform
import SatchelWorkspace

/// One device with its app, and the values that its user must not lose.
final class FieldDevice {
  let index: Int
  let usesWAL: Bool
  var workspace: DeviceWorkspace
  private var opened: FieldApp?
  /// For each cell, the newest value that the user wrote and did not overwrite.
  var duty: [Cell: String] = [:]
  /// The path of a copy of the database. All changes in the copy are in exports.
  var copy: String?
  /// The path of a copy of the whole folder.
  var backup: String?

  init(_ index: Int, _ workspace: DeviceWorkspace, usesWAL: Bool) {
    self.index = index
    self.workspace = workspace
    self.usesWAL = usesWAL
  }

  var name: String { workspace.configuration.name }
  var databasePath: String { workspace.configuration.databasePath(workspace.folder) }

  /// The device's app. nil before the hub's first bundle. Once opened, the app stays open during all imports.
  func app() throws -> FieldApp? {
    if let opened { return opened }
    if try workspace.isInitial() { return nil }
    let app = try FieldApp(path: databasePath)
    if usesWAL { try app.execute("PRAGMA journal_mode = WAL") }
    opened = app
    return app
  }

  /// The device's app, if it is open.
  var openApp: FieldApp? { opened }

  /// The number of the last export in the device's database. 0 before the first export.
  func sequence() throws -> Int64 {
    try app()?.database.first("SELECT sequence FROM satchel_device") { $0.integer(0) } ?? 0
  }

  /// The version of the dataset in the device's database.
  func version() throws -> Int64 {
    try app()?.database.first("SELECT definition ->> 'version' FROM satchel_device") { $0.integer(0) } ?? 0
  }

  /// The hub's epoch in the device's database.
  func epoch() throws -> String? { try app()?.database.first("SELECT epoch FROM satchel_device") { $0.text(0) } }

  func closeApp() { opened = nil }
}
