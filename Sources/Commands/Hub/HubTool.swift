import SatchelHub
import SatchelPlatform
import SatchelValues

/// `satchel-hub`: the hub's tool.
enum HubTool {
  static let name = "satchel-hub"

  static var spec: ToolSpec<CommandContext> {
    ToolSpec(
      name: name, summary: "merge what devices bring, and give each user's device its rows", version: satchelVersion,
      commands: [initialize, status] + users + devices + keys + [importBundles, emit] + conflicts.all + [
        LedgerCommand.log(tool: name) { limit, command, context in try open(command, context).log(limit: limit) },
        DoctorCommand.doctor(tool: name) { command, context in
          let workspace = try open(command, context)
          return try command.flag("repair") ? workspace.repair() : workspace.examine()
        },
        BundleCommands.verify(tool: name) { path, command, context, look in try open(command, context).verify(path, look) },
        BundleCommands.inspect(tool: name) { path, command, context, look in try open(command, context).verify(path, look) },
      ])
  }

  static func open(_ command: ParsedCommand, _ context: CommandContext) throws -> HubWorkspace {
    try HubWorkspace.open(
      command.directory, platform: context.platform, ending: command.ending, passwords: command.passwords(context))
  }

  private static var conflicts: ConflictCommands {
    ConflictCommands(
      tool: name, list: { states, command, context in try open(command, context).conflicts(states) },
      find: { id, command, context in try open(command, context).conflict(id) },
      resolve: { id, decision, note, command, context in try open(command, context).resolve(id, decision, note: note) })
  }
}
