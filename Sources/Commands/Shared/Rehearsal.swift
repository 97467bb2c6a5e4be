import SatchelJSON
import SatchelRows
import SatchelValues
import SatchelWorkspace

/// The effects of an import, in more words than the text of a real import.
enum Rehearsal {
  /// Adds to an import's answer the rows that change and the conflicts that arise. The text gets them only in a dry
  /// run.
  static func extend(
    _ text: TerminalText, _ json: JSONValue, _ verdict: Verdict, by tally: RowTally, _ found: [ConflictRecord],
    _ command: ParsedCommand
  ) -> ImportRounds.Told {
    .init(
      text: text + (command.dryRun ? Self.text(tally, found) : ""),
      json: .object((json.objectValue ?? []) + members(tally, found)), isTaken: verdict.isTaken)
  }

  private static func text(_ tally: RowTally, _ found: [ConflictRecord]) -> TerminalText {
    var text: TerminalText = ""
    if !tally.tables.isEmpty {
      var table = TextTable(["TABLE", .right("INSERTED"), .right("UPDATED"), .right("DELETED")])
      for (name, counts) in tally.tables {
        table.add([name.text, String(counts.inserted), String(counts.updated), String(counts.deleted)])
      }
      text += table.text(width: nil)
    }
    for record in found {
      text +=
        "Conflict: \(record.kind.rawValue) \(record.table) [\(Words.key(record.key))], \(record.state.rawValue)\n"
    }
    return text
  }

  static func json(_ tally: RowTally) -> JSONValue {
    .object(
      tally.tables.map { name, counts in
        .init(
          name: name.text,
          value: [
            "inserted": .integer(Int64(counts.inserted)), "updated": .integer(Int64(counts.updated)),
            "deleted": .integer(Int64(counts.deleted)),
          ])
      })
  }

  private static func members(_ tally: RowTally, _ found: [ConflictRecord]) -> [JSONValue.Member] {
    [
      .init(name: "rows", value: json(tally)),
      .init(
        name: "found",
        value: .array(
          found.map(ConflictView.found))),
    ]
  }
}
