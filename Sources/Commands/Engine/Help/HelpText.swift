/// Help has 80 columns on every terminal, so that it reads the same in documents and pipes.
private let helpWidth = 80

extension ToolSpec {
  var usage: String { "Usage: \(name) [-C DIR] COMMAND ..." }

  var hint: String { "Read '\(name) help'." }

  /// The usage line of a command. If it is too long, it is broken into several lines.
  func usage(_ command: CommandSpec<Context>) -> String {
    let parts = command.options.map(\.usage) + command.arguments.map(\.usage)
    return wrap(["Usage: \(name) \(command.name)"] + parts, width: helpWidth, indent: "         ").joined(
      separator: "\n")
  }

  /// The help of the tool, or of the commands whose names begin with these words.
  public func help(under words: [String] = []) -> String {
    let shown = commands(under: words)
    let title = words.isEmpty ? "\(name) - \(summary)" : "\(name) \(words.joined(separator: " ")) - a group of commands"
    var text = titleLines(title) + "\n" + usage + "\n\nCommands:\n" + list(shown)
    text += "\nOptions of every command:\n" + table(of: OptionSpec.common + (words.isEmpty ? [.version] : []))
    return text + "\nRead '\(name) help COMMAND' for one command, with examples.\n"
  }

  /// The whole help of one command.
  public func help(_ command: CommandSpec<Context>) -> String {
    var text = titleLines("\(name) \(command.name) - \(command.summary)") + "\n" + usage(command) + "\n"
    text += "\n" + refill(command.discussion, width: helpWidth).map { $0 + "\n" }.joined()
    if !command.arguments.isEmpty {
      text += "\nArguments:\n" + table(command.arguments.map { ($0.name, $0.help) })
    }
    text += "\nOptions:\n" + table(of: command.allOptions)
    if !command.examples.isEmpty { text += "\nExamples:\n" + command.examples.map(lines).joined() }
    return text + "\nExit codes:\n" + table(ExitCode.allCases.map { (String($0.rawValue), $0.meaning) })
  }

  private func titleLines(_ title: String) -> String { refill(title, width: helpWidth).map { $0 + "\n" }.joined() }

  /// Groups commands by their first word. An empty line separates the groups.
  private func list(_ commands: [CommandSpec<Context>]) -> String {
    let column = commands.map(\.name.displayWidth).max() ?? 0
    var text = ""
    for (i, command) in commands.enumerated() {
      if i > 0, command.path[0] != commands[i - 1].path[0], isGroup(command) || isGroup(commands[i - 1]) {
        text += "\n"
      }
      let padding = String(repeating: " ", count: column - command.name.displayWidth)
      text += table([(command.name + padding, command.summary)])
    }
    return text
  }

  private func isGroup(_ command: CommandSpec<Context>) -> Bool { commands(under: [command.path[0]]).count > 1 }

  private func table(of options: [OptionSpec]) -> String {
    let rows = options.map { option in
      let short = option.short.map { "-\($0), " } ?? "    "
      return (short + option.withValueName, option.help + (option.repeatable ? " (may be repeated)" : ""))
    }
    return table(rows)
  }

  private func table(_ rows: [(String, String)]) -> String {
    var table = TextTable(["", ""])
    for (left, right) in rows { table.add([left, right]) }
    return table.text(width: helpWidth, indent: 2, overflow: .wrap).string
  }

  private func lines(_ example: Example) -> String {
    let words = example.command.split(separator: " ").map(String.init)
    let command = wrap(words, width: helpWidth - 2, indent: "  ", continuation: " \\")
    let explanation = refill(example.explanation, width: helpWidth - 6)
    return command.map { "  \($0)\n" }.joined() + explanation.map { "      \($0)\n" }.joined()
  }
}
