import SatchelPlatform

/// The sticks that are plugged in, and the sync of one of them.
extension WindowSite {
  func stickPart(_ sticks: [PluggedStick], _ words: WindowWords) -> Markup {
    let look: Markup = "<p><a class=\"button big\" href=\"./\">\(words(.lookAgain))</a></p>"
    if let run = work.current, run.code == nil {
      return """
        <h2>\(words(.sticksHeading))</h2>
        <p class="card warn" role="status">\(words(.stillWorks, ["name": run.task.stick]))</p>
        <p><a class="button main big" href="work">\(words(.showWork))</a></p>
        """
    }
    let last = lastFailure(words)
    if sticks.isEmpty {
      return """
        <h2>\(words(.sticksHeading))</h2>
        \(last)<p class="card warn">\(words(.noStick))</p>
        \(look)
        """
    }
    let forms = sticks.map { stick -> Markup in
      let free = stick.freeSize.map { "<span class=\"quiet\">\(words(.free, ["size": $0]))</span>" as Markup } ?? ""
      return """
        <form method="post" action="sync">
        <input type="hidden" name="stick" value="\(stick.path)"><input type="hidden" name="mark" value="\(stick.mark)">
        <p><button class="main big">\(words(.syncWith, ["name": Self.name(of: stick, sticks)]))</button> \(free)</p>
        </form>

        """
    }
    return """
      <h2>\(words(.sticksHeading))</h2>
      \(last)\(forms)\(look)
      """
  }

  /// A link to the result of the last sync, if that sync was not complete.
  private func lastFailure(_ words: WindowWords) -> Markup {
    guard let run = work.current, let code = run.code, code != .done else { return "" }
    return "<p class=\"card bad\"><a href=\"work\">\(words(.notDone, ["name": run.task.stick]))</a></p>\n"
  }

  /// The label of a stick. If several sticks have this label, the path.
  private static func name(of stick: PluggedStick, _ sticks: [PluggedStick]) -> String {
    sticks.count { $0.label == stick.label } > 1 ? stick.path : stick.label
  }

  /// Begins the sync of the stick whose button was pressed. The stick is found by its path and its mark, because
  /// another stick may have this path since the page was made.
  func sync(_ request: WebRequest, _ words: WindowWords) throws -> WebResponse {
    let (path, mark) = (try request.needed("stick"), try request.needed("mark"))
    let sticks = try PluggedStick.all(besides: command.directory, context.platform)
    guard let stick = sticks.first(where: { $0.path == path && $0.mark == mark }) else {
      let content: Markup = "<p class=\"card bad\" role=\"alert\">\(words(.stickGone))</p>\n\(Self.toHome(words))"
      return frame(words(.didNotWork), content, words, status: 409)
    }
    let line = command.wordsOfWorkspace + ["sync", "--", stick.path]
    let task = WindowTask(stick: Self.name(of: stick, sticks), path: stick.path, line: line)
    guard let other = work.begin(task, context) else { return .seeOther("work") }
    let content: Markup = """
      <p class="card warn" role="alert">\(words(.stillWorks, ["name": other.stick]))</p>
      <p><a class="button main big" href="work">\(words(.showWork))</a></p>
      """
    return frame(words(.didNotWork), content, words, status: 409)
  }
}
