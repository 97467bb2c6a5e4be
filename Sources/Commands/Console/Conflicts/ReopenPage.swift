import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Pages that take back one decision, or all decisions since a time. For all decisions, a page first says what will
/// happen.
extension ConsoleSite {
  private func since(_ request: WebRequest) throws -> Int64 {
    guard let time = Int64(try request.needed("since")) else { throw UsageError("the field since is no time") }
    return time
  }

  /// Says which decisions would be taken back. Changes nothing.
  func reopening(_ request: WebRequest) throws -> WebResponse {
    let time = try since(request)
    let hub = try HubWorkspace.open(command.directory, platform: context.platform, runMode: .dryRun)
    let report = try hub.reopen(decidedSince: time)
    let count = report.conflicts.count
    return Self.frame(
      "Take back \(Words.count(count, "decision"))",
      """
      <p class="notice">\(Words.count(count, "conflict")), decided at the hub since \(local(time)), will be open
      again. \(Self.words(report))</p>
      <form method="post" action="reopen">
      <input type="hidden" name="since" value="\(time)"><input type="hidden" name="seen" value="\(report.mark.text)">
      <div class="bar"><button class="main">Take back \(Words.grouped(count)) now</button>
      <a class="button" href="conflicts">Leave them decided</a></div>
      </form>
      """, at: .conflicts, open: try hub.openConflicts())
  }

  private static func words(_ report: ReopenedConflicts) -> String {
    var words = ReopenCommand.text(traded: report).string
    if !report.rows.isEmpty { words += "Rows with the values from before: \(Words.tables(report.rows)). " }
    if report.left > 0 {
      words +=
        "\(Words.count(report.left, "row")) stay as they are: they were changed since, or other rows need them."
    }
    return words
  }

  /// Takes back one decision, or all decisions since a time. The latter must be the decisions that the person saw.
  func reopen(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    if let id = request.filled("id") {
      let report = try hub.reopen(id)
      return report.traded.isEmpty
        ? .seeOther("conflict?id=\(percentEncoded(id))") : try Self.takenBack(report, hub)
    }
    let time = try since(request)
    let report = try hub.reopen(decidedSince: time, expected: ConflictSetMark(request.needed("seen")))
    return try Self.takenBack(report, hub)
  }

  private static func takenBack(_ report: ReopenedConflicts, _ hub: HubWorkspace) throws -> WebResponse {
    frame(
      "Taken back",
      """
      <p class="notice" role="status">\
      \(Words.count(report.conflicts.count, "conflict")) open again. \(words(report))</p>
      <p><a class="button main" href="conflicts">To the conflicts</a></p>
      """, at: .conflicts, open: try hub.openConflicts())
  }
}
