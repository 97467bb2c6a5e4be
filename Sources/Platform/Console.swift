/// Where a command's words go, and where its answers come from.
public protocol Console: AnyObject, Sendable {
  /// The command's result, for people or as one JSON document; no newline is added.
  func out(_ text: String)
  /// Progress, warnings and errors; no newline is added.
  func error(_ text: String)
  /// One line that somebody typed, without its newline; nil at the end of the input.
  func readLine() -> String?
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

  public init(width: Int = 80, colour: Bool = false, interactive: Bool = false) {
    self.width = width
    self.colour = colour
    self.interactive = interactive
  }
}
