/// The output of a command, and the source of its input.
public protocol Console: AnyObject, Sendable {
  /// Writes the command's result, for people or as one JSON document. No newline is added.
  func out(_ text: String)
  /// Writes progress, warnings and errors. No newline is added.
  func error(_ text: String)
  /// Reads one line that a user types, without its newline; nil at the end of the input.
  func readLine() -> String?
  /// Shows `prompt` and reads one line that a user types without echo, without its newline. nil: there is no user, or
  /// the user gave up.
  func readSecret(_ prompt: String) -> [UInt8]?
  /// Reads at most `most` bytes from standard input; empty at the end of the input.
  func readBytes(_ most: Int) throws(PlatformError) -> [UInt8]
  /// Writes bytes to standard output as they are.
  func outBytes(_ bytes: [UInt8]) throws(PlatformError)
  /// The value of an environment variable; nil if it is not set.
  func environment(_ name: String) -> String?
  var traits: ConsoleTraits { get }
}

/// The abilities of the console's terminal.
public struct ConsoleTraits: Hashable, Sendable {
  /// The number of columns for a table on standard output.
  public let width: Int
  /// Whether standard output shows colours.
  public let colour: Bool
  /// Whether a person watches standard error. A progress bar is drawn only for a person.
  public let interactive: Bool
  /// Whether a person watches standard output. Without a request, a picture is drawn only for a person.
  public let showsOutput: Bool

  public init(width: Int = 80, colour: Bool = false, interactive: Bool = false, showsOutput: Bool = false) {
    self.width = width
    self.showsOutput = showsOutput
    self.colour = colour
    self.interactive = interactive
  }
}
