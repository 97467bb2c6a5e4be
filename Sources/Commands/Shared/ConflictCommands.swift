import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// `conflicts`, which both tools have: what disagrees, side by side, and the decision.
struct ConflictCommands: Sendable {
  let tool: String
  let list: @Sendable (_ states: [ConflictState], ParsedCommand, CommandContext) throws -> [StoredConflict]
  let find:
    @Sendable (_ id: String, ParsedCommand, CommandContext) throws -> (conflict: StoredConflict, row: [Field]?, device: String)
  let resolve: @Sendable (_ id: String, ConflictDecision, _ note: String?, ParsedCommand, CommandContext) throws -> StoredConflict

  var all: [Command] { [listing(["conflicts"]), listing(["conflicts", "list"]), show, resolution] }

  private func listing(_ path: [String]) -> Command {
    let list = list
    return Command(
      path, summary: "list the disagreements that wait for somebody",
      discussion: "Shows the conflicts that are open or held. With --all, those that a policy settled or somebody resolved too.",
      options: [OptionSpec("all", short: "a", help: "show settled and resolved ones too")],
      examples: [Example("\(tool) conflicts --all", "Everything that ever disagreed.")]
    ) { command, context in
      let states: [ConflictState] = command.flag("all") ? ConflictState.allCases : [.open, .held]
      let conflicts = try list(states, command, context)
      let now = context.platform.clock.milliseconds()
      let text =
        conflicts.isEmpty
        ? "No conflict waits for anybody.\n" : ConflictView.list(conflicts, now: now, width: context.console.traits.width)
      return Answer(text, ["conflicts": .array(conflicts.map { ConflictView(conflict: $0).json() })])
    }
  }

  private var show: Command {
    let find = find
    return Command(
      ["conflicts", "show"], summary: "show one conflict side by side",
      discussion: "Shows what the column held before, the hub's value and the device's, whose stands, and the row as it is now.",
      arguments: [ArgumentSpec("ID", help: "the conflict's id, or the beginning of it")],
      examples: [Example("\(tool) conflicts show 3f9a", "The conflict whose id begins with 3f9a.")]
    ) { command, context in
      let (conflict, row, device) = try find(command.argument("ID"), command, context)
      let view = ConflictView(conflict: conflict)
      let now = context.platform.clock.milliseconds()
      return Answer(
        view.text(row: row, device: device, now: now, width: context.console.traits.width), ["conflict": view.json(row: row)])
    }
  }

  private var resolution: Command {
    let resolve = resolve
    return Command(
      ["conflicts", "resolve"], summary: "decide one conflict",
      discussion: """
        Decides what is to stand. The decision is an ordinary change of the row and travels as such. \
        Of two decisions about one conflict the first to reach the hub stands.
        """,
      arguments: [ArgumentSpec("ID", help: "the conflict's id, or the beginning of it")],
      options: [
        OptionSpec("keep", kind: .value("hub|device"), help: "whose values are to stand"),
        OptionSpec("set", kind: .value("COLUMN=VALUE"), help: "a value of your own; NULL for none", repeatable: true),
        OptionSpec("note", kind: .value("TEXT"), help: "why, for those who look at it later"),
      ],
      examples: [
        Example("\(tool) conflicts resolve 3f9a --keep device", "The device was right."),
        Example("\(tool) conflicts resolve 3f9a --set rating=4 --note \"asked them\"", "Neither was."),
      ], changesData: true
    ) { command, context in
      let decision = try Self.decision(command)
      let conflict = try resolve(command.argument("ID"), decision, command.value("note"), command, context)
      let record = conflict.record
      return Answer(
        "Resolved: \(record.table) [\(Words.key(record.key))], \(conflict.decision?.made.rawValue ?? "").\n",
        ["conflict": ConflictView(conflict: conflict).json()])
    }
  }

  private static func decision(_ command: ParsedCommand) throws -> ConflictDecision {
    let set = command.values("set")
    switch command.value("keep") {
    case "hub" where set.isEmpty: return .hub
    case "device" where set.isEmpty: return .device
    case nil where !set.isEmpty:
      return .set(
        try set.map { word in
          guard let assignment = Assignment(word) else { throw UsageError("--set takes COLUMN=VALUE, not \"\(word)\"") }
          return Field(Name(assignment.name), assignment.value == "NULL" ? .null : .string(assignment.value))
        })
    default: throw UsageError("say either --keep hub, or --keep device, or --set COLUMN=VALUE")
    }
  }
}
