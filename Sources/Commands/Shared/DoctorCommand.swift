import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The command `doctor` of both tools.
enum DoctorCommand {
  static func doctor(
    tool: String, options more: [OptionSpec] = [],
    _ look: @escaping @Sendable (_ command: ParsedCommand, _ context: CommandContext) throws -> DoctorReport
  ) -> Command {
    Command(
      ["doctor"], summary: "find faults here, and changes that capture did not see",
      discussion: """
        Compares every row with its last known state, from the signed bundles, and checks capture, the database file, \
        folders and keys. Changes no row, and ends with 1 if something needs to be done. After a device's doctor, the \
        next export carries digests of all rows, and the hub checks them.

        With --repair, capture is made again if an app dropped it or changed its tables. Every unseen change is found \
        and travels as any other. A file that another program put in the place of a device's database becomes the \
        device's database in the same way. If a table or file was recreated, its missing rows are put back, unless \
        --deleted says that they were deleted.
        """,
      options: [
        OptionSpec("repair", help: "repair what can be repaired, and record the unseen changes"),
        OptionSpec(
          "deleted", help: "rows missing from a recreated table or file were deleted: do not put them back"),
      ] + more,
      examples: [
        Example("\(tool) doctor", "Checks this workspace."),
        Example("\(tool) doctor --repair", "After an app changed its tables or dropped triggers."),
      ], changesData: true
    ) { command, context in
      let report = try look(command, context)
      return Answer(text(report, tool: tool), members(report), code: report.isWell ? .done : .failed)
    }
  }

  static func text(_ report: DoctorReport, tool: String) -> TerminalText {
    var lines: [String] = []
    for finding in report.findings {
      let isMended = report.isRepaired && finding.hint == nil
      lines.append(finding.message + (isMended ? " Mended." : ""))
      if let hint = finding.hint { lines.append("  \(hint)") }
    }
    for table in report.unseen {
      lines.append(
        "\(table.table): \(table.inserted) inserted, \(table.updated) updated, \(table.deleted) deleted unseen."
          + (report.isRepaired ? " Taken up." : ""))
    }
    for table in report.restored {
      lines.append(
        report.isRepaired
          ? "\(table.table): put back \(Words.count(table.count, "row")) that the table lacked."
          : """
          \(table.table): \(Words.count(table.count, "row")) known but missing, because the table was recreated: a \
          repair puts them back. If they were deleted, add --deleted.
          """
      )
    }
    if lines.isEmpty { return "All is well.\n" }
    let isToRepair = report.findings.contains { $0.hint == nil } || !report.unseen.isEmpty
    if !report.isRepaired, isToRepair, !report.findings.contains(where: preventsRepair) {
      if report.mayBeMigrated { lines.append("Next: \(WorkspaceError.migrationStep)") }
      lines.append("\(report.mayBeMigrated ? "If not" : "Next"): \(tool) doctor --repair")
      if report.hasOtherColumns {
        lines.append("Or, to have the columns of the hub's tables again: \(tool) doctor --repair --tables")
      }
    }
    return lines.map { "\($0)\n" as TerminalText }.joined()
  }

  /// Whether a person must correct this finding before a repair is possible. The finding's hint says how.
  private static func preventsRepair(_ finding: Finding) -> Bool {
    finding.hint != nil && [.notCaptured, .replaced, .schemaDrift].contains(finding.code)
  }

  private static func members(_ report: DoctorReport) -> KeyValuePairs<String, JSONValue> {
    [
      "well": .bool(report.isWell), "repaired": .bool(report.isRepaired),
      "findings": FindingText.json(report.findings),
      "unseen": .object(
        report.unseen.map { table in
          JSONValue.Member(
            name: table.table.text,
            value: [
              "inserted": .integer(Int64(table.inserted)), "updated": .integer(Int64(table.updated)),
              "deleted": .integer(Int64(table.deleted)),
            ])
        }),
      "restored": .object(
        report.restored.map { JSONValue.Member(name: $0.table.text, value: .integer(Int64($0.count))) }),
    ]
  }
}
