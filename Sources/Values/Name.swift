/// A name of a table, column, user or device, compared as bytes.
///
/// Swift treats canonically equivalent strings as equal, but for SQLite they are different names. With plain strings
/// as keys, a dictionary could confuse two tables.
public struct Name: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  public let text: String

  public init(_ text: String) { self.text = text }
  public init(stringLiteral text: String) { self.text = text }
  public var description: String { text }
}

extension Name: Hashable, Comparable {
  public static func == (a: Name, b: Name) -> Bool {
    let (a, b) = (a.text.utf8.span, b.text.utf8.span)
    guard a.count == b.count else { return false }
    for place in a.indices where a[place] != b[place] { return false }
    return true
  }
  public static func < (a: Name, b: Name) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }

  /// Equal names have equal hashes. Different names that Swift treats as equal strings have equal hashes too, which
  /// does no harm.
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension Name {
  /// The name as a message shows it. It is cut, because the sender of a bundle may write a name of any length.
  public var shortened: String { text.shortened(to: 100) }

  /// Whether a message shows the whole name.
  public var isShort: Bool { shortened == text }

  /// Whether SQL treats both names as one: upper and lower case of ASCII letters are the same.
  public func isSameInSQL(as other: Name) -> Bool {
    text.utf8.elementsEqual(other.text.utf8) { a, b in
      a == b || (a ^ b == 0x20 && (97...122).contains(a | 0x20))
    }
  }
}

extension String {
  /// The text, cut after `most` Unicode scalars. Whole characters are not counted, because one character may have any
  /// number of scalars.
  public func shortened(to most: Int) -> String {
    guard utf8.count > most, let end = unicodeScalars.index(startIndex, offsetBy: most, limitedBy: endIndex),
      end < endIndex
    else { return self }
    return "\(self[..<end])…"
  }
}
