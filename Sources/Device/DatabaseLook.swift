import SatchelPlatform
import SatchelSQLite

/// One look at the file in the place of the device's database. SQLite reads the whole schema for each connection, so a
/// command goes on with the connection of its look.
struct DatabaseLook: ~Copyable {
  enum Content {
    case missing
    /// Nothing was ever written into the file.
    case empty
    /// Satchel did not set up the database.
    case foreign
    /// Satchel captures the writes of its apps.
    case captured
  }

  let content: Content
  /// nil: there is no file.
  let database: Database?

  init(at path: String, _ files: any FileSystem) throws {
    guard try files.kind(path) != nil else {
      content = .missing
      database = nil
      return
    }
    // The mode is not read-only: after a crash, SQLite must roll back the journal of the process that wrote.
    let opened = try Database(path: path, mode: .readWrite)
    let isCaptured = try opened.first(
      "SELECT max(type = 'table' AND name = 'satchel_device') FROM sqlite_schema"
    ) { $0.optionalInteger(0).map { $0 == 1 } }
    content =
      switch isCaptured ?? nil {
      case nil: .empty
      case false?: .foreign
      case true?: .captured
      }
    database = consume opened
  }

  /// The connection to a database that Satchel set up; nil: there is none.
  consuming func captured() -> Database? { content == .captured ? database : nil }
}
