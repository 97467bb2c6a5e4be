import SatchelPlatform
import SatchelWorkspace

/// The page of long work: how far it is, and then its result in words.
extension ConsoleSite {
  /// The most text of a result on a page.
  private static let mostText = 12_000

  /// Begins work, and shows its page.
  func begin(_ task: ConsoleTask) throws -> WebResponse {
    try work.begin(task, context)
    return .seeOther("work")
  }

  func workPage() -> WebResponse {
    guard let run = work.current else {
      return Self.frame(
        "Work",
        """
        <p>Nothing was begun here yet. Sync, import and other long work show here how far they are.</p>
        <p><a class="button main" href="sticks">To the sticks</a></p>
        """)
    }
    return run.code.map { result(of: run, $0) } ?? running(run)
  }

  private func running(_ run: WorkRun) -> WebResponse {
    let time = Words.span(max(0, now - run.began))
    var response = Self.frame(
      run.task.title,
      """
      <p class="notice" role="status">This goes on since \(time). \(run.progressWords)</p>
      <p>The other pages can be used meanwhile. Decisions wait until this is done: the hub does one thing at a time.
      This page looks again by itself every second.</p>
      <p><a class="button" href="work">Look again</a></p>
      """, at: run.task.place)
    response.headers.append(("Refresh", "1"))
    return response
  }

  private func result(of run: WorkRun, _ code: ExitCode) -> WebResponse {
    let head: Markup =
      switch code {
      case .done: "<p class=\"notice\" role=\"status\">Done at \(local(run.began)).</p>"
      case .partial: "<p class=\"warning\" role=\"alert\">A part was done, and a part was not.</p>"
      default: "<p class=\"warning\" role=\"alert\">\(run.task.ifFailed)</p>"
      }
    var left = Self.mostText
    let pieces = run.pieces.map { piece -> Markup in
      let words = String(piece.words.unicodeScalars.prefix(left))
      left -= words.unicodeScalars.count
      if words.isEmpty { return "" }
      let more: Markup = words.utf8.count < piece.words.utf8.count ? "\n... and more, in the log." : ""
      return "<pre class=\"\(piece.isWarning ? "warning" : "notice")\">\(words)\(more)</pre>\n"
    }
    return Self.frame(
      run.task.title,
      """
      \(head)
      \(pieces)\(run.task.next(code))
      <p><a class="button" href="\(run.task.place.address)">Back</a> <a class="button" href="./">To the overview</a></p>
      """, at: run.task.place)
  }
}
