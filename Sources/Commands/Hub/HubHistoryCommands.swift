import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The commands that explain and revert changes.
extension HubTool {
  static var history: [Command] { [rowHistory, revert, audit] }

  private static var rowHistory: Command {
    Command(
      ["history"], summary: "explain why a row is as it is",
      discussion:
        """
        Shows each change of a row that the hub committed (what, who, on which device, when), and the conflicts of \
        the row.
        """,
      arguments: [
        ArgumentSpec("TABLE", help: "the table's name"),
        ArgumentSpec("KEY", help: "the row's key; a JSON array if it has several columns"),
      ],
      examples: [
        Example("satchel-hub history reviews r1", "Shows how the row got its values."),
        Example("satchel-hub history bookings '[\"12\",\"2026-05-01\"]'", "A key of two columns."),
      ]
    ) { command, context in
      let hub = try open(command, context)
      let history = try hub.history(of: command.argument("TABLE"), key: command.argument("KEY"))
      return Answer(text(history, context), members(history, try hub.layers()))
    }
  }

  private static func text(_ history: RowHistory, _ context: CommandContext) -> TerminalText {
    let clock = context.platform.clock
    var text: TerminalText = "\(history.table) [\(Words.key(history.key))]\n"
    if history.forgotten > .zero {
      text += "The history up to the hub's change \(history.forgotten) is forgotten (satchel-hub compact).\n"
    } else if history.entries.isEmpty, history.row != nil {
      text += "It was there when the hub began, and has not changed since.\n"
    }
    for row in history.renamed {
      text += "A row that \(row.device) made under this key is [\(Words.key(row.key))] here.\n"
    }
    for entry in history.entries {
      let who = "\(entry.user)\(entry.device.map { " on \($0)" } ?? " at the hub")"
      text += "\n\(clock.localText(milliseconds: entry.stamp.milliseconds)) \(entry.operation.rawValue) by \(who)"
      text += entry.bundle.map { ", bundle \($0.text.prefix(8))" } ?? ""
      text += ", taken \(clock.localText(milliseconds: entry.at))\n"
      text += lines(entry).map { "  \($0)\n" as TerminalText }.joined()
    }
    if !history.conflicts.isEmpty {
      text += "\nConflicts\n"
      for conflict in history.conflicts {
        let decision = conflict.decision.map { ", \($0.made.rawValue) by \($0.by)" } ?? ""
        let record = conflict.record
        text +=
          """
            \(record.id.text.prefix(8)) \(record.kind.rawValue), \(record.state.rawValue)\(decision), change by \
          \(record.user)\n
          """
      }
    }
    let row = history.row.map { $0.map { "  \($0.name): \(Words.value($0.value))\n" as TerminalText }.joined() }
    return text + "\nNow\n" + (row ?? "  gone\n")
  }

  /// One line for each column, with its values before and after the change.
  static func lines(_ entry: RowHistory.Entry) -> [String] {
    switch entry.operation {
    case .insert: (entry.set ?? []).map { "+ \($0.name): \(Words.value($0.value))" }
    case .delete: (entry.was ?? []).map { "- \($0.name): \(Words.value($0.value))" }
    case .update:
      zip(entry.was ?? [], entry.set ?? []).map { was, set in
        // The values are equal if the change inserted a row that was there already.
        was == set
          ? "= \(set.name): \(Words.value(set.value))"
          : "\(was.name): \(Words.value(was.value)) -> \(Words.value(set.value))"
      }
    }
  }

  private static func members(_ history: RowHistory, _ layers: [Layer]) -> KeyValuePairs<String, JSONValue> {
    [
      "table": .string(history.table.text), "key": .key(history.key), "row": .fields(history.row),
      "renamed": .array(history.renamed.map { ["device": .string($0.device), "key": .key($0.key)] }),
      "changes": .array(
        history.entries.map { entry in
          [
            "cursor": .integer(entry.cursor.rawValue), "operation": .string(entry.operation.rawValue),
            "set": .fields(entry.set),
            "was": .fields(entry.was), "device": .optional(entry.device), "user": .string(entry.user),
            "stamp": .string(entry.stamp.hexadecimal), "bundle": .optional(entry.bundle?.text), "at": .time(entry.at),
          ]
        }), "conflicts": .array(history.conflicts.map { ConflictView(conflict: $0, layers: layers).json() }),
      "forgotten": .integer(history.forgotten.rawValue),
    ]
  }

