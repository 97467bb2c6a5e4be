import SatchelDevice
import SatchelPlatform

/// The answer of `status` to a person in their language. It says the same as the first page of the window.
struct StatusSpeech: Sendable {
  private let words: WindowWords

  /// nil if the person reads English, because the answer of the command itself is English. Throws a `UsageError` if the
  /// command line names an unknown language.
  init?(_ command: ParsedCommand, _ context: CommandContext) throws {
    let language = try WindowLanguage.chosen(by: command, context.console)
    if language == .english { return nil }
    words = WindowWords(language)
  }

  func text(_ status: DeviceStatus, by clock: any WallClock) -> TerminalText {
    let standing = OfficeStanding(status)
    let verdict = standing.verdict.texts
    let problems = WindowProblem.all(status, now: clock.milliseconds()).map { $0.words(words) }
    var text: TerminalText = """
      \(words(.title, ["device": status.configuration.name]))
      \(words(verdict.word)): \(words(verdict.sentence))

      """
    text += list(.lacksHeading, standing.lacks.map { words.count($0.text, $0.count) })
    if let current = status.current {
      let contact = OfficeContact(current).facts.map { "\(words($0.title)): \(words.moment($0.time, by: clock))" }
      text += list(.contactHeading, contact) + conflicts(current)
    }
    text += list(.problemsHeading, problems)
    text += list(.filesHeading, words.lines(status.current?.attachments.missing ?? []))
    let names = (status.current?.localTables ?? []).map(\.name.text).joined(separator: ", ")
    if !names.isEmpty { text += "\n\(words(.onlyHere, ["names": names]))\n" }
    return text + "\n\(words(.allFacts)): satchel status --language en\n"
  }

  /// The answer if the state cannot be read.
  var failure: TerminalText { "\(words(.statusFailed))\n" }

  private func conflicts(_ current: DeviceStatus.Current) -> TerminalText {
    var text: TerminalText = ""
    if current.openConflicts > 0 {
      text += """

        \(words(.conflictsHeading, ["n": String(current.openConflicts)]))
        \(words(.conflictsWords))

        """
    }
    if current.heldConflicts > 0 { text += "\n\(words.count(.heldChanges, current.heldConflicts))\n" }
    return text
  }

  /// Lines under a heading. Empty if there are no lines.
  private func list(_ heading: WindowText, _ lines: [String]) -> TerminalText {
    if lines.isEmpty { return "" }
    return "\n\(words(heading))\n" + lines.map { "- \($0)\n" as TerminalText }.joined()
  }
}
