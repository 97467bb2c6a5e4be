import SatchelJSON
import SatchelPlatform

/// The result of a finished command: text for people, and the same content as one JSON document for programs.
struct Answer {
  /// Members of the JSON document, after `ok` and `command`.
  var members: [JSONValue.Member]
  /// For people: lines that end with a newline. Empty if there is nothing to say.
  var text: TerminalText
  /// Warnings for people, on standard error. For example, they name the files that were refused.
  var warnings: TerminalText = ""
  /// Lines for people that follow the warnings. They are right only after a person has read the warnings.
  var closing: TerminalText = ""
  var code: ExitCode = .done
  /// The path of a file whose bytes are the command's output. The text then goes to standard error.
  var output: String?
  /// A long list that follows the members and the text.
  var stream: AnswerStream?

  init(
    _ text: TerminalText, _ members: KeyValuePairs<String, JSONValue>, code: ExitCode = .done,
    warnings: TerminalText = ""
  ) {
    self.text = text
    self.members = members.map { JSONValue.Member(name: $0.key, value: $0.value) }
    self.code = code
    self.warnings = warnings
  }
}

extension Console {
  /// Shows the result of a command.
  func show(_ text: TerminalText) { out(text.string) }
  /// Shows warnings, errors and questions for people.
  func warn(_ text: TerminalText) { error(text.string) }
}

extension CommandSpec where Context == CommandContext {
  /// A command with one answer. The answer is printed as text or as JSON, as the command line requests.
  init(
    _ path: [String], summary: String, discussion: String, arguments: [ArgumentSpec] = [], options: [OptionSpec] = [],
    examples: [Example] = [], changesData: Bool = false,
    answer: @escaping @Sendable (_ command: ParsedCommand, _ context: CommandContext) throws -> Answer
  ) {
    self.init(
      path, summary: summary, discussion: discussion, arguments: arguments, options: options, examples: examples,
      changesData: changesData
    ) { command, context in
      let line = ProgressLine(context.console, clock: context.platform.clock)
      var context = context
      // If the console runs the command, the console's page shows the progress.
      if !command.quiet, context.platform.progress == nil { context.platform.progress = line }
      defer { line.finish() }
      let answer = try answer(command, context)
      line.finish()
      if let output = answer.output { try Streams.write(output, context) }
      let say = answer.output == nil ? context.console.show : context.console.warn
      if command.json {
        let head: [JSONValue.Member] = [
          .init(name: "ok", value: .bool(answer.code == .done)),
          .init(name: "command", value: .string(command.path.joined(separator: " "))),
        ]
        let rehearsal: [JSONValue.Member] = command.dryRun ? [.init(name: "dry_run", value: true)] : []
        let members = head + rehearsal + answer.members
        if let stream = answer.stream {
          try stream.print(after: members, say)
        } else {
          say(TerminalText(document: .object(members)))
        }
      } else {
        if !command.quiet {
          say((command.dryRun ? "A dry run: nothing was changed.\n" : "") + answer.text)
          try answer.stream?.text(say)
        }
        context.console.warn(answer.warnings)
        if !command.quiet { say(answer.closing) }
      }
      return answer.code
    }
  }
}