  private static var revert: Command {
    Command(
      ["revert"], summary: "revert the changes of a bundle, or of a device since a time",
      discussion: """
        Writes the inverse of a bundle's changes as new changes of the hub, which travel like any other. If a value \
        was changed again since, the newer value stays, and the value from before the bundle becomes an open conflict. \
        Changes of the bundle that still wait, for a decision or for another row, are given up. Attached files stay as \
        they are.

        With --device and --since, all bundles of the device that came since then are reverted, or none.
        """,
      arguments: [ArgumentSpec("BUNDLE", .optional, help: "DEVICE/NUMBER, or the bundle's id or its beginning")],
      options: [
        OptionSpec("device", kind: .value("NAME"), help: "the device whose bundles are reverted"),
        OptionSpec("since", kind: .value("TIME"), help: "when they came: a local day, or a time: 2026-05-01T08:00:00Z"),
      ],
      examples: [
        Example("satchel-hub revert tablet-1/3", "The tablet's third bundle was a mistake."),
        Example("satchel-hub revert --device tablet-1 --since 2026-05-01 --dry-run", "Shows what would be reverted."),
      ],
      changesData: true
    ) { command, context in
      let report = try revert(command, context)
      let count = report.rows.reduce(0) { $0 + $1.count }
      var text: TerminalText = report.bundles.count > 1 ? "\(report.bundles.count) bundles reverted.\n" : ""
      text +=
        "\(Words.count(count, "row")) as before\(count > 0 ? " (\(Words.tables(report.rows)))" : "").\n"
      if report.conflicts > 0 {
        text +=
          """
          \(Words.count(report.conflicts, "row")) to be decided, because others changed \
          \(report.conflicts == 1 ? "it" : "them") since, or other rows need \(report.conflicts == 1 ? "it" : "them"): \
          satchel-hub conflicts\n
          """
      }
      if report.givenUp > 0 { text += "\(Words.count(report.givenUp, "change")) that waited given up.\n" }
      if report.areFilesNamed { text += "Attached files stay as they are.\n" }
      return Answer(
        text,
        [
          "bundle": .string(report.bundles[0].text), "bundles": .strings(report.bundles.map(\.text)),
          "rows": .tables(report.rows),
          "conflicts": .integer(Int64(report.conflicts)), "given_up": .integer(Int64(report.givenUp)),
        ])
    }
  }

  private static func revert(_ command: ParsedCommand, _ context: CommandContext) throws -> RevertReport {
    let hub = try open(command, context)
    switch (command.arguments("BUNDLE").first, command.value("device"), command.value("since")) {
    case (let bundle?, nil, nil): return try hub.revert(bundle)
    case (nil, let device?, let text?):
      guard let time = context.platform.clock.beginning(text) else {
        throw UsageError("--since takes a day, or a time with its zone, such as 2026-05-01 or 2026-05-01T08:00:00Z")
      }
      return try hub.revert(device: device, since: time)
    default: throw UsageError("name a BUNDLE, or a device and a time: --device NAME --since TIME")
    }
  }

  private static var audit: Command {
    Command(
      ["audit"], summary: "verify the archive again, and compare ledger and log with it",
      discussion: """
        Checks the signature and every digest of each imported bundle, that the bundles of each device form one \
        history, and that the ledger and the log agree with them. Verifies the record of the operators' acts. Changes \
        nothing. Exit code 1: something does not agree.
        """,
      examples: [Example("satchel-hub audit", "Checks that everything is still as it was signed.")]
    ) { command, context in
      let report = try open(command, context).audit()
      var text = report.findings.map { finding in
        ("\(finding.message)\n" as TerminalText) + (finding.hint.map { "  \($0)\n" } ?? "")
      }.joined()
      text +=
        """
        \(Words.count(report.verified, "bundle")) of \(Words.count(report.devices, "device")) verified, \
        \(Words.count(report.findings.count, "finding")).\n
        """
      if report.acts > 0 { text += "\(Words.count(report.acts, "act")) of operators verified.\n" }
      return Answer(
        text,
        [
          "verified": .integer(Int64(report.verified)), "devices": .integer(Int64(report.devices)),
          "acts": .integer(Int64(report.acts)),
          "findings": .strings(report.findings.map(\.message)),
        ], code: report.findings.isEmpty ? .done : .failed)
    }
  }
}
