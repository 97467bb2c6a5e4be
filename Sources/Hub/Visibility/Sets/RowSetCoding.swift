/// The compact form in which a set is stored: blocks of 65,536 numbers. A block is a bit map, or a list of the gaps
/// between its numbers if the list is shorter.
///
/// A gap uses Golomb's code with a power of two (Rice): a one for each 2^k in the gap, a zero, and the lower k bits of
/// the gap. If at least one in 60 numbers is in the set, a number takes less than a byte. The choice of a form for each
/// block follows Roaring bitmaps (Chambi, Lemire, Kaser, Godin, 2016).
extension RowSet {
  private static let blockWords = 1024
  private static let blockSize = blockWords << 6
  /// The form of a block that is a bit map. Any other form is k: the number of lower bits of each gap.
  private static let asBits: UInt8 = 0xff
  private static let mostLowerBits = 16

  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: words.count, by: Self.blockWords) {
      let block = words[start..<Swift.min(start + Self.blockWords, words.count)]
      let (form, content) = Self.gaps(block) ?? (Self.asBits, Self.bits(block))
      bytes.append(form)
      Self.append(content.count, to: &bytes)
      bytes += content
    }
    return bytes
  }

  private static func bits(_ block: ArraySlice<UInt64>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(block.count * 8)
    for word in block { for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * shift))) } }
    return bytes
  }

  /// Returns the block as gaps. nil if a bit map takes no more bytes.
  private static func gaps(_ block: ArraySlice<UInt64>) -> (form: UInt8, content: [UInt8])? {
    let count = block.reduce(0) { $0 + $1.nonzeroBitCount }
    // With this many numbers, a list of gaps is hardly shorter than a bit map.
    if count * 2 >= block.count << 6 { return nil }
    if count == 0 { return (0, []) }
    // The best k is about the logarithm of the mean gap.
    let mean = (block.count << 6) / count
    let lower = Swift.min(mostLowerBits, Swift.max(0, Int.bitWidth - 1 - mean.leadingZeroBitCount))
    var bits = BitWriter()
    var last = -1
    for (place, word) in block.enumerated() {
      var rest = word
      while rest != 0 {
        let number = place << 6 | rest.trailingZeroBitCount
        bits.append(gap: number - last - 1, lower: lower)
        last = number
        rest &= rest - 1
      }
    }
    let content = bits.finished
    return content.count < block.count * 8 ? (UInt8(lower), content) : nil
  }

  /// Returns nil if the bytes do not encode a set.
  public init?(encoded bytes: [UInt8]) {
    var index = 0
    var block = 0
    while index < bytes.count {
      let form = bytes[index]
      index += 1
      guard let length = Self.number(in: bytes, at: &index), length <= bytes.count - index else { return nil }
      let content = bytes[index..<index + length]
      let first = block * Self.blockWords
      switch form {
      case Self.asBits:
        guard length % 8 == 0, length <= Self.blockWords * 8 else { return nil }
        words.append(contentsOf: repeatElement(0, count: Swift.max(0, first - words.count)))
        for start in stride(from: content.startIndex, to: content.endIndex, by: 8) {
          words.append((0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[start + $1]) << UInt64(8 * $1) })
        }
      case 0...UInt8(Self.mostLowerBits):
        var bits = BitReader(content)
        var last = -1
        while let gap = bits.gap(lower: Int(form)) {
          last += gap + 1
          guard last < Self.blockSize else { return nil }
          insert(Int64(first << 6 | last))
        }
      default: return nil
      }
      index += length
      block += 1
    }
    trim()
  }

  /// Appends a number with seven bits in each byte, the lowest bits first. The highest bit of a byte says that another
  /// byte follows (LEB128).
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

/// Writes bits one after another. Each byte begins with its lowest bit.
private struct BitWriter {
  private var bytes: [UInt8] = []
  private var rest: UInt64 = 0
  private var count = 0

  /// Writes the upper part of the gap as this many ones and a zero, and then writes the lower bits.
  mutating func append(gap: Int, lower: Int) {
    for _ in 0..<gap >> lower { append(1, count: 1) }
    append(0, count: 1)
    append(UInt64(gap & (1 << lower - 1)), count: lower)
  }

  private mutating func append(_ bits: UInt64, count added: Int) {
    rest |= bits << UInt64(count)
    count += added
    while count >= 8 {
      bytes.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
      count -= 8
    }
  }

  /// The written bytes. The last byte is filled with ones. A reader treats them as a gap that is cut off.
  var finished: [UInt8] { count == 0 ? bytes : bytes + [UInt8(truncatingIfNeeded: rest | ~0 << UInt64(count))] }
}

private struct BitReader {
  private let bytes: ArraySlice<UInt8>
  private var place = 0

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  private mutating func next() -> Int? {
    if place >= bytes.count * 8 { return nil }
    defer { place += 1 }
    return Int(bytes[bytes.startIndex + place >> 3] >> UInt8(place & 7) & 1)
  }

  /// Returns the next gap. nil at the end, or if the gap is cut off.
  mutating func gap(lower: Int) -> Int? {
    var upper = 0
    while let bit = next() {
      if bit == 0 { return lowerBits(lower).map { upper << lower | $0 } }
      upper += 1
    }
    return nil
  }

  private mutating func lowerBits(_ count: Int) -> Int? {
    var bits = 0
    for shift in 0..<count {
      guard let bit = next() else { return nil }
      bits |= bit << shift
    }
    return bits
  }
}
