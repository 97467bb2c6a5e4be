import SatchelPlatform

/// A command line that failed, with all that is needed to report it in words or as the one JSON document.
public struct CommandFailure {
  public let tool: String
  /// The command's path. Empty if the words named no command.
  public let command: [String]
  /// A `UsageError` of the engine or the command, or any other error that the command threw.
  public let error: any Error
  /// Whether the command line contains `--json`. Known even if the rest of the line makes no sense.
  public let json: Bool
}

extension ToolSpec {
  /// Runs one command line, without the tool's own name, and returns its exit code.
  ///
  /// Help and version go to the console's standard output. An error goes to `report`. Only `report` knows the modules'
  /// errors and their JSON; it prints the error and chooses the exit code.
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
