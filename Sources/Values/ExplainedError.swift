/// An error that a person can act on: what was wrong and where, and what to do next.
public protocol ExplainedError: Error {
  var code: Reason { get }
  /// What was wrong, and where, in one or two sentences.
  var message: String { get }
  /// The next step; nil if there is no particular advice.
  var hint: String? { get }
}

extension ExplainedError {
  /// A stable word for programs, such as `unknown-key`.
  public var reason: String { code.rawValue }
}
