import SatchelConflicts
import SatchelPlatform
import SatchelWorkspace

/// The content of `report`: the state, the next steps, and the tables behind them.
struct Report {
  /// One table of the report, or words if there is nothing to show.
  struct Section {
    let heading: String
    let table: StatusSheet.Table
    /// The words for an empty table.
    let ifEmpty: String
  }

  let title: String
  /// The local time when the report was made.
  let made: String
  let sheet: StatusSheet
  var sections: [Section] = []

  /// The most conflicts and bundles in a report.
  static let mostRows = 500

  private var all: [Section] {
    let facts = StatusSheet.Table(titles: ["What", "How"], rows: sheet.facts.map { [$0.name, $0.words] })
    let steps = StatusSheet.Table(
      titles: ["Order", "What to do"], rows: sheet.steps.enumerated().map { [String($0.offset + 1), $0.element] })
    return [
      Section(heading: "How it stands", table: facts, ifEmpty: ""),
      Section(heading: "What to do next", table: steps, ifEmpty: "Nothing."),
    ] + sections
  }

  /// The report as one file that has no scripts and loads nothing.
  var html: String {
    let content: [Markup] = all.map { section in
      section.table.rows.isEmpty
        ? "<h2>\(section.heading)</h2>\n<p>\(section.ifEmpty)</p>\n"
        : "<h2>\(section.heading)</h2>\n\(section.table.markup(caption: section.heading))"
    }
    return Page(title: title, content: "<p>Made on <time datetime=\"\(made)\">\(made)</time>.</p>\n\(content)").markup
      .text
  }

  /// The report with a line for each cell: the section, the row's first cell, the column, the text. If a cell has
  /// several lines, they are joined.
  var csv: String {
    func line(_ cell: String) -> String { cell.split(separator: "\n").joined(separator: "; ") }
    return CSV.text(
      [["section", "row", "column", "value"]]
        + all.flatMap { section in
          section.table.rows.flatMap { row in
            zip(section.table.titles, row).dropFirst().map { [section.heading, row[0], $0, line($1)] }
          }
        })
  }
}

extension Report.Section {
  /// Waiting conflicts, with the values of each side.
  /// - Parameter eachBatch: passes the conflicts to its argument in batches of whole units. The values of the rows are
  ///   in memory for one batch alone.
  static func conflicts(
    now: Int64, _ eachBatch: (_ body: ([StoredConflict]) throws -> Void) throws -> Void
  ) throws -> Report.Section {
    var rows: [[String]] = []
    var count = 0
    try eachBatch { batch in
      let (units, room) = (batch.units, Report.mostRows - rows.count)
      count += units.count
      rows += units.prefix(room).map { row(of: $0, now: now) }
    }
    let more = count > rows.count ? ", the first \(rows.count) of \(count)" : ""
    return Report.Section(
      heading: "Conflicts that wait" + more,
      table: .init(titles: ["Conflict", "State", "Row", "What happened", "User", "Noted", "Values"], rows: rows),
      ifEmpty: "No conflict waits for a decision.")
  }

  private static func row(of unit: ConflictUnit, now: Int64) -> [String] {
    let (conflict, record) = (unit.head, unit.head.record)
    return [
      String(record.id.text.prefix(8)), record.state.rawValue, Words.clipped(ConflictView.rows(of: unit)),
      ConflictView.explain(record), record.user, Words.age(of: conflict.noted, now: now),
      unit.members.flatMap { member in
        member.record.columns.map { ConflictView.sides(of: $0, in: member).string }
      }.joined(separator: "\n"),
    ]
  }

  static func refused(_ refused: [Quarantine.Refused]) -> Report.Section {
    Report.Section(
      heading: "Refused files",
      table: .init(
        titles: ["File", "Reason", "What it means"], rows: refused.map { [$0.file, $0.reason, $0.presentWords] }),
      ifEmpty: "No file was refused.")
  }

  /// - Parameters:
  ///   - entries: entries of the ledger, the newest first.
  ///   - clock: gives the local time of each entry.
  static func bundles(_ entries: [LedgerEntry], by clock: any WallClock) -> Report.Section {
    Report.Section(
      heading: "The newest bundles",
      table: .init(
        titles: ["Time", "Way", "Kind", "Peer", "Number", "Verdict", "Changes", "Conflicts", "Detail"],
        numbers: [4, 6, 7],
        rows: entries.map { entry in
          [
            clock.localText(milliseconds: entry.at), entry.direction.rawValue, entry.kind, entry.peer ?? "",
            entry.number.map { String($0) } ?? "", entry.verdict.rawValue, String(entry.changes),
            String(entry.conflicts),
            entry.detail ?? "",
          ]
        }), ifEmpty: "No bundle was made or seen here yet.")
  }
}
