/// The output of a command and its input.
public protocol Console: AnyObject, Sendable {
  /// Writes the result of the command, for people or as one JSON document. Adds no line break.
  func out(_ text: String)
  /// Writes progress, warnings and errors. Adds no line break.
  func error(_ text: String)
  /// Reads a line that the user types, without the line break; nil at the end of the input.
  func readLine() -> String?
  /// Shows `prompt`, and reads a line that the user types without echo. nil if there is no user, or if the user
  /// stopped.
  func readSecret(_ prompt: String) -> [UInt8]?
  /// Reads at most `most` bytes from standard input; empty at the end of the input.
  func readBytes(_ most: Int) throws(PlatformError) -> [UInt8]
  /// Writes these bytes to standard output without a change.
  func outBytes(_ bytes: [UInt8]) throws(PlatformError)
  /// The value of an environment variable; nil if it is not set.
  func environment(_ name: String) -> String?
  var traits: ConsoleTraits { get }
}

/// The abilities of the terminal, and who watches it.
public struct ConsoleTraits: Hashable, Sendable {
  /// The width in columns for tables on standard output.
  public let width: Int
  /// Whether standard output shows colours.
  public let colour: Bool
  /// Whether a person watches standard error. Only then a progress bar is shown.
  public let interactive: Bool
  /// Whether a person watches standard output. Only then a picture is shown without a request.
  public let showsOutput: Bool

  public init(width: Int = 80, colour: Bool = false, interactive: Bool = false, showsOutput: Bool = false) {
    self.width = width
    self.showsOutput = showsOutput
    self.colour = colour
    self.interactive = interactive
  }
}
