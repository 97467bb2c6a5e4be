import SatchelPlatform
import SatchelWorkspace

/// The texts of the window in one language.
struct WindowWords: Sendable {
  let language: WindowLanguage

  init(_ language: WindowLanguage) { self.language = language }

  /// A text, with values in its places.
  func callAsFunction(_ text: WindowText, _ values: KeyValuePairs<String, String> = [:]) -> String {
    Self.fill(form(of: text), values.map { ($0.key, $0.value) })
  }

  /// A text with a number, in the form for this number.
  func count(_ text: WindowText, _ number: Int64) -> String {
    let forms = form(of: text).split(separator: "|").map(String.init)
    // A test checks that each of these texts has all forms of its language.
    let place = min(language.form(for: number), forms.count - 1)
    return Self.fill(place < 0 ? "" : forms[place], [("n", String(number))])
  }

  /// One line for each missing file that needs a person, with the next step. Ten files are named at most.
  func lines(_ missing: [MissingAttachment]) -> [String] {
    let most = 10
    let lines = missing.prefix(most).map { file -> String in
      let text: WindowText =
        switch file.why {
        case .missing: .fileMissing
        case .path: .filePath
        case .link: .fileBlocked
        case .large: .fileLarge
        }
      return callAsFunction(text, ["name": Words.beginning(file.path, 200)])
    }
    return missing.count > most ? lines + [callAsFunction(.more, ["n": String(missing.count - most)])] : lines
  }

  /// A moment with its age, such as `2026-01-31 10:05 (3 hours ago)`.
  /// - Parameters:
  ///   - time: in milliseconds since 1970; nil: it never was.
  ///   - clock: gives the present time and the local time.
  func moment(_ time: Int64?, by clock: any WallClock) -> String {
    guard let time else { return callAsFunction(.never) }
    return "\(Self.local(time, by: clock)) (\(age(clock.milliseconds() - time)))"
  }

  /// A moment in local time, such as `2026-01-31 10:05`.
  static func local(_ time: Int64, by clock: any WallClock) -> String {
    let text = clock.localText(milliseconds: time)
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
  }

  private func age(_ milliseconds: Int64) -> String {
    let minutes = milliseconds / 60_000
    switch minutes {
    case ..<2: return callAsFunction(.justNow)
    case ..<120: return count(.minutesAgo, minutes)
    case ..<2880: return count(.hoursAgo, minutes / 60)
    default: return count(.daysAgo, minutes / 1440)
    }
  }

  private func form(of text: WindowText) -> String {
    // A test checks that each language has all texts.
    language.texts[text] ?? WindowLanguage.english.texts[text] ?? text.rawValue
  }

  /// Puts values in the places of a text. Values may contain any characters.
  private static func fill(_ text: String, _ values: [(name: String, value: String)]) -> String {
    let pieces = text.split(separator: "{", omittingEmptySubsequences: false)
    var filled = String(pieces.first ?? "")
    for piece in pieces.dropFirst() {
      let parts = piece.split(separator: "}", maxSplits: 1, omittingEmptySubsequences: false)
      filled += values.first { $0.name == parts[0] }?.value ?? ""
      if parts.count > 1 { filled += String(parts[1]) }
    }
    return filled
  }
}
