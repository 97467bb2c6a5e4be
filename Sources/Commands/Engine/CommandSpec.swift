/// One command, as a value that describes itself. Parsing, help and usage errors use only this value.
///
/// `Context` is the type that the tool's commands share. The engine only passes a context on.
public struct CommandSpec<Context>: Sendable {
  public typealias Run = @Sendable (_ command: ParsedCommand, _ context: inout Context) throws -> ExitCode

  /// The words that name the command: `["user", "add"]`.
  public let path: [String]
  /// One line for the list of commands, without a full stop.
  public let summary: String
  /// The description, in plain words. An empty line separates paragraphs. A line that begins with a space stays as it
  /// is.
  public let discussion: String
  public let arguments: [ArgumentSpec]
  public let options: [OptionSpec]
  public let examples: [Example]
  /// Whether the command changes data. If so, it takes `--dry-run`.
  public let changesData: Bool
  public let run: Run

  public init(
    _ path: [String], summary: String, discussion: String, arguments: [ArgumentSpec] = [], options: [OptionSpec] = [],
    examples: [Example] = [], changesData: Bool, run: @escaping Run
  ) {
    self.path = path
    self.summary = summary
    self.discussion = discussion
    self.arguments = arguments
    self.options = options
    self.examples = examples
    self.changesData = changesData
    self.run = run
  }

  /// The command's name as people write it: `user add`.
  public var name: String { path.joined(separator: " ") }
}

/// A command line to learn from, and its purpose.
public struct Example: Sendable {
  public let command: String
  public let explanation: String

  public init(_ command: String, _ explanation: String) {
    self.command = command
    self.explanation = explanation
  }
}
