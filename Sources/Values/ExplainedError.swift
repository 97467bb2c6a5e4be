/// An error with a message that helps a person: the fault, its place, and the next step.
public protocol ExplainedError: Error {
  var code: Reason { get }
  /// The fault and its place, in one or two sentences.
  var message: String { get }
  /// The next step; nil if there is no particular advice.
  var hint: String? { get }
}

extension ExplainedError {
  /// A stable word for programs, such as `unknown-key`.
  public var reason: String { code.rawValue }
}
