/// The reason why a command failed, or why a workspace could not be opened or made. Nothing was changed.
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

/// The reason why a genuine bundle was not imported.
public struct Refusal: ExplainedError {
  /// The place in which the refused file is kept.
  public enum Keeping: Sendable {
    /// The file stays in its place, because it may be imported later. `status` names it until it is accepted.
    case inPlace
    /// The file stays in its place, and `status` does not name it as failed. It is for another workspace, its sender
    /// is not confirmed yet, or `status` already names it as waiting.
    case unnoted
    /// A copy goes into the quarantine, because a person must look at it.
    case quarantine
    /// A copy goes into the folder `waiting`, because it can be imported later.
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
