/// A set of stable row numbers, with one bit for each number. Row numbers are dense, so few bits are unused.
public struct RowSet: Hashable, Sequence, Sendable {
  var words: [UInt64] = []

  public init() {}

  public init(_ numbers: some Sequence<Int64>) {
    for number in numbers { insert(number) }
  }

  public mutating func insert(_ number: Int64) {
    let word = Int(number >> 6)
    if word >= words.count { words.append(contentsOf: repeatElement(0, count: word + 1 - words.count)) }
    words[word] |= 1 << UInt64(number & 63)
  }

  public mutating func remove(_ number: Int64) {
    let word = Int(number >> 6)
    if word < words.count { words[word] &= ~(1 << UInt64(number & 63)) }
    trim()
  }

  public func contains(_ number: Int64) -> Bool {
    let word = Int(number >> 6)
    return word < words.count && words[word] & 1 << UInt64(number & 63) != 0
  }

  public var isEmpty: Bool { words.isEmpty }
  public var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

  public func union(_ other: RowSet) -> RowSet { combine(other) { $0 | $1 } }
  public func intersection(_ other: RowSet) -> RowSet { combine(other) { $0 & $1 } }
  public func subtracting(_ other: RowSet) -> RowSet { combine(other) { $0 & ~$1 } }
  /// The numbers that are in exactly one of the two sets.
  public func symmetricDifference(_ other: RowSet) -> RowSet { combine(other) { $0 ^ $1 } }

  private func combine(_ other: RowSet, _ body: (UInt64, UInt64) -> UInt64) -> RowSet {
    var result = RowSet()
    result.words = (0..<Swift.max(words.count, other.words.count)).map { place in
      body(place < words.count ? words[place] : 0, place < other.words.count ? other.words[place] : 0)
    }
    result.trim()
    return result
  }

  /// Removes trailing empty words, so that equal sets have equal words.
  mutating func trim() {
    while words.last == 0 { words.removeLast() }
  }
}

extension RowSet {
  /// Iterates over the numbers in ascending order.
  public struct Iterator: IteratorProtocol {
    fileprivate let words: [UInt64]
    fileprivate var place = 0
    fileprivate var rest: UInt64

    public mutating func next() -> Int64? {
      while rest == 0 {
        place += 1
        if place >= words.count { return nil }
        rest = words[place]
      }
      defer { rest &= rest - 1 }
      return Int64(place) << 6 | Int64(rest.trailingZeroBitCount)
    }
  }

  public func makeIterator() -> Iterator { Iterator(words: words, rest: words.first ?? 0) }
}
