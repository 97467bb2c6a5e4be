import SatchelPlatform

/// Runs the device's tool with the words of a command line, without the tool's own name. Returns the exit code.
/// - Parameter webServer: shows the pages of `window`. If it is nil, `window` fails with a message.
public func runDeviceTool(
  _ words: [String], platform: Platform = .real, console: any Console, endRequest: any EndRequest = EndBySignal(),
  webServer: (any WebServer)? = nil
) -> Int32 {
  run(
    DeviceTool.spec, words,
    CommandContext(platform: platform, console: console, endRequest: endRequest, webServer: webServer))
}

/// Runs the hub's tool with the words of a command line, without the tool's own name. Returns the exit code.
/// - Parameter webServer: shows the pages of `console`. If it is nil, `console` fails with a message.
public func runHubTool(
  _ words: [String], platform: Platform = .real, console: any Console, endRequest: any EndRequest = EndBySignal(),
  webServer: (any WebServer)? = nil
) -> Int32 {
  run(
    HubTool.spec, words,
    CommandContext(platform: platform, console: console, endRequest: endRequest, webServer: webServer))
}

/// The device's tool as a process, with its command line and terminal.
public func deviceToolMain(webServer: any WebServer) -> Never {
  onTerminal(DeviceTool.name) { runDeviceTool($0, console: $1, webServer: webServer) }
}

/// The hub's tool as a process, with its command line and terminal.
public func hubToolMain(webServer: any WebServer) -> Never {
  onTerminal(HubTool.name) { runHubTool($0, console: $1, webServer: webServer) }
}

private func onTerminal(_ tool: String, _ body: ([String], Terminal) -> Int32) -> Never {
  Interruption.explain()
  let terminal = Terminal()
  let words = CommandWords()
  if let word = words.notText { endProcess(refuse(word, of: words.texts, tool, terminal).rawValue) }
  let code = body(words.texts, terminal)
  guard code == ExitCode.done.rawValue, let failure = terminal.failure else { endProcess(code) }
  // The work is done, but the answer about it could not be written.
  terminal.error(
    """
    The command did its work, but its answer could not be written. \(failure.message)
    Its changes are made, and 'status' shows the state. Its answer can be requested again after you have made room.

    """)
  endProcess(ExitCode.failed.rawValue)
}

/// Refuses a command line with a word that is not UTF-8. Otherwise a new file would not get the name that was typed.
private func refuse(_ word: String, of words: [String], _ tool: String, _ terminal: Terminal) -> ExitCode {
  let error = UsageError(
    "\"\(word)\" is not UTF-8, and Satchel cannot use it",
    hint: "If it is a path, give the file or the stick another name, or mount the stick at another path.")
  let json = words.beforeEndOfOptions.contains("--json")
  return report(CommandFailure(tool: tool, command: [], error: error, json: json), to: terminal)
}

private func run(_ tool: ToolSpec<CommandContext>, _ words: [String], _ context: CommandContext) -> Int32 {
  var context = context
  return tool.run(words, context: &context, console: context.console) { failure, context in
    report(failure, to: context.console)
  }.rawValue
}
