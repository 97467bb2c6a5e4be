/// A name of a table, column, user or device, compared as bytes.
///
/// Two strings in Swift are equal if they are canonically equivalent. In SQLite they are different names. So two tables
/// could become one in a dictionary whose keys are strings.
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

  /// Names of the same bytes have the same hash. Two different names that look the same may have one hash, too.
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension Name {
  /// Whether SQL treats both as one name: equal bytes, ignoring the case of ASCII letters.
  public func isSameInSQL(as other: Name) -> Bool {
    text.utf8.elementsEqual(other.text.utf8) { a, b in
      a == b || (a ^ b == 0x20 && (97...122).contains(a | 0x20))
    }
  }
}
