import SatchelCapture
import SatchelValues

extension WorkspaceError {
  /// The error for a damaged database whose changes may have been missed. Nothing is carried before these changes are
  /// found.
  public static func damaged(_ damage: CaptureDamage, tool: String) -> WorkspaceError {
    WorkspaceError(
      damage.code, "The database was changed from outside: \(damage.words).",
      hint: damage.hint ?? "Changes may have been missed. To find them and continue: \(tool) doctor --repair")
  }

  /// The same error for a hub; nil: there is no damage.
  ///
  /// A migration by the app's own tool comes first: after a repair alone, devices would not get the new tables.
  public static func damagedHub(_ damage: [CaptureDamage]) -> WorkspaceError? {
    guard let first = damage.first else { return nil }
    guard damage.allSatisfy(\.isRepairable), let migrated = damage.first(where: \.mayBeMigration) else {
      return damaged(first, tool: "satchel-hub")
    }
    let error = damaged(migrated, tool: "satchel-hub")
    return WorkspaceError(
      error.code, error.message,
      hint: "\(migrationStep) If not: satchel-hub doctor --repair finds the changes that may have been missed.")
  }

  /// The step at a hub after the app's own tool changed the tables.
  public static let migrationStep =
    """
    If a migration of the app changed the tables, record it for all devices (satchel-hub dataset apply NEW.json \
    --migration SQL --migrated).
    """
}
