import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// `satchel-hub`: the hub's tool.
enum HubTool {
  static let name = "satchel-hub"

  static var spec: ToolSpec<CommandContext> {
    ToolSpec(
      name: name, summary: "merge what devices bring, and give each user's device its rows", version: satchelVersion,
      commands: commands.map { OperatorOptions.added(to: $0) })
  }

  private static var commands: [Command] {
    [initialize, status, check, report, console] + datasets + users + devices + operators + keys + syncing.all
      + [importBundles, emit, compare] + conflicts.all + [ReopenCommand.command(tool: name, open)]
      + history + scopes + upkeep + quarantine.all + records + ManualCommands.all(tool: name) { Self.spec }
  }

  private static var records: [Command] {
    [
      LedgerCommand.log(tool: name) { limit, command, context in try open(command, context).log(limit: limit) },
      DoctorCommand.doctor(tool: name, options: [Confirmation.yes]) { command, context in
        let workspace = try open(command, context)
        guard command.flag("repair") else { return try workspace.examine() }
        if let doubt = try workspace.clockDoubt() {
          try Confirmation.require("\(doubt.words) Is this clock right?", command, context)
        }
        return try workspace.repair(missing: command.missingRows)
      },
      BundleCommands.verify(tool: name, verify),
      BundleCommands.inspect(tool: name, verify),
    ]
  }

  /// Opens the hub's workspace. If the command is an act, the hub records it with its effect.
  static func open(_ command: ParsedCommand, _ context: CommandContext) throws -> HubWorkspace {
    let hub = try HubWorkspace.open(
      command.directory, platform: context.platform, runMode: command.runMode, passwords: command.passwords(context))
    return try OperatorOptions.acting(hub, by: command, context)
  }

  private static let verify: BundleCommands.Verify = { file, command, context, look in
    let hub = try open(command, context)
    return try Streams.with(file, command, context, in: hub.folder) { try hub.verify($0, look) }
  }

  private static var quarantine: QuarantineCommands {
    QuarantineCommands(
      tool: name, list: { command, context in try open(command, context).quarantined() },
      drop: { names, command, context in try open(command, context).dropQuarantined(names) })
  }

  private static var conflicts: ConflictCommands {
    ConflictCommands(
      tool: name,
      list: { states, order, command, context, body in
        try open(command, context).eachBatchOfConflicts(states, order, body)
      },
      find: { id, command, context in try open(command, context).conflict(id) },
      resolve: { ids, decision, note, seen, command, context in
        try open(command, context).resolve(ids, decision, note: note, seen: seen)
      },
      layers: { command, context in try open(command, context).layers() },
      exportPackage: { path, command, context in try open(command, context).exportConflicts(to: path) },
      resolveAll: { policy, table, note, command, context in
        try open(command, context).resolveAll(policy, table: table, note: note)
      })
  }
}
