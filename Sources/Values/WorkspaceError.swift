/// Why a workspace could not be opened or made, or why a command failed. Nothing has changed.
public struct WorkspaceError: ExplainedError {
  public let code: Reason
  public let message: String
  public let hint: String?

  public init(_ code: Reason, _ message: String, hint: String? = nil) {
    self.code = code
    self.message = message
    self.hint = hint
  }
}

/// Why a genuine bundle was not imported here.
public struct Refusal: ExplainedError {
  /// The place of the refused file from now on.
  public enum Keeping: Sendable {
    /// It stays in place, for later. `status` names it until it is accepted.
    case inPlace
    /// It stays in place, and `status` does not name it as failed: it is for another workspace, its sender is not
    /// confirmed yet, or `status` names it as waiting.
    case unnoted
    /// A copy goes to quarantine, because a person must look at it.
    case quarantine
    /// A copy waits in the workspace, because it can be imported later.
    case waiting
  }

  public let code: Reason
  public let message: String
  public let hint: String?
  public let keeping: Keeping

  public init(_ code: Reason, _ message: String, hint: String? = nil, keeping: Keeping = .inPlace) {
    self.code = code
    self.message = message
    self.hint = hint
    self.keeping = keeping
  }
}
