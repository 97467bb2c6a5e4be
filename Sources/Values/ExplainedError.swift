/// An error that a person can act on: what was wrong and where, and what to do next.
public protocol ExplainedError: Error {
  /// A stable word for machines, such as `unknown-key`.
  var reason: String { get }
  /// What was wrong, and where, in one or two sentences.
  var message: String { get }
  /// The next step; nil if there is no particular advice.
  var hint: String? { get }
}
