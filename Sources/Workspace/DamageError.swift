import SatchelCapture
import SatchelValues

extension WorkspaceError {
  /// The error for a database that another program changed. No bundle is made or imported until a repair finds the
  /// changes that capture missed.
  public static func damaged(_ damage: CaptureDamage, tool: String) -> WorkspaceError {
    WorkspaceError(
      damage.code, "The database was changed from outside: \(damage.words).",
      hint: damage.hint ?? "Changes may have been missed. To find them and continue: \(tool) doctor --repair")
  }

  /// The error for damage to a hub's database; nil if `damage` is empty.
  ///
  /// If the app's own tool may have migrated the tables, the hint names that step first. A repair alone would not
  /// send the new tables to the devices.
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

  /// The advice for an operator of a hub whose tables an app's own tool may have migrated.
  public static let migrationStep =
    """
    If a migration of the app changed the tables, record it for all devices (satchel-hub dataset apply NEW.json \
    --migration SQL --migrated).
    """
}
