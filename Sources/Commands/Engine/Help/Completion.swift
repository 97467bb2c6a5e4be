/// Shells for which completion can be made.
public enum CompletionShell: String, Sendable, CaseIterable {
  case bash, zsh, fish
}

/// Completion of command lines, made from the table of commands.
extension ToolSpec {
  public func completion(for shell: CompletionShell) -> String {
    switch shell {
    case .bash: bashCompletion
    case .zsh: "#compdef \(name)\nautoload -U +X bashcompinit && bashcompinit\n" + bashCompletion
    case .fish: fishCompletion
    }
  }

  /// Each proper prefix of a command's words, with the words that may follow. The first prefix is empty.
  private var followers: [(words: [String], next: [String])] {
    var found: [(words: [String], next: [String])] = [([], unique(commands.map { $0.path[0] } + ["help"]))]
    for command in commands {
      for length in 1..<max(1, command.path.count) {
        let words = Array(command.path.prefix(length))
        if found.contains(where: { $0.words == words }) { continue }
        found.append((words, unique(commands(under: words).filter { $0.path.count > length }.map { $0.path[length] })))
      }
    }
    return found
  }

  private func unique(_ words: [String]) -> [String] {
    words.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  private func options(of command: CommandSpec<Context>) -> [String] { command.allOptions.flatMap(\.spellings) }

  /// One shell function. It finds the command among the present words and offers the words that may follow. If it knows
  /// no words, it offers files.
  private var bashCompletion: String {
    let function = "_" + name.map { $0 == "-" ? "_" : String($0) }.joined()
    var text = """
      \(function)() {
        local word=${COMP_WORDS[COMP_CWORD]} path="" i next="" options=""
        for ((i = 1; i < COMP_CWORD; i++)); do
          case ${COMP_WORDS[i]} in
            -C | --directory | --password-file) ((i++)) ;;
            -*) ;;
            *) case "$path ${COMP_WORDS[i]}" in

      """
    let prefixes = unique(
      commands.flatMap { command in (1...command.path.count).map { command.path.prefix($0).joined(separator: " ") } })
    text += prefixes.map { "      ' \($0)') path=' \($0)' ;;\n" }.joined()
    text += "      esac ;;\n    esac\n  done\n  case $path in\n"
    for entry in followers {
      let key = entry.words.isEmpty ? "''" : "' \(entry.words.joined(separator: " "))'"
      text += "    \(key)) next='\(entry.next.joined(separator: " "))' ;;\n"
    }
    text += "  esac\n  case $path in\n"
    for command in commands {
      text += "    ' \(command.name)') options='\(options(of: command).joined(separator: " "))' ;;\n"
    }
    let common = OptionSpec.common.flatMap(\.spellings).joined(separator: " ")
    text += """
        esac
        case $word in
          -*) COMPREPLY=($(compgen -W "${options:-\(common)}" -- "$word")) ;;
          *)
            COMPREPLY=($(compgen -W "$next" -- "$word"))
            ((${#COMPREPLY[@]})) || COMPREPLY=($(compgen -f -- "$word")) ;;
        esac
      }
      complete -o filenames -F \(function) \(name)

      """
    return text
  }

  private var fishCompletion: String {
    var text = ""
    for entry in followers {
      let seen = entry.words.map { "__fish_seen_subcommand_from \($0)" }.joined(separator: "; and ")
      let condition = entry.words.isEmpty ? "__fish_use_subcommand" : seen
      for word in entry.next {
        let summary = command(entry.words + [word])?.summary ?? ""
        text += "complete -c \(name) -n '\(condition)' -f -a '\(word)' -d '\(quoted(summary))'\n"
      }
    }
    for command in commands {
      let condition = command.path.map { "__fish_seen_subcommand_from \($0)" }.joined(separator: "; and ")
      for option in command.options + (command.changesData ? [.dryRun] : []) {
        let short = option.short.map { " -s \($0)" } ?? ""
        text +=
          """
          complete -c \(name) -n '\(condition)'\(short) -l \(option.long)\(option.valueName == nil ? "" : " -r") -d \
          '\(quoted(option.help))'\n
          """
      }
    }
    for option in OptionSpec.common {
      let short = option.short.map { " -s \($0)" } ?? ""
      text +=
        """
        complete -c \(name)\(short) -l \(option.long)\(option.valueName == nil ? "" : " -r") -d \
        '\(quoted(option.help))'\n
        """
    }
    return text
  }

  private func quoted(_ text: String) -> String {
    text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "\\'")
  }
}
