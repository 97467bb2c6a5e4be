/// The words and signs of an SQL text, without comments. Text in quotes is left out, unless the caller asks for it.
struct SQLTokens: Sequence, IteratorProtocol {
  struct Token {
    /// One word in small letters, or one sign.
    let text: [UInt8]
    /// The position after the token, in bytes from the beginning of the SQL text.
    let end: Int

    func isWord(_ word: StaticString) -> Bool { word.withUTF8Buffer { text.elementsEqual($0) } }
    func isSign(_ sign: UnicodeScalar) -> Bool { text == [UInt8(ascii: sign)] }
  }

  /// How the tokens treat names and texts in quotes.
  enum Quotes {
    case areLeftOut
    /// Each name or text in quotes is one word, whatever it contains.
    case areWords
  }

  private let bytes: [UInt8]
  private let quotes: Quotes
  private var place = 0

  init(_ sql: String, quotes: Quotes = .areLeftOut) {
    bytes = Array(sql.utf8)
    self.quotes = quotes
  }

  mutating func next() -> Token? {
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"), UInt8(ascii: "["):
        let start = place + 1
        skip(to: [bytes[place] == UInt8(ascii: "[") ? UInt8(ascii: "]") : bytes[place]], from: start)
        if quotes == .areWords {
          return Token(text: Array(bytes[start..<Swift.max(start, place - 1)]).asciiLowercased, end: place)
        }
      case UInt8(ascii: "-") where bytes[place...].starts(with: "--".utf8): skip(to: Array("\n".utf8), from: place)
      case UInt8(ascii: "/") where bytes[place...].starts(with: "/*".utf8): skip(to: Array("*/".utf8), from: place + 2)
      case UInt8(ascii: " "), 9...13: place += 1
      default: return token()
      }
    }
    return nil
  }

  private mutating func token() -> Token {
    let start = place
    place += 1
    if isWord(bytes[start]) {
      while place < bytes.count, isWord(bytes[place]) { place += 1 }
    }
    return Token(text: Array(bytes[start..<place]).asciiLowercased, end: place)
  }

  /// Moves to the position after the next `end`. A doubled quote inside a name counts as the end of one name and the
  /// beginning of another.
  private mutating func skip(to end: [UInt8], from start: Int) {
    place = start
    while place + end.count <= bytes.count, !bytes[place...].starts(with: end) { place += 1 }
    place = Swift.min(place + end.count, bytes.count)
  }
}

/// Whether the byte may be a part of a word, for example of a name without quotes.
func isWord(_ byte: UInt8) -> Bool {
  (97...122).contains(byte | 0x20) || (48...57).contains(byte) || byte == 95 || byte == 36 || byte > 127
}
