import SatchelDevice
import SatchelJSON
import SatchelRows
import SatchelValues
import SatchelWorkspace

/// Words about this device's own rows that the hub has not accepted: which rows, and why.
enum KeptWords {
  private static let mostShown = 10

  /// The part of an import's answer about these rows.
  static func text(_ rows: [KeptRow]) -> TerminalText {
    let (waiting, gone) = (rows.filter(\.isInTable), rows.filter { !$0.isInTable })
    var text: TerminalText = ""
    if !gone.isEmpty {
      text += "\(Words.count(gone.count, "row")) of yours left the tables. The values are kept: satchel conflicts\n"
      text += lines(gone)
    }
    if !waiting.isEmpty {
      text +=
        "\(Words.count(waiting.count, "row")) of yours stayed here, and the hub's operator decides: satchel conflicts\n"
      text += lines(waiting)
    }
    return text
  }

  private static func lines(_ rows: [KeptRow]) -> TerminalText {
    let shown = rows.prefix(mostShown).map { row -> TerminalText in
      "  \(name(row)): \(ConflictView.explain(row.record))\n"
    }
    let rest = rows.count - shown.count
    return shown.joined() + (rest > 0 ? "  and \(rest) more\n" : "")
  }

  /// The rows, in one line of `status`.
  static func line(_ rows: [KeptRow]) -> String {
    let names = rows.prefix(mostShown).map(name)
    let rest = rows.count - names.count
    return names.joined(separator: ", ") + (rest > 0 ? ", and \(rest) more" : "")
  }

  private static func name(_ row: KeptRow) -> String {
    let label = row.label.map { " " + Words.short($0) } ?? ""
    return "\(row.record.table) [\(Words.key(row.record.key))]\(label)"
  }

  static func json(_ rows: [KeptRow]) -> JSONValue {
    .array(
      rows.prefix(RowTally.mostShown).map { row in
        [
          "conflict": .string(row.record.id.text), "kind": .string(row.record.kind.rawValue),
          "state": .string(row.record.state.rawValue), "table": .string(row.record.table.text),
          "key": .key(row.record.key), "label": .optional(row.label), "in_table": .bool(row.isInTable),
        ]
      })
  }
}
