/// A tool: its name and its table of commands.
///
///     let tool = ToolSpec(name: "satchel", summary: "...", version: "1.0", commands: [status, export])
///     let code = tool.run(words, context: &context, console: console) { failure, context in ... }
public struct ToolSpec<Context>: Sendable {
  public let name: String
  public let summary: String
  public let version: String
  /// The commands in the order of the help. Commands with the same first word are next to each other.
  public let commands: [CommandSpec<Context>]

  public init(name: String, summary: String, version: String, commands: [CommandSpec<Context>]) {
    self.name = name
    self.summary = summary
    self.version = version
    self.commands = commands
  }

  /// The command with exactly this path.
  public func command(_ path: [String]) -> CommandSpec<Context>? { commands.first { $0.path == path } }

  /// The commands whose path begins with these words.
  func commands(under words: [String]) -> [CommandSpec<Context>] { commands.filter { $0.path.starts(with: words) } }
}
