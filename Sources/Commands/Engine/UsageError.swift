/// The error of a wrong command line. Commands throw it too, for values that only they can check. The engine then adds
/// the usage line, and says where to read on.
public struct UsageError: Error, Hashable, Sendable {
  /// The fault of the command line.
  public let message: String
  /// The usage line of the command, if the command is known.
  public internal(set) var usage: String?
  /// The next step for the person.
  public internal(set) var hint: String?

  public init(_ message: String, usage: String? = nil, hint: String? = nil) {
    self.message = message
    self.usage = usage
    self.hint = hint
  }

  /// The whole error for people, ready for standard error.
  public func text(tool: String) -> TerminalText {
    let more = [usage, hint].compactMap(\.self).map { TerminalText(lines: $0) + "\n" }
    return "\(tool): \(message)\n" + more.joined()
  }
}
