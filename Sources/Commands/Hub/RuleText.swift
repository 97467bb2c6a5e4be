import SatchelHub
import SatchelJSON

/// How the hub understands the rules of a dataset: one line for each table, and as a member of the document.
enum RuleText {
  static func table(_ rules: [RuleSummary]) -> TerminalText {
    var table = TextTable(["TABLE", .right("ROWS"), "A USER SEES", "AND MAY CHANGE"])
    for rule in rules { table.add([rule.table.text, "\(rule.rows)", rule.sees, rule.changes]) }
    let open = rules.filter { $0.withoutParent > 0 }.map { rule in
      let rows = Words.count(Int(rule.withoutParent), "row")
      return
        "Note: every user sees \(rows) of \(rule.table) that \(rule.withoutParent == 1 ? "names" : "name") no parent.\n"
        as TerminalText
    }
    return table.text(width: nil) + open.joined()
  }

  static func json(_ rules: [RuleSummary]) -> JSONValue {
    .array(
      rules.map {
        [
          "table": .string($0.table.text), "rows": .integer($0.rows), "sees": .string($0.sees),
          "changes": .string($0.changes), "without_parent": .integer($0.withoutParent),
        ]
      })
  }
}
