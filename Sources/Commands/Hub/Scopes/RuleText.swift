import SatchelHub
import SatchelJSON

/// How the hub understands the rules of a dataset: as text with one line for each table, and as JSON.
enum RuleText {
  static func table(_ rules: [RuleSummary]) -> TerminalText { sheet(rules).text + notes(rules) }

  /// The table of the rules, without the notes.
  static func sheet(_ rules: [RuleSummary]) -> StatusSheet.Table {
    StatusSheet.Table(
      titles: ["Table", "Rows", "A user sees", "Without parent", "And may change"], numbers: [1],
      rows: rules.map { [$0.table.text, "\($0.rows)", $0.sees, orphans($0), $0.changes] })
  }

  /// Sentences about rules that may surprise.
  static func notes(_ rules: [RuleSummary]) -> TerminalText {
    let everybody = rules.filter(\.isForEverybody).map(\.table.text).joined(separator: ", ")
    return (everybody.isEmpty ? "" : "Every user sees all rows of: \(everybody).\n")
      + rules.filter { $0.withoutParent > 0 }.map(note).joined()
      + rules.flatMap(\.scans).map { "Slow with many rows: \($0)\n" }.joined()
  }

  /// Who sees rows that name no parent.
  private static func orphans(_ rule: RuleSummary) -> String {
    switch rule.orphans {
    case nil: ""
    case .hidden: "hidden"
    case .visible: rule.hasOwnRule ? "by its rule" : "every user"
    }
  }

  /// A note about rows that name no parent.
  private static func note(_ rule: RuleSummary) -> TerminalText {
    let isOne = rule.withoutParent == 1
    let rows = "\(Words.count(Int(rule.withoutParent), "row")) of \(rule.table)"
    let verb = isOne ? "names" : "name"
    if rule.orphans == .hidden {
      return """
        Note: no user sees \(rows) that \(verb) no parent. To show \(isOne ? "it" : "them"), name a parent, or say \
        "orphans": "visible".

        """
    }
    return rule.hasOwnRule
      ? "Note: \(rows) \(verb) no parent: only \"visible\" decides who sees \(isOne ? "it" : "them").\n"
      : """
      Note: every user sees \(rows) that \(verb) no parent. To hide \(isOne ? "it" : "them"), say "orphans": "hidden".

      """
  }

  static func json(_ rules: [RuleSummary]) -> JSONValue {
    .array(
      rules.map {
        [
          "table": .string($0.table.text), "rows": .integer($0.rows), "sees": .string($0.sees),
          "changes": .string($0.changes), "without_parent": .integer($0.withoutParent),
          "orphans": .optional($0.orphans?.rawValue),
          "everybody": .bool($0.isForEverybody), "scans": .strings($0.scans),
        ]
      })
  }
}
