import SatchelDevice
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// `satchel`: the device's tool.
enum DeviceTool {
  static let name = "satchel"

  static var spec: ToolSpec<CommandContext> {
    ToolSpec(
      name: name, summary: "keep this device's database in step with its hub, without a network",
      version: satchelVersion,
      commands: [initialize, status, report, window] + syncing.all
        + [dock, export, importBundles, apply, renew, compact] + conflicts.all + keys
        + quarantine.all + [
          LedgerCommand.log(tool: name) { limit, command, context in try open(command, context).log(limit: limit) },
          DoctorCommand.doctor(tool: name, options: [lostTables]) { command, context in
            let workspace = try open(command, context)
            if command.flag("tables"), !command.flag("repair") { throw UsageError("--tables goes with --repair") }
            if command.flag("tables"), command.flag("deleted") {
              throw UsageError("--tables puts rows back, and --deleted deletes them at the hub: give one of the two")
            }
            let report =
              try command.flag("repair")
              ? workspace.repair(
                missing: command.missingRows, tables: command.flag("tables") ? .madeAgain : .left)
              : workspace.examine()
            try workspace.record(report)
            if report.isWell { try workspace.requestProof() }
            return report
          },
          BundleCommands.verify(tool: name, verify),
          BundleCommands.inspect(tool: name, verify),
        ] + ManualCommands.all(tool: name) { Self.spec })
  }

  static func open(_ command: ParsedCommand, _ context: CommandContext) throws -> DeviceWorkspace {
    try DeviceWorkspace.open(
      command.directory, platform: context.platform, runMode: command.runMode, passwords: command.passwords(context))
  }

  private static let verify: BundleCommands.Verify = { file, command, context, look in
    let workspace = try open(command, context)
    return try Streams.with(file, command, context, in: workspace.folder) { try workspace.verify($0, look) }
  }

  private static let lostTables = OptionSpec(
    "tables", help: "with --repair: make tables that are gone, or have other keys or columns, as the hub has them")

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

extension ParsedCommand {
  var runMode: RunMode { dryRun ? .dryRun : .commit }
  /// The treatment of rows that are missing from a recreated table or file.
  var missingRows: MissingRows { flag("deleted") ? .deleted : .putBack }
}
