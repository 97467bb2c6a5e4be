/// The meaning of a command line.
public enum Invocation<Context>: Sendable {
  case run(CommandSpec<Context>, ParsedCommand)
  /// Text to print on standard output.
  case help(String)
  case version(String)
}

extension ToolSpec {
  /// Reads a command line, without the tool's own name. Throws if the line fits no command.
  ///
  /// The longest run of words that names a command is the command. Options may be anywhere, and `--` ends them. A line
  /// that requests help always gets help, even if another part of the line is wrong.
  public func parse(_ words: [String]) throws(UsageError) -> Invocation<Context> {
    if words.isEmpty { return .help(help()) }
    let found = try Lookup(words, in: self)
    let options = found.rest.beforeEndOfOptions
    if found.asksForHelp || !Set(OptionSpec.help.spellings).isDisjoint(with: options) {
      return .help(try help(for: found))
    }
    if options.contains("--version"), found.command?.options.contains(where: { $0.long == "version" }) != true {
      return .version("\(name) \(version)\n")
    }
    guard let command = found.command else { throw found.failure }
    do throws(UsageError) {
      let read = try OptionReader(found.rest, for: command)
      let arguments = try assign(read.words, to: command.arguments)
      return .run(
        command, ParsedCommand(path: command.path, arguments: arguments, values: read.values, flags: read.flags))
    } catch {
      throw complete(error, for: command)
    }
  }

  private func help(for found: Lookup<Context>) throws(UsageError) -> String {
    if let command = found.command { return help(command) }
    // For example, `help exprot` names no command, and fails. Plain `help` and `help user` name a list of commands.
    if found.rest.firstArgument != nil { throw found.failure }
    return help(under: found.path)
  }

  /// Adds the missing parts to a usage error: the usage line of this command, and where to read on.
  func complete(_ error: UsageError, for command: CommandSpec<Context>) -> UsageError {
    let reading = "Read '\(name) help \(command.name)'."
    let hint = error.hint.map { $0 + "\n" + reading } ?? reading
    return UsageError(error.message, usage: error.usage ?? usage(command), hint: hint)
  }
}
