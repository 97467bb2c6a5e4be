import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelValues

/// The command `conflicts reopen` of the hub. It takes decisions back.
enum ReopenCommand {
  static func command(
    tool: String, _ open: @escaping @Sendable (ParsedCommand, CommandContext) throws -> HubWorkspace
  ) -> Command {
    Command(
      ["conflicts", "reopen"], summary: "take back a decision, or all decisions since a time",
      discussion: """
        The conflict is open again, with its former sides. Its row gets the values from before the decision, and these \
        travel like any other change. A value that was changed again since stays, and so does a row that other rows \
        need by now. If a device's user decided, only the conflict opens, and the row stays as it is.

        Rows that exchanged a value which only one row may have go back together. So all of their conflicts open that \
        were decided by the same command. If a later decision gave the value to another row, take that decision back \
        first: the answer names it.
        """,
      arguments: [ArgumentSpec("ID", .optional, help: "the conflict's id, or the beginning of it")],
      options: [
        OptionSpec(
          "decided-since", kind: .value("TIME"),
          help: "all decisions made at the hub since a local day, or a time: 2026-05-01T08:00:00Z")
      ],
      examples: [
        Example("\(tool) conflicts reopen 3f9a", "Takes back the decision about one conflict."),
        Example("\(tool) conflicts reopen --decided-since 2026-05-01 --dry-run", "Shows what would be taken back."),
      ], changesData: true
    ) { command, context in
      let hub = try open(command, context)
      let report: ReopenedConflicts
      switch (command.optionalArgument("ID"), command.value("decided-since")) {
      case (let id?, nil): report = try hub.reopen(id)
      case (nil, let text?):
        guard let time = context.platform.clock.beginning(text) else {
          throw UsageError("--decided-since takes a day, or a time with its zone, such as 2026-05-01T08:00:00Z")
        }
        report = try hub.reopen(decidedSince: time)
      default: throw UsageError("name a conflict's ID, or a time: --decided-since TIME")
      }
      return Answer(
        text(report, command),
        [
          "reopened": .strings(report.conflicts.map(\.id.text)), "rows": .tables(report.rows),
          "left": .integer(Int64(report.left)), "forgotten": .integer(Int64(report.forgotten)),
        ])
    }
  }

  /// Says why the command opened more conflicts than the person named. Empty if it opened no others.
  static func text(traded report: ReopenedConflicts) -> TerminalText {
    if report.traded.isEmpty { return "" }
    let rows = report.traded.prefix(10).map { "\($0.id.text.prefix(8)) \($0.table) [\(Words.key($0.key))]" }
    return """
      These were decided together with it, and their rows exchanged values that only one row may have: \
      \(rows.joined(separator: ", ")).

      """
  }

  private static func text(_ report: ReopenedConflicts, _ command: ParsedCommand) -> TerminalText {
    let opened = Words.count(report.conflicts.count, "conflict")
    var text: TerminalText = "\(command.dryRun ? "Would open" : "Opened") \(opened) again.\n"
    text += Self.text(traded: report)
    if !report.rows.isEmpty {
      text += "Rows with the values from before the decisions: \(Words.tables(report.rows)).\n"
    }
    if report.left > 0 {
      text += """
        \(Words.count(report.left, "row")) with a decided value stay as they are: they were changed since, or other \
        rows need them. conflicts show has the values of all sides.

        """
    }
    if report.forgotten > 0 {
      text += """
        \(Words.count(report.forgotten, "decided row")) stay as they are: the history of the decision is forgotten \
        (compact), or the table left the dataset. Decide again, or change the rows yourself.

        """
    }
    return text + "Next: satchel-hub conflicts\n"
  }
}
