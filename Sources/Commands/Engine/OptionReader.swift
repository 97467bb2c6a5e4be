import SatchelValues

/// The second half of parsing: separates a command's options from its arguments.
struct OptionReader<Context> {
  private let command: CommandSpec<Context>
  private(set) var values: [String: [String]] = [:]
  private(set) var flags: [String: Bool] = [:]
  /// The words that are not options.
  private(set) var words: [String] = []

  init(_ all: [String], for command: CommandSpec<Context>) throws(UsageError) {
    self.command = command
    for option in command.allOptions {
      if option.kind == .flag { flags[option.long] = false } else { values[option.long] = [] }
    }
    var left = all[...]
    while let word = left.popFirst() {
      if word == "--" {
        words += left
        break
      }
      if word.isOption { try read(word, &left) } else { words.append(word) }
    }
    for option in command.options where option.required && values[option.long] == [] {
      throw UsageError("the option \(option.withValueName) is missing")
    }
  }

  private mutating func read(_ word: String, _ left: inout ArraySlice<String>) throws(UsageError) {
    let assignment = Assignment(word)
    let spelling = assignment?.name ?? word
    guard let option = command.allOptions.first(where: { $0.spellings.contains(spelling) }) else {
      throw unknown(spelling)
    }
    guard let valueName = option.valueName else {
      if assignment != nil { throw UsageError("the option \(spelling) takes no value") }
      flags[option.long] = true
      return
    }
    if values[option.long] != [], !option.repeatable { throw UsageError("the option \(spelling) is given twice") }
    let value = if let assignment { assignment.value } else { try following(spelling, valueName, &left) }
    if value.isEmpty { throw UsageError("the option \(spelling) has an empty value; it needs \(valueName)") }
    values[option.long, default: []].append(value)
  }

  private func following(
    _ spelling: String, _ valueName: String, _ left: inout ArraySlice<String>
  ) throws(UsageError) -> String {
    let message = "the option \(spelling) needs a value: \(valueName)"
    guard let next = left.first, next != "--" else { throw UsageError(message) }
    // A person who types `--to --json` has more often forgotten a value than meant a file named `--json`.
    if next.isOption { throw UsageError(message, hint: "If the value is '\(next)', write \(spelling)=\(next)") }
    return left.removeFirst()
  }

  private func unknown(_ spelling: String) -> UsageError {
    if spelling == "--\(OptionSpec.dryRun.long)" {
      return UsageError("'\(command.name)' changes no data, so it takes no --dry-run")
    }
    let near = didYouMean(spelling, among: command.allOptions.flatMap(\.spellings))
    let hint = near.isEmpty ? "If a word begins with a hyphen and is not an option, write it after '--'." : nil
    return UsageError("'\(command.name)' has no option \(spelling)\(near)", hint: hint)
  }
}
