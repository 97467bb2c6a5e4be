/// Stores texts that occur again and again, such as the names of columns. Each stored text has an index. When a stored
/// text is read again, its bytes are not copied.
public struct KnownTexts: Sendable {
  private var texts: [[UInt8]] = []
  /// The index of the stored text that is compared first. Objects of one kind have their members in one order, so this
  /// text is probably next.
  private var expected = 0

  /// The limit on the number of stored texts. Further texts are not stored, because a search takes longer with more
  /// texts.
  private static let capacity = 256
  /// The limit on the bytes of a stored text. The sender of a file may write a text of any length, and stored texts
  /// stay in memory.
  private static let longest = 256

  public init(_ texts: [String] = []) { self.texts = texts.map { Array($0.utf8) } }

  /// The result of a search.
  public enum Found: Sendable {
    case known(Int)
    /// The bytes of a text that is not stored.
    case other([UInt8])
  }

  /// Stores a new text, and returns its index; nil: there are too many texts, or the text is too long.
  public mutating func add(_ text: [UInt8]) -> Int? {
    guard texts.count < Self.capacity, text.count <= Self.longest else { return nil }
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
  /// Like `nextKey`, but returns the key's index if the key is a stored text.
  public mutating func nextKey(among known: inout KnownTexts) throws(JSONError) -> KnownTexts.Found? {
    guard try advanceToMember() else { return nil }
    let key = try readString(among: &known)
    try passColon()
    return key
  }

  /// Like `readString`, but returns the text's index if the string is a stored text.
  public mutating func readString(among known: inout KnownTexts) throws(JSONError) -> KnownTexts.Found {
    let (content, hasEscapes) = try passString()
    if !hasEscapes {
      return known.place(of: bytes.span.extracting(content)).map { .known($0) } ?? .other(Array(bytes[content]))
    }
    let text = unescape(content)
    return known.place(of: text.span).map { .known($0) } ?? .other(text)
  }
}
