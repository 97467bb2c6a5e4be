import SatchelHub
import SatchelJSON

/// How the hub understands the rules of a dataset: one line for each table, and as a member of the document.
enum RuleText {
  static func table(_ rules: [RuleSummary]) -> TerminalText {
    var table = TextTable(["TABLE", .right("ROWS"), "A USER SEES", "AND MAY CHANGE"])
    for rule in rules { table.add([rule.table.text, "\(rule.rows)", rule.sees, rule.changes]) }
    return table.text(width: nil) + rules.filter { $0.withoutParent > 0 }.map(note).joined()
  }

  /// A note about rows that no parent hides.
  private static func note(_ rule: RuleSummary) -> TerminalText {
    let isOne = rule.withoutParent == 1
    let rows = "\(Words.count(Int(rule.withoutParent), "row")) of \(rule.table)"
    let verb = isOne ? "names" : "name"
    return rule.hasOwnRule
      ? "Note: \(rows) \(verb) no parent: only \"visible\" decides who sees \(isOne ? "it" : "them").\n"
      : "Note: every user sees \(rows) that \(verb) no parent.\n"
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
