import SatchelDataset
import SatchelHub
import SatchelJSON
import SatchelPlatform

extension HubTool {
  static var initialize: Command {
    Command(
      ["init"], summary: "make a hub's workspace for an existing database",
      discussion: """
        Makes the folder DIR with the hub's keys, and adds triggers to the database that record every change. It \
        stays in its place, and its tables stay as they are. Everything that Satchel adds has a name that begins with \
        satchel_. If the definition does not say who sees rows that name no parent, the hub's definition gets \
        "orphans": "hidden": no user sees them. Prints for each table how its rules are understood.
        """,
      arguments: [ArgumentSpec("DIR", help: "the folder to make")],
      options: [
        OptionSpec("dataset", kind: .value("FILE"), help: "the dataset's definition (JSON)", required: true),
        OptionSpec("database", kind: .value("FILE"), help: "the SQLite database that the app writes", required: true),
        OptionSpec("name", kind: .value("NAME"), help: "the hub's name: a-z, 0-9, - and _ (hub)"),
      ],
      examples: [Example("satchel-hub init hub --dataset survey.json --database survey.sqlite", "Makes a hub.")],
      changesData: true
    ) { command, context in
      let root = command.path(command.argument("DIR"))
      let database = command.path(command.value("database") ?? "")
      let definition = try context.platform.files.read(
        command.path(command.value("dataset") ?? ""), limit: DatasetDefinition.maximumBytes)
      let workspace = try HubWorkspace.create(
        root, definition: definition, database: database,
        name: command.value("name") ?? "hub", defaults: .ofNewHub,
        platform: context.platform, runMode: command.runMode)
      let check = InitCheck(try DatasetDefinition(json: definition), database: database, defaults: .ofNewHub)
      let (warnings, rules) = (try check.warnings(), try check.summaries())
      let told = RuleText.table(rules) + FindingText.notes(warnings)
      let members = FindingText.json(warnings)
      if command.dryRun {
        return Answer(
          "\(root) would be made; definition and database fit.\n\(told)",
          ["workspace": .string(root), "warnings": members, "understood": RuleText.json(rules)])
      }
      let status = try workspace.status()
      let rows = status.tables.reduce(0) { $0 + $1.rows }
      let text: TerminalText = """
        Made the hub's workspace \(root): the dataset \(workspace.configuration.dataset), \
        \(Words.count(status.tables.count, "table")), \(Words.count(rows, "row")).
        The fingerprint of the hub's key is \(status.fingerprint).
        \(told)Next: satchel-hub -C \(root) user add NAME

        """
      return Answer(
        text,
        [
          "workspace": .string(root), "dataset": .string(workspace.configuration.dataset),
          "id": .string(workspace.configuration.id.text),
          "tables": .tables(status.tables.map { (table: $0.table, count: Int($0.rows)) }),
          "fingerprint": .string(status.fingerprint), "warnings": members, "understood": RuleText.json(rules),
        ])
    }
  }
}
