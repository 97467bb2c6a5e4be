/// The output of a command, and the source of its input.
public protocol Console: AnyObject, Sendable {
  /// The command's result, for people or as one JSON document; no newline is added.
  func out(_ text: String)
  /// Progress, warnings and errors; no newline is added.
  func error(_ text: String)
  /// One line that a user typed, without its newline; nil at the end of the input.
  func readLine() -> String?
  /// One line that a user typed without echo after `prompt`, without its newline; nil if there is no user, or the user
  /// gave up.
  func readSecret(_ prompt: String) -> [UInt8]?
  /// At most `most` bytes of standard input; empty at its end.
  func readBytes(_ most: Int) throws(PlatformError) -> [UInt8]
  /// Bytes for standard output, as they are.
  func outBytes(_ bytes: [UInt8]) throws(PlatformError)
  /// The value of an environment variable; nil if it is not set.
  func environment(_ name: String) -> String?
  var traits: ConsoleTraits { get }
}

/// The abilities of the console's terminal.
public struct ConsoleTraits: Hashable, Sendable {
  /// Columns for a table on standard output.
  public let width: Int
  /// Whether standard output shows colours.
  public let colour: Bool
  /// Whether a person watches standard error: only then is a progress bar drawn.
  public let interactive: Bool
  /// Whether a person watches standard output: only then is a picture drawn without being requested.
  public let showsOutput: Bool

  public init(width: Int = 80, colour: Bool = false, interactive: Bool = false, showsOutput: Bool = false) {
    self.width = width
    self.showsOutput = showsOutput
    self.colour = colour
    self.interactive = interactive
  }
}
