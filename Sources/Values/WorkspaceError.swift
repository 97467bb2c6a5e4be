/// Why a workspace could not be opened or made, or why a command failed. Nothing was changed.
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
  /// The place of a refused file.
  public enum Keeping: Sendable {
    /// The file stays in place, because it may be imported later. `status` names it until it is accepted.
    case inPlace
    /// The file stays in place, and `status` does not name it as failed. The file is for another workspace, or its
    /// sender is not confirmed yet, or `status` already names it as waiting.
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
