import SatchelPlatform

/// A command line that came to nothing, with all that is needed to say so: in words, or as the one JSON document.
public struct CommandFailure {
  public let tool: String
  /// The command's path; empty when the words named none.
  public let command: [String]
  /// A `UsageError` of the engine or of the command, or whatever else the command threw.
  public let error: any Error
  /// Whether the command line asks for `--json`; known even where the rest of it made no sense.
  public let json: Bool
}

extension ToolSpec {
  /// Runs one command line, without the tool's own name, and says how it ended.
  ///
  /// Help and version go to the console's standard output. What is thrown goes to `report`, which alone knows the
  /// errors and the JSON of the rooms, says it to somebody, and decides the exit code.
  public func run(
    _ words: [String], context: inout Context, console: any Console,
    report: (_ failure: CommandFailure, _ context: inout Context) -> ExitCode
  ) -> ExitCode {
    var path: [String] = []
    do {
      switch try parse(words) {
      case .help(let text), .version(let text):
        console.out(text)
        return .done
      case .run(let command, let parsed):
        path = command.path
        do {
          return try command.run(parsed, &context)
        } catch let error as UsageError {
          throw complete(error, for: command)
        }
      }
    } catch {
      let json = words.beforeEndOfOptions.contains("--json")
      return report(CommandFailure(tool: name, command: path, error: error, json: json), &context)
    }
  }
}
