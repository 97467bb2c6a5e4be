import SatchelJSON

/// The commands `completion` and `man`. They are made from the table of commands, which contains them too.
enum ManualCommands {
  static func all(tool: String, _ spec: @escaping @Sendable () -> ToolSpec<CommandContext>) -> [Command] {
    [completion(tool, spec), man(tool, spec)]
  }

  private static func completion(_ tool: String, _ spec: @escaping @Sendable () -> ToolSpec<CommandContext>) -> Command
  {
    Command(
      ["completion"], summary: "print completion for a shell",
      discussion: "Prints a script with which the shell completes commands and options.",
      arguments: [ArgumentSpec("SHELL", help: "bash, zsh or fish")],
      examples: [Example("\(tool) completion bash > /etc/bash_completion.d/\(tool)", "For all users of this machine.")]
    ) { command, _ in
      guard let shell = CompletionShell(rawValue: command.argument("SHELL")) else {
        throw UsageError("there is completion for bash, zsh and fish")
      }
      let text = spec().completion(for: shell)
      return Answer(TerminalText(ofOwnMaking: text), ["shell": .string(shell.rawValue), "text": .string(text)])
    }
  }

  private static func man(_ tool: String, _ spec: @escaping @Sendable () -> ToolSpec<CommandContext>) -> Command {
    Command(
      ["man"], summary: "print the manual page",
      discussion: "Prints the manual page, for man(1).",
      examples: [Example("\(tool) man | man -l -", "Read it.")]
    ) { _, _ in
      let text = spec().manPage
      return Answer(TerminalText(ofOwnMaking: text), ["text": .string(text)])
    }
  }
}
