import SatchelValues
import SatchelWorkspace

/// The question before a step that cannot be undone, or that costs people a visit to devices.
enum Confirmation {
  static let yes = OptionSpec("yes", help: "do not ask")

  /// Whether `ask` would ask: a person is at the terminal, and neither `--yes` nor `--dry-run` was given.
  static func isAsked(_ command: ParsedCommand, _ context: CommandContext) -> Bool {
    context.console.traits.interactive && !command.flag(yes.long) && !command.dryRun
  }

  /// Asks the person at the terminal. Without a terminal it asks nothing: then a script runs, and its author has
  /// decided.
  ///
  /// Throws a `WorkspaceError` if the answer is not yes.
  static func ask(_ question: TerminalText, _ command: ParsedCommand, _ context: CommandContext) throws {
    guard isAsked(command, context) else { return }
    context.console.warn("\(question) [y/N] ")
    let answer = context.console.readLine()?.lowercased() ?? ""
    guard ["y", "yes"].contains(answer) else {
      throw WorkspaceError(.cancelled, "Nothing was changed.", hint: "To continue, answer y, or add: --yes")
    }
  }

  /// Asks the person at the terminal. Without a terminal `--yes` is necessary, because the step may cost a visit to
  /// every device.
  ///
  /// Throws a `WorkspaceError` if the answer is not yes, or if there is no one to ask.
  static func require(_ question: TerminalText, _ command: ParsedCommand, _ context: CommandContext) throws {
    if command.flag(yes.long) || command.dryRun { return }
    if context.console.traits.interactive { return try ask(question, command, context) }
    context.console.warn("\(question)\n")
    throw WorkspaceError(
      .cancelled, "Nothing was changed: there is no terminal here to ask at.",
      hint: "To continue, give the command at a terminal, or add: --yes")
  }
}
