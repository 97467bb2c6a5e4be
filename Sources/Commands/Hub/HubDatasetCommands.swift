import SatchelDataset
import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelValues

/// The versions of the dataset: its tables, its rules, and which devices have which version.
extension HubTool {
  static var datasets: [Command] { [checkDataset, applyDataset, showDataset] }

  private static var checkDataset: Command {
    Command(
      ["dataset", "check"], summary: "check a definition against a database, without a hub",
      discussion: """
        Makes the checks of init and changes nothing: whether the definition is right, whether it fits the database, \
        and what may surprise later. Prints for each table how its rules are understood. For the next version of a \
        hub's dataset use: dataset apply --dry-run.
        """,
      arguments: [
        ArgumentSpec("FILE", help: "the definition (JSON)"),
        ArgumentSpec("DATABASE", help: "the SQLite database that the app writes"),
      ],
      examples: [Example("satchel-hub dataset check survey.json survey.sqlite", "Before init.")]
    ) { command, context in
      let source = try context.platform.files.read(
        command.path(command.argument("FILE")), limit: DatasetDefinition.maximumBytes)
      let definition = try DatasetDefinition(json: source)
      let check = InitCheck(definition, database: command.path(command.argument("DATABASE")), defaults: .ofNewHub)
      try check.run()
      let (rules, warnings) = (try check.summaries(), try check.warnings())
      let words: TerminalText = "The definition fits the database.\n"
      return Answer(
        words + RuleText.table(rules) + FindingText.notes(warnings),
        [
          "dataset": .string(definition.name), "version": .integer(definition.version),
          "understood": RuleText.json(rules),
          "warnings": FindingText.json(warnings),
        ])
    }
  }

  private static var applyDataset: Command {
    Command(
      ["dataset", "apply"], summary: "bring hub and devices to the next version of the dataset",
      discussion: """
        Checks the new definition as init does, runs the migration, and begins to capture the tables of the \
        definition, all in one transaction. The next bundle for each device carries the definition and the migration. \
        Devices with an older version continue to deliver in that version. Rows that the migration writes travel as \
        the hub's own changes. A table that the new definition does not name stays in the database, and is no longer \
        kept in step. The command also shows how many rows users get and lose. At a terminal it shows this before it \
        changes anything, and asks if users lose rows. If the definition does not say who sees rows that name no \
        parent, the rule of the former version stays.

        With --migrated, the app's own tool has changed the hub's tables already. Then the migration is not run here. \
        It is recorded for the devices. The tables must be as the new definition demands. Rows that users get and lose \
        are not counted then, so at a terminal the command always asks.
        """,
      arguments: [ArgumentSpec("FILE", help: "the new definition (JSON), with the next version number")],
      options: [
        OptionSpec(
          "migration", kind: .value("FILE"), help: "SQL that changes the tables, at the hub and on each device"),
        OptionSpec("migrated", help: "the hub's tables are changed already: run the migration on the devices only"),
        Confirmation.yes,
      ],
      examples: [
        Example(
          "satchel-hub dataset apply survey-2.json --migration survey-2.sql --dry-run", "Shows what would change."),
        Example("satchel-hub dataset apply survey-2.json --migration survey-2.sql", "Brings in the second version."),
        Example(
          "satchel-hub dataset apply survey-2.json --migration survey-2.sql --migrated",
          "After the app's own tool, such as Django's migrate, changed the hub's database."),
      ], changesData: true
    ) { command, context in
      let files = context.platform.files
      let source = try files.read(command.path(command.argument("FILE")), limit: DatasetDefinition.maximumBytes)
      let script = try command.value("migration").map {
        try files.read(command.path($0), limit: Migration.maximumBytes + 1)
      }
      let state: HubTables = command.flag("migrated") ? .migrated : .former
      if state == .migrated { try Confirmation.ask("\(notCounted) Go on?", command, context) }
      let counted = try state == .former ? rehearsed(source, script, command, context) : nil
      let report = try open(command, context).applyDataset(
        source, migration: script, to: state, counting: counted == nil ? .counted : .skipped)
      let effect =
        try counted ?? report.preview.map { try ScopePreviewText(asking: $0.ofMovedDevices, command, context) }
      var answer = Answer(
        text(report, effect?.answer ?? "\(notCounted)\n", isDone: !command.dryRun), members(report))
      answer.members.append(.init(name: "effect", value: effect?.json ?? .null))
      return answer
    }
  }

