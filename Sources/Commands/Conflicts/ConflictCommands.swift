import SatchelConflicts
import SatchelDataset
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The command `conflicts` of both tools. It shows the sides of conflicts, and records decisions.
struct ConflictCommands: Sendable {
  let tool: String
  /// Reads the conflicts in these states, in batches.
  let list:
    @Sendable (
      _ states: [ConflictState], ConflictOrder, ParsedCommand, CommandContext, _ body: ([StoredConflict]) throws -> Void
    ) throws -> Void
  let find: @Sendable (_ id: String, ParsedCommand, CommandContext) throws -> ShownConflict
  /// Decides conflicts by one decision, and returns them in the same order.
  let resolve:
    @Sendable (_ ids: [String], ConflictDecision, _ note: String?, RowSeen, ParsedCommand, CommandContext) throws ->
      [StoredConflict]
  /// The layers of the database: its tables with geometries.
  let layers: @Sendable (ParsedCommand, CommandContext) throws -> [Layer]
  let exportPackage: @Sendable (_ path: String, ParsedCommand, CommandContext) throws -> ConflictPackageReport
  let resolveAll:
    @Sendable (Policy, _ table: Name?, _ note: String?, ParsedCommand, CommandContext) throws -> ResolvedAll

  var all: [Command] { [listing(["conflicts"]), listing(["conflicts", "list"]), show, resolution, export] }

  private var export: Command {
    let (list, layers, exportPackage) = (list, layers, exportPackage)
    return Command(
      ["conflicts", "export"], summary: "print all conflicts as CSV, or write a map of them",
      discussion: """
        Prints a line for each column of each conflict (RFC 4180, UTF-8), also of settled and resolved conflicts. \
        Geometries are well-known text.

        With --gpkg, writes a GeoPackage for QGIS with the geometries as layers: the former ones, the hub's and the \
        devices'. The file must not exist yet.
        """,
      options: [OptionSpec("gpkg", kind: .value("FILE"), help: "write the geometries into a GeoPackage instead")],
      examples: [
        Example("\(tool) conflicts export > conflicts.csv", "For a spreadsheet."),
        Example("\(tool) conflicts export --gpkg conflicts.gpkg", "For a map."),
      ]
    ) { command, context in
      if let file = command.value("gpkg").map({ command.path($0) }) {
        return Self.answer(try exportPackage(file, command, context), file)
      }
      let found = try layers(command, context)
      return Self.answer { show in
        try list(ConflictState.allCases, .time, command, context) { conflicts in
          try show(conflicts.map { ConflictView(conflict: $0, layers: found).json() })
        }
      } text: { show in
        show(TerminalText(ofOwnMaking: ConflictCSV.heading))
        try list(ConflictState.allCases, .time, command, context) { conflicts in
          show(TerminalText(ofOwnMaking: ConflictCSV.text(conflicts, layers: found)))
        }
      }
    }
  }

  /// An answer that is a list of conflicts. The list may be too long for memory.
  private static func answer(
    _ elements: @escaping (_ show: ([JSONValue]) throws -> Void) throws -> Void,
    text: @escaping (_ show: (TerminalText) -> Void) throws -> Void
  ) -> Answer {
    var answer = Answer("", [:])
    answer.stream = AnswerStream(member: "conflicts", elements: elements, text: text)
    return answer
  }

  private static func answer(_ report: ConflictPackageReport, _ file: String) -> Answer {
    let leftOut =
      report.leftOut == 0
      ? ""
      : "\(Words.count(report.leftOut, "value")) left out, because the geometry is not valid: see conflicts export.\n"
    return Answer(
      """
      Wrote \(file): \(Words.count(report.features, "geometry", "geometries")) in \
      \(Words.count(report.layers.count, "layer")).
      \(leftOut)
      """,
      [
        "file": .string(file), "layers": .strings(report.layers.map(\.text)),
        "features": .integer(Int64(report.features)), "left_out": .integer(Int64(report.leftOut)),
      ])
  }

