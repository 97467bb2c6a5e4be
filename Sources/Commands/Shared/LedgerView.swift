import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The command `log` of both tools: every bundle that was made or seen here.
enum LedgerCommand {
  static func log(
    tool: String,
    _ list:
      @escaping @Sendable (_ limit: Int64, _ command: ParsedCommand, _ context: CommandContext) throws -> [LedgerEntry]
  ) -> Command {
    Command(
      ["log"], summary: "list the bundles that were made and seen here",
      discussion:
        "Shows the ledger, the newest entry first: every bundle that this workspace made, imported or refused.",
      options: [OptionSpec("limit", short: "n", kind: .value("COUNT"), help: "show at most COUNT entries (50)")],
      examples: [Example("\(tool) log -n 10", "The ten newest entries.")]
    ) { command, context in
      guard let limit = Int64(command.value("limit") ?? "50"), limit > 0 else {
        throw UsageError("--limit takes a whole number from 1 on")
      }
      let entries = try list(limit, command, context)
      var table = TextTable([
        "TIME", "WAY", "KIND", "PEER", .right("NUMBER"), "VERDICT", .right("CHANGES"), .right("CONFLICTS"), "DETAIL",
      ])
      let clock = context.platform.clock
      for entry in entries {
        table.add([
          clock.localText(milliseconds: entry.at), entry.direction.rawValue, entry.kind, entry.peer ?? "",
          entry.number.map { String($0) } ?? "", entry.verdict.rawValue, String(entry.changes), String(entry.conflicts),
          entry.detail ?? "",
        ])
      }
      let text: TerminalText =
        entries.isEmpty
        ? "No bundle was made or seen here yet.\n" : table.text(width: context.console.traits.width, overflow: .wrap)
      return Answer(text, ["entries": .array(entries.map(json))])
    }
  }

  private static func json(_ entry: LedgerEntry) -> JSONValue {
    [
      "at": .time(entry.at), "direction": .string(entry.direction.rawValue), "kind": .string(entry.kind),
      "bundle": .optional(entry.bundle), "peer": .optional(entry.peer), "number": .optional(entry.number),
      "digest": .optional(entry.digest), "verdict": .string(entry.verdict.rawValue), "changes": .integer(entry.changes),
      "conflicts": .integer(entry.conflicts), "detail": .optional(entry.detail),
    ]
  }
}
