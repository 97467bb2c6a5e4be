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
}