  private func listing(_ path: [String]) -> Command {
    let (list, layers) = (list, layers)
    return Command(
      path, summary: "list the disagreements that wait for a decision",
      discussion:
        "Shows the conflicts that are open or held. With --all, also those that a policy settled or a person resolved.",
      options: [OptionSpec("all", short: "a", help: "show settled and resolved ones too")],
      examples: [Example("\(tool) conflicts --all", "Lists all disagreements, old ones too.")]
    ) { command, context in
      let states: [ConflictState] = command.flag("all") ? ConflictState.allCases : [.open, .held]
      let found = try layers(command, context)
      let now = context.platform.clock.milliseconds()
      return Self.answer { show in
        try list(states, .units, command, context) { conflicts in
          try show(conflicts.units.map { ConflictView.json($0, layers: found) })
        }
      } text: { show in
        var lines = ConflictView.Lines(layers: found, now: now)
        try list(states, .units, command, context) { lines.add($0.units) }
        show(lines.isEmpty ? "No conflict waits for a decision.\n" : lines.text(width: context.console.traits.width))
      }
    }
  }

  private var show: Command {
    let (find, layers) = (find, layers)
    return Command(
      ["conflicts", "show"], summary: "show one conflict side by side",
      discussion:
        """
        Shows the column's former value, the hub's value, the device's value, the side whose value is kept, and the \
        row as it is now. If the values are too long for a table, each column has a line for each side. For a \
        geometry, it shows how far it moved. For a unit it shows all rows, because they are decided as one.
        """,
      arguments: [ArgumentSpec("ID", help: "the conflict's id, or the beginning of it")],
      examples: [Example("\(tool) conflicts show 3f9a", "The conflict whose id begins with 3f9a.")]
    ) { command, context in
      let shown = try find(command.argument("ID"), command, context)
      let layers = try layers(command, context)
      return Answer(
        ConflictView.text(shown, layers: layers, context),
        [
          "conflict": ConflictView.json(shown, layers: layers),
          "below": .array(shown.below.map(ConflictView.found)),
        ])
    }
  }

  private var resolution: Command {
    let (find, resolve, resolveAll, layers) = (find, resolve, resolveAll, layers)
    return Command(
      ["conflicts", "resolve"], summary: "decide one conflict, several by one decision, or all of them",
      discussion: """
        Decides which values are kept. The decision is an ordinary change of the row and travels as such. If there are \
        two decisions about one conflict, the first to reach the hub counts. A row that was changed since the conflict \
        was found is not overwritten. The answer then shows both, and the mark that you give with --row after you have \
        seen it. A column that you do not name stays as it is, if you decide single columns.

        Several conflicts are decided together or not at all. Rows that exchange a value which only one row may have \
        need that: for one of them alone, the other row would have to be deleted.

        --all leaves some conflicts, and says which and why. For example, two devices may bring one counter from a \
        lost hub with two numbers. Then look at both, and enter the right number with --set. The device's number alone \
        cannot be taken, because nothing shows where it began.

        A layer's geometry is given as well-known text, or as a file with well-known text, WKB or a stored geometry. \
        Columns of bytes accept a file or x'0A0B'.
        """,
      arguments: [ArgumentSpec("ID", .zeroOrMore, help: "the conflict's id, or the beginning of it")],
      options: ConflictDecisionOptions.all + [
        OptionSpec("all", short: "a", help: "decide all open ones by a policy, except if the row was changed since"),
        OptionSpec("policy", kind: .value("POLICY"), help: "with --all: hub, device or newest"),
        OptionSpec("table", kind: .value("TABLE"), help: "with --all: only those of this table"),
        OptionSpec("row", kind: .value("MARK"), help: "the row's mark, as conflicts show prints it"),
        OptionSpec("note", kind: .value("TEXT"), help: "the reason, for later readers"),
      ],
      examples: [
        Example("\(tool) conflicts resolve 3f9a --keep device", "Keeps the device's values."),
        Example("\(tool) conflicts resolve 3f9a 77b0 --keep device", "Keeps the device's values in two rows at once."),
        Example("\(tool) conflicts resolve 3f9a --keep name=hub --keep rating=device", "Decides column by column."),
        Example("\(tool) conflicts resolve 3f9a --set rating=4 --note \"asked them\"", "Keeps a third value."),
        Example("\(tool) conflicts resolve 3f9a --set 'geom=POINT (7 7)'", "Enters another position."),
        Example("\(tool) conflicts resolve --all --policy newest --table reviews", "Keeps the later change each time."),
      ], changesData: true
    ) { command, context in
      if command.flag("all") { return try Self.decideAll(command, context, resolveAll) }
      guard let id = command.optionalArgument("ID") else {
        throw UsageError("no conflict is named: give a conflict's ID, or --all")
      }
      guard command.value("policy") == nil, command.value("table") == nil else {
        throw UsageError("--policy and --table go with --all")
      }
      if command.arguments("ID").count > 1 { return try Self.decideTogether(command, context, resolve) }
      let decision = try ConflictDecisionOptions.decision(command) { try find(id, command, context).conflict }
      let seen = command.value("row").map { RowSeen.mark($0) } ?? .asFound
      let conflict = try resolve([id], decision, command.value("note"), seen, command, context)[0]
      return Answer(
        Self.words(resolved: conflict),
        ["conflict": ConflictView(conflict: conflict, layers: try layers(command, context)).json()])
    }
  }

