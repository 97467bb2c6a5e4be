/// A language of the window, of `status` and of `sync`. To add one, write a table of all texts beside the others, and
/// name it here.
enum WindowLanguage: String, CaseIterable, Sendable {
  case english = "en"
  case french = "fr"
  case spanish = "es"
  case portuguese = "pt"
  case arabic = "ar"
  case german = "de"

  /// The code of the language, for the page.
  var code: String { rawValue }

  /// The name of the language in the language itself.
  var name: String {
    switch self {
    case .english: "English"
    case .french: "Français"
    case .spanish: "Español"
    case .portuguese: "Português"
    case .arabic: "العربية"
    case .german: "Deutsch"
    }
  }

  var texts: [WindowText: String] {
    switch self {
    case .english: Self.englishTexts
    case .french: Self.frenchTexts
    case .spanish: Self.spanishTexts
    case .portuguese: Self.portugueseTexts
    case .arabic: Self.arabicTexts
    case .german: Self.germanTexts
    }
  }

  var direction: Page.Direction { self == .arabic ? .rightToLeft : .leftToRight }

  /// The number of forms that a text with a number has.
  var forms: Int { self == .arabic ? 5 : 2 }

  /// The index of the form that the language uses for a number, by the plural rules of Unicode CLDR.
  ///
  /// Most languages have a form for one thing, and a form for several. Arabic has forms for one, for two, for 3 to 10,
  /// for 11 to 99, and for other numbers. For numbers of 3 and more, the last two digits decide.
  /// - Parameter number: at least 0.
  func form(for number: Int64) -> Int {
    switch self {
    case .english, .spanish, .german: return number == 1 ? 0 : 1
    case .french, .portuguese: return number <= 1 ? 0 : 1
    case .arabic:
      switch (number, number % 100) {
      case (1, _): return 0
      case (2, _): return 1
      case (_, 3...10): return 2
      case (_, 11...99): return 3
      default: return 4
      }
    }
  }

  /// The language that a browser prefers, among the languages here. English if the browser names none of them.
  /// - Parameter header: the header `Accept-Language` of RFC 9110, such as `fr-CH, en;q=0.8`. nil: there is none.
  static func preferred(_ header: String?) -> WindowLanguage {
    var best: (language: WindowLanguage, weight: Int)?
    for part in (header ?? "").split(separator: ",") {
      let pieces = part.split(separator: ";").map { String($0.filter { $0 != " " && $0 != "\t" }) }
      guard let tag = pieces.first?.split(separator: "-").first?.lowercased(),
        let language = WindowLanguage(rawValue: tag)
      else { continue }
      let weight = weight(pieces.dropFirst())
      // If several languages have the same weight, the first counts.
      if weight > best?.weight ?? 0 { best = (language, weight) }
    }
    return best?.language ?? .english
  }

  /// The weight in thousandths. A language without a weight has the highest.
  private static func weight(_ parameters: ArraySlice<String>) -> Int {
    guard let text = parameters.first(where: { $0.lowercased().hasPrefix("q=") })?.dropFirst(2) else { return 1000 }
    guard let weight = Double(String(text)), (0...1).contains(weight) else { return 0 }
    return Int(weight * 1000)
  }
}
