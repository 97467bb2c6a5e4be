import SatchelPlatform

/// The language of the person at a terminal.
extension WindowLanguage {
  static let option = OptionSpec(
    "language", kind: .value("CODE"), help: "the language for people: en, fr, es, pt, ar or de")

  /// The language that the command line names. If it names none, the language of the locale.
  /// - Parameter command: must declare `option`.
  static func chosen(by command: ParsedCommand, _ console: any Console) throws -> WindowLanguage {
    try named(by: command) ?? ofLocale(console)
  }

  /// The language that the command line names. nil: it names none. Throws a `UsageError` for an unknown language.
  static func named(by command: ParsedCommand) throws -> WindowLanguage? {
    guard let code = command.value(option.long) else { return nil }
    guard let language = WindowLanguage(rawValue: code.lowercased()) else {
      throw UsageError("--language takes one of \(allCases.map(\.code).joined(separator: ", "))")
    }
    return language
  }

  /// The language of the environment, such as `fr` for `LANG=fr_FR.UTF-8`. English if Satchel has no texts in that
  /// language.
  static func ofLocale(_ console: any Console) -> WindowLanguage {
    // POSIX: the first of these variables that is not empty decides.
    let name = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { console.environment($0) }.first { !$0.isEmpty }
    let code = (name ?? "").prefix { $0 != "_" && $0 != "." && $0 != "@" }
    return WindowLanguage(rawValue: code.lowercased()) ?? .english
  }
}
