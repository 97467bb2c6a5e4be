import SatchelCapture
import SatchelValues

/// Why a workspace could not be opened or made, or a command on it not be carried out. Nothing has changed.
public struct WorkspaceError: ExplainedError {
  public let reason: String
  public let message: String
  public let hint: String?

  public init(_ reason: String, _ message: String, hint: String? = nil) {
    self.reason = reason
    self.message = message
    self.hint = hint
  }
}

extension WorkspaceError {
  /// Something was done to the database by which changes may have gone by unseen: nothing is carried before they are
  /// found.
  public static func damaged(_ damage: CaptureDamage, tool: String) -> WorkspaceError {
    WorkspaceError(
      damage.reason, "The database was changed behind Satchel's back: \(damage.words).",
      hint: damage.hint ?? "Changes may have gone by unseen. Find them and go on with: \(tool) doctor --repair")
  }
}

/// Why a bundle that is what it says was not imported here.
public struct Refusal: ExplainedError {
  /// What becomes of the file.
  public enum Keeping: Sendable {
    /// It stays where it is, for later. `status` names it until it is taken.
    case inPlace
    /// It stays where it is, and `status` does not name it as failed. It is for another workspace, or nobody has said
    /// yet whose it is, or `status` names it as waiting.
    case unnoted
    /// A copy goes to quarantine, because somebody has to look at it.
    case quarantine
    /// A copy waits in the workspace, because it can be taken later.
    case waiting
  }

  public let reason: String
  public let message: String
  public let hint: String?
  public let keeping: Keeping

  public init(_ reason: String, _ message: String, hint: String? = nil, keeping: Keeping = .inPlace) {
    self.reason = reason
    self.message = message
    self.hint = hint
    self.keeping = keeping
  }
}
