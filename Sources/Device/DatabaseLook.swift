import SatchelPlatform
import SatchelSQLite

/// The result of one look at the file in the place of the device's database. A command continues to use the connection
/// of its look, because SQLite reads the whole schema for each new connection.
struct DatabaseLook: ~Copyable {
  enum Content {
    case missing
    /// Nothing was ever written into the file.
    case empty
    /// Satchel did not set up the database.
    case foreign
    /// Satchel set up the database, and its triggers capture the writes of apps.
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
    // The connection is not read-only: after a crash of a writing process, SQLite must roll back that process's
    // journal.
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
