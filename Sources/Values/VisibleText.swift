/// A text that is safe to show. U+FFFD replaces each character that moves the cursor, controls the terminal or
/// changes the direction of text.
public func visible(_ text: String) -> String {
  if !text.unicodeScalars.contains(where: \.isMisleading) { return text }
  return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.isMisleading ? "\u{FFFD}" : $0 }))
}

extension Unicode.Scalar {
  /// Whether this is a control character, a line separator or a mark that changes the direction of text. Escape
  /// sequences begin with a control character.
  public var isMisleading: Bool {
    switch value {
    case 0..<0x20, 0x7f..<0xa0, 0x61c, 0x2028, 0x2029, 0x200e, 0x200f, 0x202a...0x202e, 0x2066...0x2069: true
    default: false
    }
  }
}
