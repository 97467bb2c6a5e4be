/// A set of stable row numbers, a bit each. Row numbers begin at 0 and are dense.
public struct RowSet: Hashable, Sequence, Sendable {
  private var words: [UInt64] = []

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

  private func combine(_ other: RowSet, _ body: (UInt64, UInt64) -> UInt64) -> RowSet {
    var result = RowSet()
    result.words = (0..<Swift.max(words.count, other.words.count)).map { place in
      body(place < words.count ? words[place] : 0, place < other.words.count ? other.words[place] : 0)
    }
    result.trim()
    return result
  }

  /// Equal sets have equal words.
  private mutating func trim() {
    while words.last == 0 { words.removeLast() }
  }
}

extension RowSet {
  /// Goes through the numbers in ascending order.
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

/// The compact form in which a set is stored: blocks of 65,536 numbers, each as a bit map or as the gaps between its runs,
/// whichever is shorter. The idea of choosing a form a block is that of Roaring bitmaps (Chambi, Lemire, Kaser, Godin, 2016).
extension RowSet {
  private static let blockWords = 1024
  private static let asGaps: UInt8 = 1
  private static let asBits: UInt8 = 2

  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: words.count, by: Self.blockWords) {
      let block = words[start..<Swift.min(start + Self.blockWords, words.count)]
      var gaps: [UInt8] = []
      var last = -1
      for (place, word) in block.enumerated() {
        var rest = word
        while rest != 0 {
          let number = place << 6 | rest.trailingZeroBitCount
          Self.append(number - last - 1, to: &gaps)
          last = number
          rest &= rest - 1
        }
      }
      let isShorter = gaps.count < block.count * 8
      bytes.append(isShorter ? Self.asGaps : Self.asBits)
      Self.append(isShorter ? gaps.count : block.count * 8, to: &bytes)
      if isShorter {
        bytes += gaps
      } else {
        for word in block { for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * shift))) } }
      }
    }
    return bytes
  }

  /// nil where the bytes are not such a set's.
  public init?(encoded bytes: [UInt8]) {
    var index = 0
    var block = 0
    while index < bytes.count {
      let form = bytes[index]
      index += 1
      guard let length = Self.number(in: bytes, at: &index), length <= bytes.count - index else { return nil }
      let end = index + length
      let first = block * Self.blockWords
      switch form {
      case Self.asGaps:
        var last = -1
        while index < end {
          guard let gap = Self.number(in: bytes, at: &index), gap < Self.blockWords << 6 else { return nil }
          last += gap + 1
          guard last < Self.blockWords << 6 else { return nil }
          insert(Int64(first << 6 | last))
        }
      case Self.asBits:
        guard length % 8 == 0, length <= Self.blockWords * 8 else { return nil }
        words.append(contentsOf: repeatElement(0, count: Swift.max(0, first - words.count)))
        while index < end {
          words.append((0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[index + $1]) << UInt64(8 * $1) })
          index += 8
        }
      default: return nil
      }
      guard index == end else { return nil }
      block += 1
    }
    trim()
  }

  /// Seven bits a byte, the lowest first; the highest bit says that more follow (LEB128).
  private static func append(_ number: Int, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  private static func number(in bytes: [UInt8], at index: inout Int) -> Int? {
    var number = 0
    var shift = 0
    while index < bytes.count, shift < 35 {
      let byte = bytes[index]
      index += 1
      number |= Int(byte & 0x7f) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
    return nil
  }
}
