import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Whether a device has a usable database, or why not.
enum DatabaseCondition {
  case there
  /// No bundle from the hub was ever imported here.
  case initial
  /// Bundles here show that there was a database. The text describes what is in its place.
  case lost(String)
  /// The device has left its hub, and has lost the database with the rows for its next hub.
  case lostAfterLeaving(LostAfterLeaving)
  /// The database is on a tablet. The text is the name of its file there.
  case away(String)
}

extension DeviceWorkspace {
  /// Looks at the database's file. Throws if SQLite cannot read the file.
  func look() throws -> DatabaseLook { try DatabaseLook(at: databasePath, platform.files) }

  func databaseCondition() throws -> DatabaseCondition {
    if isDocked, let name = configuration.docks { return .away(name) }
    if let lost = try LostAfterLeaving.find(self) { return .lostAfterLeaving(lost) }
    do {
      let look = try look()
      switch look.content {
      case .captured: return .there
      case _ where configuration.joins: return .initial
      case .missing, .empty:
        guard try hasHistory() else { return .initial }
        let words = look.content == .empty ? "empty" : "missing"
        return .lost("The database \(databasePath) is \(words).")
      case .foreign:
        guard try isReplacedForGood(look) else { return .there }
        return .lost("Another program made the database \(databasePath) again, and it has no rows.")
      }
    } catch let error as SQLiteError where !configuration.joins && error.isDamage { return .there }
  }

  /// Whether there is no database that Satchel set up.
  ///
  /// This is so before the first bundle from the hub, and if the database is lost. `databaseCondition` distinguishes
  /// the two.
  public func isInitial() throws -> Bool { try look().content != .captured }

  /// Whether there is a database that Satchel did not set up.
  func hasForeignFile() throws -> Bool {
    guard try platform.files.kind(databasePath) == .file else { return false }
    return try look().content != .captured
  }

  /// Opens the database with its state. Throws if the hub's first bundle has not come, or if an older copy replaced the
  /// database. Also throws if capture may have missed changes, because an import would overwrite these changes.
  func session() throws -> DeviceSession { try examined().refusingDamage() }

  /// Like `session`. nil: there is no database, or Satchel did not set it up.
  func sessionIfCaptured() throws -> DeviceSession? { try examinedIfCaptured()?.refusingDamage() }

  /// Opens the database even if capture is damaged. For inspection and repairs.
  func examined() throws -> DeviceSession {
    try checkAfterLeaving()
    if let session = try examinedIfCaptured() { return session }
    switch try databaseCondition() {
    case .there: return try DeviceSession(self)
    case .lost(let words): throw WorkspaceError.lostDatabase(words, of: configuration.name)
    case .lostAfterLeaving(let lost): throw try lost.error()
    case .away(let name): throw WorkspaceError.away(name)
    case .initial: throw Self.noData
    }
  }

  /// Like `examined`. nil: there is no database, or Satchel did not set it up.
  func examinedIfCaptured() throws -> DeviceSession? {
    guard let database = try look().captured() else { return nil }
    if isDocked, let name = configuration.docks { throw WorkspaceError.away(name) }
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
