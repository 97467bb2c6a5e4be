import SatchelValues

/// A piece of HTML. A value inserted by `\(...)` is text, and cannot become markup:
///
///     Markup("<td>\(name)</td>")
struct Markup: ExpressibleByStringInterpolation, Sendable {
  private(set) var text: String

  init(stringLiteral text: String) { self.text = text }

  init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    mutating func appendLiteral(_ literal: String) { text += literal }
    mutating func appendInterpolation(_ words: some StringProtocol) { text += escaped(words) }
    mutating func appendInterpolation(_ number: some BinaryInteger) { text += String(number) }
    mutating func appendInterpolation(_ text: TerminalText) { self.text += escaped(text.string) }
    mutating func appendInterpolation(_ markup: Markup) { text += markup.text }
    mutating func appendInterpolation(_ markup: [Markup]) { for piece in markup { text += piece.text } }
  }

  static func + (a: Markup, b: Markup) -> Markup { "\(a)\(b)" }
  static func += (a: inout Markup, b: Markup) { a.text += b.text }
}

/// Escapes markup. Shows characters that reverse the direction of text as code points. Line breaks stay.
private func escaped(_ words: some StringProtocol) -> String {
  var text = ""
  for scalar in words.unicodeScalars {
    switch scalar {
    case "&": text += "&amp;"
    case "<": text += "&lt;"
    case ">": text += "&gt;"
    case "\"": text += "&quot;"
    case "'": text += "&#39;"
    case "\n", "\t": text.unicodeScalars.append(scalar)
    default: text += visible(String(scalar))
    }
  }
  return text
}
