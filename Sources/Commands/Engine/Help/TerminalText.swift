import SatchelJSON
import SatchelValues

/// Text for a terminal. A value inserted by `\(...)` stays in its line and cannot control the terminal:
///
///     text += "\(table) [\(key)]: taken\n"
///
/// An inserted value may be any user's data, name or file. So line breaks, escape sequences and marks that reverse the
/// direction of text are shown as U+FFFD. Only two kinds of text have layout: the program's own text, and text made
/// with `lines:`, `document:` or `ofOwnMaking:`.
public struct TerminalText: Hashable, Sendable, ExpressibleByStringInterpolation {
  /// The text for the terminal.
  public private(set) var string: String

  public init(stringLiteral text: String) { string = text }

  public init(stringInterpolation: StringInterpolation) { string = stringInterpolation.text }

  /// Lines of a foreign text, such as a script. Their line ends stay, and each line is made safe.
  public init(lines: String) {
    string = lines.split(separator: "\n", omittingEmptySubsequences: false).map { visible(String($0)) }
      .joined(separator: "\n")
  }

  /// Text that this program made itself. It is not changed. Examples are a picture with colours and a manual page.
  public init(ofOwnMaking text: String) { string = text }

  /// A JSON document, laid out for people. Characters that `visible` would replace are escaped here, so the document
  /// keeps its value.
  public init(document: JSONValue) {
    string = ""
    for scalar in String(decoding: document.prettyBytes, as: UTF8.self).unicodeScalars {
      if scalar != "\n", scalar.isMisleading {
        let digits = String(scalar.value, radix: 16)
        string += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      } else {
        string.unicodeScalars.append(scalar)
      }
    }
  }

  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    public init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    public mutating func appendLiteral(_ literal: String) { text += literal }
    public mutating func appendInterpolation(_ words: some CustomStringConvertible) { text += visible("\(words)") }
    public mutating func appendInterpolation(_ text: TerminalText) { self.text += text.string }
  }

  public var isEmpty: Bool { string.isEmpty }

  public func contains(_ words: String) -> Bool { string.hasPart(words) }

  public static func + (a: TerminalText, b: TerminalText) -> TerminalText { "\(a)\(b)" }
  public static func += (a: inout TerminalText, b: TerminalText) { a.string += b.string }
}

extension Sequence where Element == TerminalText {
  func joined() -> TerminalText { reduce(into: "") { $0 += $1 } }
}
