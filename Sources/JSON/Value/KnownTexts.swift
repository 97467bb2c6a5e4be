/// Texts that come again and again, such as the names of columns. Each text has an index, and the bytes of a known text
/// are not copied again.
public struct KnownTexts: Sendable {
  private var texts: [[UInt8]] = []
  /// The index of the text that is compared first. Objects of one kind have their members in one order, so this text
  /// probably comes next.
  private var expected = 0

  /// The limit on the number of texts. New texts beyond it are not kept, because the time of a search grows with the
  /// number of texts.
  private static let capacity = 256
  /// The limit on the length of a text, in bytes. The sender of a file may write a text of any length, and kept texts
  /// stay in memory.
  private static let longest = 256

  public init(_ texts: [String] = []) { self.texts = texts.map { Array($0.utf8) } }

  /// The result of a search.
  public enum Found: Sendable {
    case known(Int)
    /// The bytes of an unknown text.
    case other([UInt8])
  }

  /// Keeps a new text, and returns its index; nil: there is no room.
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
  /// Like `nextKey`, but returns the key's index if the key is known.
  public mutating func nextKey(among known: inout KnownTexts) throws(JSONError) -> KnownTexts.Found? {
    guard try advanceToMember() else { return nil }
    let key = try readString(among: &known)
    try passColon()
    return key
  }

  /// Like `readString`, but returns the text's index if the text is known.
  public mutating func readString(among known: inout KnownTexts) throws(JSONError) -> KnownTexts.Found {
    let (content, hasEscapes) = try passString()
    if !hasEscapes {
      return known.place(of: bytes.span.extracting(content)).map { .known($0) } ?? .other(Array(bytes[content]))
    }
    let text = unescape(content)
    return known.place(of: text.span).map { .known($0) } ?? .other(text)
  }
}
