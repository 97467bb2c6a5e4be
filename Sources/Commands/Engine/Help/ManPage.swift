/// The manual page, made from the table of commands.
extension ToolSpec {
  /// A page of section 1 in the man macros of groff.
  public var manPage: String {
    var text = ".TH \(name.uppercased()) 1 \"\" \"\(name) \(version)\" \"User Commands\"\n"
    text += ".SH NAME\n\(roff(name)) \\- \(roff(summary))\n"
    text += ".SH SYNOPSIS\n.B \(roff(name))\n[\\-C DIR] COMMAND ...\n.SH COMMANDS\n"
    for command in commands { text += page(of: command) }
    text += ".SH OPTIONS OF EVERY COMMAND\n" + OptionSpec.common.map(item).joined()
    text += ".SH EXIT STATUS\n"
    for code in ExitCode.allCases { text += ".TP\n.B \(code.rawValue)\n\(roff(code.meaning))\n" }
    text += ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nNo colours, whatever the terminal can show.\n"
    return text + ".TP\n.B SATCHEL_PASSWORD_FILE\nA file whose first line is the keys' password.\n"
  }

  private func page(of command: CommandSpec<Context>) -> String {
    var text = ".SS \(roff("\(name) \(command.name)"))\n\(roff(command.summary)).\n.PP\n"
    let parts = command.options.map(\.usage) + command.arguments.map(\.usage)
    text += ".B \(roff("\(name) \(command.name)"))\n\(roff(parts.joined(separator: " ")))\n"
    for paragraph in refill(command.discussion, width: 1000) where !paragraph.isEmpty {
      text += ".PP\n\(roff(paragraph))\n"
    }
    for argument in command.arguments { text += ".TP\n.I \(roff(argument.name))\n\(roff(argument.help))\n" }
    text += (command.options + (command.changesData ? [.dryRun] : [])).map(item).joined()
    for example in command.examples {
      text += ".PP\n\(roff(example.explanation))\n.PP\n.RS\n.nf\n\(roff(example.command))\n.fi\n.RE\n"
    }
    return text
  }

  private func item(_ option: OptionSpec) -> String {
    let short = option.short.map { "\\-\($0), " } ?? ""
    return ".TP\n.B \(short)\(roff(option.withValueName))\n\(roff(option.help))\n"
  }

  /// Escapes a text, so that groff reads no part of it as a command.
  private func roff(_ text: String) -> String {
    var result = text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" : ""
    for character in text {
      switch character {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      default: result.append(character)
      }
    }
    return result
  }
}
