/// Repeated texts, such as the names of columns: each is known by its index, and its bytes are not copied again.
public struct KnownTexts: Sendable {
  private var texts: [[UInt8]] = []
  /// The index to compare first: objects of one kind have their members in one order.
  private var expected = 0

  /// Beyond this number, new texts are not kept: the time of a search grows with their number.
  private static let capacity = 256

  public init(_ texts: [String] = []) { self.texts = texts.map { Array($0.utf8) } }

  /// The result of a search.
  public enum Found: Sendable {
    case known(Int)
    /// An unknown text: its bytes.
    case other([UInt8])
  }

  /// Keeps a new text. Returns its index; nil if there is no room.
  public mutating func add(_ text: [UInt8]) -> Int? {
    guard texts.count < Self.capacity else { return nil }
    texts.append(text)
    expected = texts.count
    return texts.count - 1
  }

  mutating func place(of text: Span<UInt8>) -> Int? {
    if expected < texts.count, isEqual(text, texts[expected]) {
      defer { expected += 1 }
      return expected
    }
    for place in texts.indices where isEqual(text, texts[place]) {
      expected = place + 1
      return place
    }
    return nil
  }

  private func isEqual(_ a: Span<UInt8>, _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    for place in a.indices where a[place] != b[place] { return false }
    return true
  }
}

extension JSONScanner {
  /// Like `nextKey`, with the key's index if it is known.
  public mutating func nextKey(among known: inout KnownTexts) throws(JSONError) -> KnownTexts.Found? {
    guard try advanceToMember() else { return nil }
    let key = try readString(among: &known)
    try passColon()
    return key
  }

  /// Like `readString`, with the text's index if it is known.
  public mutating func readString(among known: inout KnownTexts) throws(JSONError) -> KnownTexts.Found {
    let (content, hasEscapes) = try passString()
    if !hasEscapes {
      return known.place(of: bytes.span.extracting(content)).map { .known($0) } ?? .other(Array(bytes[content]))
    }
    let text = unescape(content)
    return known.place(of: text.span).map { .known($0) } ?? .other(text)
  }
}
