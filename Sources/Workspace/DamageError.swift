import SatchelCapture
import SatchelValues

extension WorkspaceError {
  /// The database was damaged in a way by which changes may have been missed. Nothing is carried before they are found.
  public static func damaged(_ damage: CaptureDamage, tool: String) -> WorkspaceError {
    WorkspaceError(
      damage.code, "The database was changed from outside: \(damage.words).",
      hint: damage.hint ?? "Changes may have been missed. To find them and continue: \(tool) doctor --repair")
  }
}
