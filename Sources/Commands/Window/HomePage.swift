import SatchelDevice
import SatchelPlatform

/// The first page. It shows how the work is, the sticks, and everything that a person should know.
extension WindowSite {
  /// Seconds until the browser loads the page again. Without a stick the time is short, so that a new stick appears
  /// soon.
  private static let pauses = (withoutStick: "10", withStick: "60")

  func home(_ words: WindowWords) throws -> WebResponse {
    let sticks = try PluggedStick.all(besides: command.directory, context.platform)
    let buttons = stickPart(sticks, words)
    var response: WebResponse
    do {
      let workspace = try DeviceTool.open(command, context)
      let status = try workspace.status()
      let standing = OfficeStanding(status, lastSync: lastSync)
      response = frame(
        words(.title, ["device": status.configuration.name]),
        """
        \(headline(standing, words))
        \(buttons)
        \(lacks(standing, words))
        \(contact(status, words))
        \(conflicts(status, workspace, words))
        \(problems(status, words))
        """, words)
    } catch {
      // A sync with a stick may remove the fault, so the buttons stay.
      response = frame(words(.plainTitle), "\(failed(Failure(error), words))\n\(buttons)", words)
    }
    response.headers.append(("Refresh", sticks.isEmpty ? Self.pauses.withoutStick : Self.pauses.withStick))
    return response
  }

  /// The result of the last sync in this window; nil: there was none.
  private var lastSync: SyncSummary? { work.current.map { SyncSummary($0.task.outcome.document) } }

  // MARK: The state of the work

  private func headline(_ standing: OfficeStanding, _ words: WindowWords) -> Markup {
    let look =
      switch standing.verdict {
      case .everything: "good"
      case .wrong: "bad"
      case .underWay, .waits, .notCertain, .noData: "warn"
      }
    let texts = standing.verdict.texts
    let clock = context.platform.clock
    let time = WindowWords.local(clock.milliseconds(), by: clock)
    return """
      <div class="card \(look)" role="status"><b>\(words(texts.word))</b><p>\(words(texts.sentence))</p>
      <p class="quiet">\(words(.lookedAt, ["time": time]))</p></div>
      """
  }

  private func failed(_ failure: Failure, _ words: WindowWords) -> Markup {
    let facts: Markup = "<pre class=\"notice\">\(failure.text)</pre>"
    return """
      <div class="card bad" role="alert"><b>\(words(.wordAttention))</b><p>\(words(.statusFailed))</p></div>
      \(Self.inEnglish(facts, named: .allFacts, words))
      """
  }

  private func lacks(_ standing: OfficeStanding, _ words: WindowWords) -> Markup {
    if standing.lacks.isEmpty { return "" }
    let lines = standing.lacks.map { "<li>\(words.count($0.text, $0.count))</li>\n" as Markup }
    return "<h2>\(words(.lacksHeading))</h2>\n<ul>\n\(lines)</ul>"
  }

  private func contact(_ status: DeviceStatus, _ words: WindowWords) -> Markup {
    guard let current = status.current else { return "" }
    let clock = context.platform.clock
    let facts = OfficeContact(current, lastSync: lastSync).facts.map { fact -> Markup in
      "<dt>\(words(fact.title))</dt><dd>\(words.moment(fact.time, by: clock))</dd>\n"
    }
    return "<h2>\(words(.contactHeading))</h2>\n<dl>\n\(facts)</dl>"
  }

  // MARK: Problems

  private func problems(_ status: DeviceStatus, _ words: WindowWords) -> Markup {
    let now = context.platform.clock.milliseconds()
    let lines = WindowProblem.all(status, now: now).map { problem -> Markup in
      "<li>\(problem.words(words))</li>\n"
    }
    let list: Markup = lines.isEmpty ? "" : "<h2>\(words(.problemsHeading))</h2>\n<ul>\n\(lines)</ul>\n"
    let files = words.lines(status.current?.attachments.missing ?? []).map { "<li>\($0)</li>\n" as Markup }
    let attached: Markup = files.isEmpty ? "" : "<h2>\(words(.filesHeading))</h2>\n<ul>\n\(files)</ul>\n"
    let names = (status.current?.localTables ?? []).map(\.name.text).joined(separator: ", ")
    let here: Markup = names.isEmpty ? "" : "<p class=\"quiet\">\(words(.onlyHere, ["names": names]))</p>\n"
    let facts: Markup = "<pre class=\"notice\">\(DeviceTool.text(status, now))</pre>"
    return "\(list)\(attached)\(here)\(Self.inEnglish(facts, named: .allFacts, words))"
  }
}
