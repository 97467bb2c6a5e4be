import SatchelDevice
import SatchelPlatform

extension DeviceTool {
  static var compact: Command {
    Command(
      ["compact"], summary: "give up old exports that the hub has",
      discussion: """
        Removes exports from bundles/sent that the hub acknowledged and that are older than a year. Such files are \
        needed only if the hub is lost and comes back from a backup made before them. So exports that the hub's last \
        backup does not contain stay too. Undelivered exports and the entries of the log stay.

        From files/ it removes files that came from the hub and that no row names any more. The app's own files are \
        left alone.

        The doctor reads bundles/archive to find unseen changes. That folder starts again with each full bundle from \
        the hub.
        """,
      options: [
        OptionSpec(
          "older-than", kind: .value("DAYS"),
          help:
            """
            keep exports that are younger (\(DeviceWorkspace.keptDays)); no less than the age of the hub's oldest \
            backup
            """
        ),
        OptionSpec("without-backup", help: "also exports that no backup of the hub contains"),
        OptionSpec("shrink", help: "give unused space back to the disk; no program can use the database meanwhile"),
      ],
      examples: [
        Example("satchel compact --dry-run", "Shows which files would go."),
        Example("satchel compact --older-than 90", "On a small card."),
      ], changesData: true
    ) { command, context in
      let workspace = try open(command, context)
      let report = try workspace.compact(
        olderThan: command.days("older-than") ?? DeviceWorkspace.keptDays,
        unbacked: command.flag("without-backup") ? .deleted : .kept, shrinking: command.flag("shrink"))
      var text: TerminalText =
        """
        \(command.dryRun ? "Would give up" : "Gave up") \(Words.count(report.exports, "export")), \
        \(report.bytes >> 10) KiB.\n
        """
      if report.unbacked > 0 {
        text +=
          """
          Kept \(Words.count(report.unbacked, "old export")): no backup of the hub is known to contain them. The next \
          bundle after a backup (satchel-hub backup FILE) changes that. Or add --without-backup.\n
          """
      }
      text += AttachedWords.removed(report.attached, command) + Words.notShrunk(report.notShrunk)
      if report.archived > 100 {
        text +=
          """
          bundles/archive keeps \(report.archived) files until a full bundle comes: satchel-hub emit --device \
          \(workspace.configuration.name) --full\n
          """
      }
      return Answer(
        text,
        [
          "exports": .integer(Int64(report.exports)), "bytes": .integer(report.bytes),
          "unbacked": .integer(Int64(report.unbacked)), "archived": .integer(Int64(report.archived)),
          "attached": .integer(Int64(report.attached.count)), "attached_bytes": .integer(report.attached.bytes),
          "not_shrunk": .optional(report.notShrunk),
          "database": ["before": .integer(report.database.before), "after": .integer(report.database.after)],
        ])
    }
  }
}
