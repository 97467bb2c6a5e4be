import SatchelPlatform

/// The page of a sync. It shows how far the sync is, and then the result in words.
extension WindowSite {
  func workPage(_ words: WindowWords) -> WebResponse {
    guard let run = work.current else {
      return frame(words(.plainTitle), "<p>\(words(.nothingBegun))</p>\n\(Self.toHome(words))", words)
    }
    return run.code.map { result(of: run, $0, words) } ?? running(run, words)
  }

  private func running(_ run: WorkRun<WindowTask>, _ words: WindowWords) -> WebResponse {
    var response = frame(
      words(.working, ["name": run.task.stick]),
      """
      <div class="card warn" role="status"><p>\(Self.progress(run.standing, words))</p>
      <p>\(words(.leaveIn))</p></div>
      <p><a class="button big" href="work">\(words(.lookAgain))</a></p>
      """, words)
    response.headers.append(("Refresh", "1"))
    return response
  }

  /// How far a sync is, in words.
  static func progress(_ standing: WorkStanding, _ words: WindowWords) -> String {
    switch standing {
    case .begun: return words(.begun)
    case .asksForPassword: return words(.asksPassword)
    case .at(let progress, _):
      let phase: WindowText =
        switch progress.phase {
        case .reading: .reading
        case .applying: .applying
        case .collecting: .collecting
        case .writing: .writing
        case .testing: .testing
        }
      guard let total = progress.total, total > 0 else { return words(phase) }
      let percent = min(100, progress.done * 100 / total)
      return words(.percent, ["phase": words(phase), "percent": String(percent)])
    }
  }

  private func result(of run: WorkRun<WindowTask>, _ code: ExitCode, _ words: WindowWords) -> WebResponse {
    let isDone = code == .done
    let stick = run.task.stick
    let summary = SyncSummary(run.task.outcome.document)
    let lines = summary.lines(words).map { "<li>\($0)</li>\n" as Markup }
    let failure: WindowText = summary.isDataFaulty ? .wrong : .notAll
    return frame(
      words(isDone ? .done : .notDone, ["name": stick]),
      """
      <p class="card \(isDone ? "good" : "bad")" role="\(isDone ? "status" : "alert")">\
      \(isDone ? words(.safe, ["name": stick]) : words(failure))</p>
      <ul>
      \(lines)</ul>
      \(Self.toHome(words))
      \(Self.inEnglish(run.pieces.markup(), named: .fullReport, words, state: isDone ? .closed : .open))
      """, words)
  }
}
