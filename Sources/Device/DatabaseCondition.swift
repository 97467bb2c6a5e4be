import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

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

  fileprivate init(at path: String, _ files: any FileSystem) throws {
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

/// Whether a device has a usable database.
enum DatabaseCondition {
  case there
  /// No bundle from the hub was ever imported here.
  case initial
  /// Bundles here show that there was a database. The text says what is in its place.
  case lost(String)
  /// It is on a tablet. The text is its name there.
  case away(String)
}

extension DeviceWorkspace {
  /// Throws if SQLite cannot read the file.
  func look() throws -> DatabaseLook { try DatabaseLook(at: databasePath, platform.files) }

  func databaseCondition() throws -> DatabaseCondition {
    if docking == nil, let name = configuration.docks { return .away(name) }
    do {
      let look = try look()
      if look.content == .captured { return .there }
      if configuration.joins { return .initial }
      switch look.content {
      case .missing, .empty:
        guard try hasHistory() else { return .initial }
        let words = look.content == .empty ? "empty" : "missing"
        return .lost("The database \(databasePath) is \(words).")
      case .foreign, .captured:
        guard try isReplacedForGood(look) else { return .there }
        return .lost("Another program made the database \(databasePath) again, and it has no rows.")
      }
    } catch let error as SQLiteError where !configuration.joins && error.isDamage { return .there }
  }

  /// Whether no bundle from the hub was ever imported here.
  ///
  /// True also if the database is lost: `databaseCondition` distinguishes the two.
  public func isInitial() throws -> Bool { try look().content != .captured }

  /// Whether there is a database that Satchel did not set up.
  func hasForeignFile() throws -> Bool {
    guard try platform.files.kind(databasePath) == .file else { return false }
    return try look().content != .captured
  }

  /// Opens the database with its state. Throws if the hub's first bundle has not come, or if the database is an old
  /// copy of itself. Also throws if capture may have missed changes: an import would overwrite these changes.
  func session() throws -> DeviceSession { try examined().refusingDamage() }

  /// The same; nil: there is no database, or Satchel did not set it up.
  func sessionIfCaptured() throws -> DeviceSession? { try examinedIfCaptured()?.refusingDamage() }

  /// Opens the database even if it is damaged. For inspection and repairs.
  func examined() throws -> DeviceSession {
    if let session = try examinedIfCaptured() { return session }
    switch try databaseCondition() {
    case .there: return try DeviceSession(self)
    case .lost(let words): throw WorkspaceError.lostDatabase(words, of: configuration.name)
    case .away(let name): throw WorkspaceError.away(name)
    case .initial: throw Self.noData
    }
  }

  /// The same; nil: there is no database, or Satchel did not set it up.
  func examinedIfCaptured() throws -> DeviceSession? {
    guard let database = try look().captured() else { return nil }
    if docking == nil, let name = configuration.docks { throw WorkspaceError.away(name) }
    return try DeviceSession(self, database)
  }

  static let noData = WorkspaceError(
    .initial, "This device has no data yet.", hint: "Import the hub's first bundle: satchel import FILE")
}

extension WorkspaceError {
  /// - Parameters:
  ///   - words: describes what is in the database's place.
  ///   - device: the device's name.
  static func lostDatabase(_ words: String, of device: String) -> WorkspaceError {
    WorkspaceError(
      .databaseLost, "\(words) Bundles here show that there was one.",
      hint:
        """
        Is its card or disk mounted? If the file is lost: copy this device's exports from sticks into bundles/sent, \
        if they are not there. Then satchel doctor --repair rebuilds it from bundles and exports, as far as they \
        reach. If they do not reach, import a full bundle from the hub: satchel-hub emit --device \(device) --full
        """
    )
  }
}
