import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelRows
import SatchelValues

/// The commands that show and explain what a user sees.
extension HubTool {
  static var scopes: [Command] { [showScope, explainScope] }

  private static var showScope: Command {
    Command(
      ["scope", "show"], summary: "count the rows that a user may see",
      discussion: "Shows for each table how many of its rows the user's next full bundle would hold.",
      arguments: [ArgumentSpec("USER", help: "the user's name")],
      examples: [Example("satchel-hub scope show ann", "Counts the rows that Ann sees.")]
    ) { command, context in
      let summary = try open(command, context).scope(of: command.argument("USER"))
      var table = TextTable(["TABLE", .right("SEEN"), .right("OF")])
      for entry in summary.tables { table.add([entry.table.text, String(entry.visible), String(entry.all)]) }
      return Answer(
        table.text(width: nil),
        [
          "user": .string(summary.user.name),
          "tables": .object(
            summary.tables.map {
              .init(name: $0.table.text, value: ["seen": .integer(Int64($0.visible)), "of": .integer($0.all)])
            }),
        ])
    }
  }

  private static var explainScope: Command {
    Command(
      ["scope", "explain"], summary: "say why a user sees a row, or does not",
      discussion: "Shows each condition that the dataset's rules make for the row, and whether it holds for this user.",
      arguments: [
        ArgumentSpec("USER", help: "the user's name"), ArgumentSpec("TABLE", help: "the table's name"),
        ArgumentSpec("KEY", help: "the row's key; a JSON array if it has several columns"),
      ],
      examples: [Example("satchel-hub scope explain ann reviews r2", "Shows why this row is not on Ann's tablet.")]
    ) { command, context in
      let found = try open(command, context).explainScope(
        of: command.argument("USER"), table: command.argument("TABLE"), key: command.argument("KEY"))
      var text: TerminalText =
        """
        \(found.table) [\(Words.key(found.key))] is \(found.isVisible ? "" : "not ")to be seen by \
        \(command.argument("USER"))
        """
      text += found.mayWrite ? ", who may change it.\n" : ", who may not change it.\n"
      for condition in found.conditions {
        text += "  \(condition.holds ? "yes" : "no ")  \(condition.words)\n"
      }
      return Answer(
        text,
        [
          "table": .string(found.table.text), "key": .key(found.key), "visible": .bool(found.isVisible),
          "write": .bool(found.mayWrite),
          "conditions": .array(found.conditions.map { ["words": .string($0.words), "holds": .bool($0.holds)] }),
        ])
    }
  }
}
