extension ToolSpec {
  /// The faults in the tool's table of commands, one sentence each. The tests of each tool check that it has none.
  public var faults: [String] {
    var faults = repeated(commands.map(\.name)).map { "the command '\($0)' is there twice" }
    for command in commands {
      let spellings = command.allOptions.flatMap(\.spellings)
      faults += repeated(spellings).map { "'\(command.name)' has two options \($0)" }
      faults += repeated(command.arguments.map(\.name)).map { "'\(command.name)' has two arguments \($0)" }
      if command.arguments.filter(\.arity.isList).count > 1 {
        faults.append("'\(command.name)' has two lists of arguments")
      }
      if command.path.isEmpty { faults.append("a command has no name") }
      if command.path.first == "help" { faults.append("'\(command.name)' hides the help") }
      for option in command.options where option.kind == .flag && (option.required || option.repeatable) {
        faults.append("the flag --\(option.long) of '\(command.name)' can be neither required nor repeatable")
      }
    }
    return faults
  }

  private func repeated(_ names: [String]) -> [String] {
    var seen: Set<String> = []
    return names.filter { !seen.insert($0).inserted }
  }
}
