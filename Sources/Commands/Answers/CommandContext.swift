import SatchelPlatform

/// What every command of both tools works with: the doors to the world, and the person's terminal.
struct CommandContext {
  var platform: Platform
  let console: any Console
  /// By which somebody ends a command that would go on for ever.
  var endRequest: any EndRequest = EndBySignal()
  /// By which pages are shown to browsers on this machine; nil: this tool shows none.
  var webServer: (any WebServer)?
}

extension CommandContext {
  /// The same, but that no link is followed below a folder whose content others may have made.
  func confined(below folder: String) -> CommandContext {
    var context = self
    context.platform = platform.confined(below: folder)
    return context
  }
}

typealias Command = CommandSpec<CommandContext>

extension ParsedCommand {
  /// A path as it was typed, seen from the folder that the command works in.
  func path(_ typed: String) -> String { directory == "." ? typed : Paths.join(directory, typed) }
}
