import SatchelDevice
import SatchelJSON
import SatchelPlatform
import SatchelWorkspace

extension DeviceTool {
  static var importBundles: Command {
    Command(
      ["import"], summary: "bring the database to what the hub's bundles say",
      discussion: """
        Verifies each file and applies it in one transaction, with this device's own changes on top. A bundle that was imported \
        already changes nothing. The first bundle of a device that asked to join needs the fingerprint of the hub's key, \
        as the hub's operator reads it out.
        """,
      arguments: [ArgumentSpec("FILE", .many, help: "bundles from the hub; - for standard input")],
      options: [OptionSpec("fingerprint", kind: .value("WORDS"), help: "of the hub's key; for the first bundle only")],
      examples: [Example("satchel import /media/stick/survey-hub-tablet-1-4.satchel", "What the hub sent.")], changesData: true
    ) { command, context in
      let workspace = try open(command, context)
      return try ImportRounds.run(command.arguments("FILE")) { file in
        let report = try Streams.with(file, command, context, in: workspace.folder) {
          try workspace.importBundle($0, fingerprint: command.value("fingerprint"))
        }
        return (
          text(report) + (command.dryRun ? Rehearsal.text(report.tally, report.found) : ""),
          .object((json(report).objectValue ?? []) + Rehearsal.members(report.tally, report.found))
        )
      }
    }
  }

  private static func text(_ report: ImportReport) -> String {
    if let waiting = report.waiting { return Volumes.text(report.manifest.number, waiting) }
    let number = report.manifest.wholeNumber
    guard report.verdict == .imported else { return "Bundle \(number) of the hub was imported before: nothing changed.\n" }
    var text = "Bundle \(number) of the hub: \(Words.count(report.written, "row")) written, \(report.removed) removed.\n"
    if !report.rekeyed.isEmpty {
      text += "\(Words.count(report.rekeyed.count, "row")) of yours got new keys, because others had theirs: satchel_rekeyed\n"
    }
    if report.conflicts > 0 { text += "\(Words.count(report.conflicts, "change")) of yours met another one: satchel conflicts\n" }
    if report.told > 0 {
      text += "The hub could not take \(Words.count(report.told, "change")) of yours as it was: satchel conflicts --all\n"
    }
    return text
  }

  private static func json(_ report: ImportReport) -> JSONValue {
    if let waiting = report.waiting {
      return [
        "verdict": .string(report.verdict.rawValue), "part": .integer(report.manifest.number), "waiting": Volumes.json([waiting]),
      ]
    }
    return [
      "verdict": .string(report.verdict.rawValue), "number": .integer(report.manifest.wholeNumber),
      "written": .integer(Int64(report.written)), "removed": .integer(Int64(report.removed)),
      "conflicts": .integer(Int64(report.conflicts)), "told": .integer(Int64(report.told)),
      "rekeyed": .array(
        report.rekeyed.map { ["table": .string($0.table.text), "key": .integer($0.old), "to": .integer($0.new)] }),
    ]
  }
}