  private static let notCounted: TerminalText =
    "The effect on users was not counted, because the tables were changed before."

  /// Shows the effect on users, and asks if they lose rows. For this, the new version is applied and rolled back.
  /// Returns nil if no person can be asked.
  private static func rehearsed(
    _ source: [UInt8], _ script: [UInt8]?, _ command: ParsedCommand, _ context: CommandContext
  ) throws -> ScopePreviewText? {
    guard Confirmation.isAsked(command, context) else { return nil }
    let hub = try HubWorkspace.open(
      command.directory, platform: context.platform, runMode: .dryRun, passwords: command.passwords(context))
    return try hub.applyDataset(source, migration: script).preview.map {
      try ScopePreviewText(asking: $0.ofMovedDevices, command, context)
    }
  }

  private static func text(_ report: VersionReport, _ effect: TerminalText, isDone: Bool) -> TerminalText {
    var text: TerminalText =
      "The dataset \(report.dataset) \(isDone ? "has" : "would have") version \(report.version).\n"
    var table = TextTable(["", ""])
    func add(_ what: String, _ words: String) { table.add([what, words]) }
    for name in report.change.added { add("Added", name.text) }
    for name in report.change.removed { add("Taken out", "\(name): its rows stay, and are kept in step no longer") }
    for (name, words) in report.columns { add("Columns", "\(name) \(words)") }
    for (name, members) in report.change.rules { add("Rules", "\(name): \(members.joined(separator: ", "))") }
    if !report.change.members.isEmpty { add("Rules", report.change.members.joined(separator: ", ")) }
    for (name, counts) in report.tally.tables {
      add("Rows", "\(name): \(counts.inserted) inserted, \(counts.updated) updated, \(counts.deleted) deleted")
    }
    text += table.text(width: nil) + RuleText.table(report.rules) + effect + FindingText.notes(report.warnings)
    let count = Words.count(report.devices.count, "device")
    if isDone, !report.devices.isEmpty { text += "\(count) yet to receive it. Next: satchel-hub emit --all\n" }
    return text
  }

  private static func members(_ report: VersionReport) -> KeyValuePairs<String, JSONValue> {
    [
      "dataset": .string(report.dataset), "version": .integer(report.version),
      "added": .strings(report.change.added.map(\.text)), "removed": .strings(report.change.removed.map(\.text)),
      "columns": .object(report.columns.map { .init(name: $0.table.text, value: .string($0.words)) }),
      "rules": .object(report.change.rules.map { .init(name: $0.table.text, value: .strings($0.members)) }),
      "members": .strings(report.change.members), "rows": Rehearsal.json(report.tally),
      "devices": .strings(report.devices), "warnings": FindingText.json(report.warnings),
      "understood": RuleText.json(report.rules),
    ]
  }

  private static var showDataset: Command {
    Command(
      ["dataset", "show"], summary: "show the dataset's definition, and which devices have which version",
      discussion:
        """
        Prints the present definition as its author wrote it, with the references that a GeoPackage declares, and for \
        each device the version that it is known to have.
        """,
      examples: [Example("satchel-hub dataset show", "Shows which devices have the new version.")]
    ) { command, context in
      let report = try open(command, context).dataset()
      let definition = report.definition
      let source = String(decoding: definition.source, as: UTF8.self)
      var text = TerminalText(lines: source)
      if !source.hasSuffix("\n") { text += "\n" }
      let since = context.platform.clock.localText(milliseconds: report.versions.last?.at ?? 0)
      text += "\nVersion \(definition.version), since \(since).\n"
      if !report.devices.isEmpty {
        var table = TextTable(["DEVICE", "USER", .right("VERSION"), .right("ON ITS WAY")])
        for device in report.devices {
          table.add([
            device.device, device.user, device.version.map(String.init) ?? "-", device.sent.map(String.init) ?? "-",
          ])
        }
        text += table.text(width: nil)
      }
      return Answer(
        text,
        [
          "dataset": .string(definition.name), "version": .integer(definition.version),
          "definition": try JSONValue.parse(definition.source),
          "versions": .array(report.versions.map { ["version": .integer($0.version), "at": .time($0.at)] }),
          "devices": .array(
            report.devices.map {
              [
                "device": .string($0.device), "user": .string($0.user), "version": .optional($0.version),
                "sent": .optional($0.sent),
              ]
            }),
        ])
    }
  }
}
