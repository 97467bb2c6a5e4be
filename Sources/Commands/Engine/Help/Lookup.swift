import SatchelValues

/// The first half of parsing: finds the words that name the command, and the words that are left for it.
struct Lookup<Context> {
  let tool: ToolSpec<Context>
  /// The words that name a command, or begin the names of commands.
  private(set) var path: [String] = []
  /// All other words, in order. Options before the command are among them.
  private(set) var rest: [String] = []
  /// Whether the first word is `help`.
  private(set) var asksForHelp = false

  init(_ words: [String], in tool: ToolSpec<Context>) throws(UsageError) {
    self.tool = tool
    var words = words[...]
    while let word = words.first, word != "--" {
      if word.isOption {
        guard try takesOption(word) else { break }
        rest.append(words.removeFirst())
        // This value belongs to the option, even if it looks like a command.
        if OptionSpec.takesValue(word), let value = words.popFirst() { rest.append(value) }
      } else if !tool.commands(under: path + [word]).isEmpty {
        path.append(words.removeFirst())
      } else if word == "help", path.isEmpty, !asksForHelp {
        asksForHelp = true
        words.removeFirst()
      } else {
        break
      }
    }
    rest += words
  }

  var command: CommandSpec<Context>? { tool.command(path) }

  /// Why the words name no command.
  var failure: UsageError {
    let choices = tool.commands(under: path)
    guard let word = rest.firstArgument else {
      if path.isEmpty { return UsageError("no command is given", usage: tool.usage, hint: tool.hint) }
      let next = choices.map { $0.path[path.count] }.joined(separator: ", ")
      return UsageError("'\(path.joined(separator: " "))' needs one more word: \(next)", hint: tool.hint)
    }
    let wrong = (path + [word]).joined(separator: " ")
    return UsageError("there is no command '\(wrong)'\(didYouMeanCommand(word))", hint: tool.hint)
  }

  private func didYouMeanCommand(_ word: String) -> String {
    let next = tool.commands(under: path).map { $0.path[path.count] }
    if let near = suggestion(for: word, among: next) {
      return "; did you mean '\((path + [near]).joined(separator: " "))'?"
    }
    // The first word may be missing, as in `provision` for `device provision`.
    return tool.commands.first { $0.path.contains(word) }.map { "; did you mean '\($0.name)'?" } ?? ""
  }

  /// Whether `word` is an option of every command. If it is not, and the command is already known, returns false.
  /// Throws if no command is known yet.
  private func takesOption(_ word: String) throws(UsageError) -> Bool {
    let known = OptionSpec.common + [.version]
    let name = Assignment(word)?.name ?? word
    if known.contains(where: { $0.spellings.contains(name) }) { return true }
    if command != nil || asksForHelp { return false }
    if tool.commands(under: path).contains(where: { $0.allOptions.contains { $0.spellings.contains(name) } }) {
      throw UsageError("the option \(name) belongs to a command and goes after it", usage: tool.usage, hint: tool.hint)
    }
    let near = didYouMean(name, among: known.flatMap(\.spellings))
    throw UsageError("there is no option \(name)\(near)", usage: tool.usage, hint: tool.hint)
  }
}

extension [String] {
  /// The first word that is neither an option nor the value of a common option.
  var firstArgument: String? {
    var words = self[...]
    while let word = words.popFirst() {
      if word == "--" { return words.first }
      if OptionSpec.takesValue(word) { words = words.dropFirst() } else if !word.isOption { return word }
    }
    return nil
  }
}
