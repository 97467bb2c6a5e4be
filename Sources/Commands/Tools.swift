import SatchelPlatform

/// Runs the device's tool with the words of a command line, without the tool's own name. Returns the exit code.
public func runDeviceTool(
  _ words: [String], platform: Platform = .real, console: any Console, endRequest: any EndRequest = EndBySignal()
) -> Int32 {
  run(DeviceTool.spec, words, CommandContext(platform: platform, console: console, endRequest: endRequest))
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
public func deviceToolMain() -> Never { onTerminal { runDeviceTool($0, console: $1) } }

/// The hub's tool as a process, with its command line and terminal.
public func hubToolMain(webServer: any WebServer) -> Never {
  onTerminal { runHubTool($0, console: $1, webServer: webServer) }
}

private func onTerminal(_ body: ([String], Terminal) -> Int32) -> Never {
  let terminal = Terminal()
  let code = body(Array(CommandLine.arguments.dropFirst()), terminal)
  guard code == ExitCode.done.rawValue, let failure = terminal.failure else { endProcess(code) }
  // The work is done, but the answer about it could not be written.
  terminal.error(
    """
    The command did its work, but its answer could not be written. \(failure.message)
    Its changes are made, and 'status' shows the state. Its answer can be requested again after you have made room.

    """)
  endProcess(ExitCode.failed.rawValue)
}

private func run(_ tool: ToolSpec<CommandContext>, _ words: [String], _ context: CommandContext) -> Int32 {
  var context = context
  return tool.run(words, context: &context, console: context.console) { failure, context in
    report(failure, to: context.console)
  }.rawValue
}
