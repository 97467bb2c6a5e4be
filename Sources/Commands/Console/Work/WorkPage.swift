import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The page of long work. It shows how far the work is, and then the result in words.
extension ConsoleSite {
  /// Begins work, and shows its page.
  func begin(_ task: ConsoleTask) throws -> WebResponse {
    if let other = work.begin(task, context) {
      throw WorkspaceError(
        .busy, "The console still works: \(other.title).",
        hint: "Wait until that is done. The page Work shows how far it is.")
    }
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

  private func running(_ run: WorkRun<ConsoleTask>) -> WebResponse {
    let time = Words.span(max(0, now - run.began))
    var response = Self.frame(
      run.task.title,
      """
      <p class="notice" role="status">This goes on since \(time). \(Self.words(run.standing))</p>
      <p>The other pages can be used meanwhile. Decisions wait until this is done: the hub does one thing at a time.
      This page looks again by itself every second.</p>
      <p><a class="button" href="work">Look again</a></p>
      """, at: run.task.place)
    response.headers.append(("Refresh", "1"))
    return response
  }

  /// How far the work is, in words.
  private static func words(_ standing: WorkStanding) -> String {
    switch standing {
    case .begun: "It has begun."
    case .asksForPassword: "It waits for the password of the keys. Type it at the terminal of the console."
    case .at(let progress, let milliseconds): ProgressLine.words(progress, milliseconds: milliseconds)
    }
  }

  private func result(of run: WorkRun<ConsoleTask>, _ code: ExitCode) -> WebResponse {
    let head: Markup =
      switch code {
      case .done: "<p class=\"notice\" role=\"status\">Done at \(local(run.began)).</p>"
      case .partial: "<p class=\"warning\" role=\"alert\">A part was done, and a part was not.</p>"
      default: "<p class=\"warning\" role=\"alert\">\(run.task.ifFailed)</p>"
      }
    return Self.frame(
      run.task.title,
      """
      \(head)
      \(run.pieces.markup())\(run.task.next(code))
      <p><a class="button" href="\(run.task.place.address)">Back</a> <a class="button" href="./">To the overview</a></p>
      """, at: run.task.place)
  }
}
