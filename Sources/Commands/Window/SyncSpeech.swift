import SatchelJSON
import SatchelPlatform

/// The last lines of `sync` and `watch` for a person in their language. They say the same as the window after a sync.
struct SyncSpeech: Sendable {
  private let words: WindowWords

  /// nil if the person reads English, because the answer of the command itself is English. Also nil for JSON and for a
  /// dry run, which have no last lines. Throws a `UsageError` if the command line names an unknown language.
  init?(_ command: ParsedCommand, _ context: CommandContext) throws {
    let language = try WindowLanguage.chosen(by: command, context.console)
    if language == .english || command.json || command.dryRun { return nil }
    words = WindowWords(language)
  }

  /// The lines after a sync with the stick in a folder.
  func lines(after answer: Answer, stick folder: String, _ files: any FileSystem) -> TerminalText {
    let name = Paths.name(of: (try? files.resolved(folder)) ?? folder)
    let summary = SyncSummary(.object(answer.members))
    let isDone = answer.code == .done
    var lines = [words(isDone ? .done : .notDone, ["name": name])]
    if summary.isDataFaulty { lines.append(words(.wrong)) }
    lines += summary.lines(words)
    if isDone {
      // Only a removable medium can be pulled out.
      if (try? Medium(of: folder, files).isRemovable) == true { lines.append(words(.safe, ["name": name])) }
    } else if summary.wayOut == nil {
      lines.append(words(.askOffice))
    }
    return Self.text(lines)
  }

  /// The lines if a sync could not begin, or ended with this failure. Empty if the command line is wrong, because the
  /// usage is in English.
  func lines(after failure: Failure) -> TerminalText {
    if failure.code == .usage { return "" }
    let summary = SyncSummary(["error": failure.json])
    return Self.text(
      [words(.didNotWork)] + summary.lines(words) + (summary.wayOut == nil ? [words(.askOffice)] : []))
  }

  private static func text(_ lines: [String]) -> TerminalText {
    "\n" + lines.map { "\($0)\n" as TerminalText }.joined()
  }
}
