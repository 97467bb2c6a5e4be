import SatchelPlatform

/// The surroundings of a command of either tool: the access to the system, and the person's terminal.
struct CommandContext {
  var platform: Platform
  let console: any Console
  /// Shows whether a person or the system has requested the end of an endless command.
  var endRequest: any EndRequest = EndBySignal()
  /// Shows pages to browsers on this machine. nil if this tool shows none.
  var webServer: (any WebServer)?
}

extension CommandContext {
  /// This context, but its file system follows no link below `folder`. Other people may have filled that folder.
  func confined(below folder: String) -> CommandContext {
    var context = self
    context.platform = platform.confined(below: folder)
    return context
  }
}

typealias Command = CommandSpec<CommandContext>

extension ParsedCommand {
  /// A typed path, relative to the folder in which the command works.
  func path(_ typed: String) -> String { directory == "." ? typed : Paths.join(directory, typed) }
}