  private static func words(resolved conflict: StoredConflict) -> TerminalText {
    let record = conflict.record
    return "Resolved: \(record.table) [\(Words.key(record.key))], \(conflict.decision?.made.rawValue ?? "").\n"
  }

  /// Decides several conflicts by one decision.
  private static func decideTogether(
    _ command: ParsedCommand, _ context: CommandContext,
    _ resolve: ([String], ConflictDecision, String?, RowSeen, ParsedCommand, CommandContext) throws -> [StoredConflict]
  ) throws -> Answer {
    let several = UsageError("several conflicts are decided by --keep hub or --keep device alone")
    let decision = try ConflictDecisionOptions.decision(command) { throw several }
    if case .set = decision { throw several }
    if command.value("row") != nil { throw several }
    let resolved = try resolve(
      command.arguments("ID"), decision, command.value("note"), .asFound, command, context)
    var text: TerminalText = ""
    for conflict in resolved { text += words(resolved: conflict) }
    return Answer(text, ["resolved": .strings(resolved.map(\.record.id.text))])
  }

  private static func decideAll(
    _ command: ParsedCommand, _ context: CommandContext,
    _ resolveAll: (Policy, Name?, String?, ParsedCommand, CommandContext) throws -> ResolvedAll
  ) throws -> Answer {
    guard command.optionalArgument("ID") == nil, command.values("keep").isEmpty, command.values("set").isEmpty,
      command.value("row") == nil
    else { throw UsageError("--all decides only by --policy") }
    guard let policy = command.value("policy").flatMap({ Policy(rawValue: $0) }), policy != .manual else {
      throw UsageError("name the policy: --policy hub, --policy device or --policy newest")
    }
    let result = try resolveAll(
      policy, command.value("table").map { Name($0) }, command.value("note"), command, context)
    var text: TerminalText =
      "Resolved \(Words.count(result.resolved.count, "conflict")) by the policy \(policy.rawValue).\n"
    if !result.left.isEmpty { text += "Left \(Words.count(result.left.count, "conflict")), because:\n" }
    for (record, why) in result.left {
      let words = [why.message, why.hint].compactMap(\.self).joined(separator: " ")
      text += "Left: \(record.id.text.prefix(8)) \(record.table) [\(Words.key(record.key))]. \(words)\n"
    }
    return Answer(
      text,
      [
        "resolved": .strings(result.resolved.map(\.id.text)),
        "left": .array(result.left.map { ["id": .string($0.record.id.text), "reason": .string($0.why.reason)] }),
      ])
  }
}
