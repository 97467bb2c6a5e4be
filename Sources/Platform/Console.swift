/// Where a command's words go, and where its answers come from.
public protocol Console: AnyObject, Sendable {
  /// The command's result, for people or as one JSON document; no newline is added.
  func out(_ text: String)
  /// Progress, warnings and errors; no newline is added.
  func error(_ text: String)
  /// One line that somebody typed, without its newline; nil at the end of the input.
  func readLine() -> String?
  /// One line that somebody typed and nobody saw, without its newline, after `prompt`; nil where there is nobody, or
  /// who gave up.
  func readSecret(_ prompt: String) -> [UInt8]?
  /// Bytes of standard input, at most so many; none at its end.
  func readBytes(_ most: Int) throws(PlatformError) -> [UInt8]
  /// Bytes for standard output, as they are.
  func outBytes(_ bytes: [UInt8]) throws(PlatformError)
  /// What an environment variable is set to; nil where it is not.
  func environment(_ name: String) -> String?
  var traits: ConsoleTraits { get }
}

/// What the far side of a console can show.
public struct ConsoleTraits: Hashable, Sendable {
  /// Columns for a table on standard output.
  public let width: Int
  /// Whether standard output takes colours.
  public let colour: Bool
  /// Whether a person watches standard error: only then is a progress bar drawn.
  public let interactive: Bool
  /// Whether a person watches standard output: only then is a picture drawn that nobody asked for.
  public let showsOutput: Bool

  public init(width: Int = 80, colour: Bool = false, interactive: Bool = false, showsOutput: Bool = false) {
    self.width = width
    self.showsOutput = showsOutput
    self.colour = colour
    self.interactive = interactive
  }
}
