/// Changes bytes as decay, accidents and attackers do. The same seed makes the same changes.
public struct Mutator {
  private var numbers: SplitMix64

  public init(seed: UInt64) { numbers = SplitMix64(seed: seed) }

  private static let words: [String] = [
    "null", "true", "-0", "1e999", "9007199254740992", "-9223372036854775809", "\"\\ud800\"", "\"\\u0000\"", "{}", "[]",
    "[[[[[[[[",
    "\n", "\u{0}", "\"", "\\", ":", ",", "}", "]", "e", ".", "-", "../", "\r\n", "\u{feff}", " ", "age1", "key=",
    "0f0f",
  ]

  public mutating func number(below limit: Int) -> Int { Int(numbers.next() % UInt64(max(1, limit))) }

  /// Makes one to four changes.
  public mutating func mutate(_ bytes: [UInt8], with other: [UInt8]) -> [UInt8] {
    var result = bytes
    for _ in 0...number(below: 4) { change(&result, other) }
    return result
  }

  private mutating func change(_ bytes: inout [UInt8], _ other: [UInt8]) {
    let place = number(below: bytes.count + 1)
    let end = min(bytes.count, place + 1 + number(below: 1 << number(below: 12)))
    switch number(below: 9) {
    case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8(number(below: 8))
    case 1 where place < bytes.count: bytes[place] = [0, 1, 0x7f, 0x80, 0xff, 0x20, 0x30, 0x39][number(below: 8)]
    case 2: bytes.removeSubrange(place..<end)
    case 3: bytes.insert(contentsOf: Array(bytes[place..<end]), at: number(below: bytes.count + 1))
    case 4: bytes.replaceSubrange(place..<end, with: Array(Self.words[number(below: Self.words.count)].utf8))
    case 5: bytes.insert(contentsOf: Array(Self.words[number(below: Self.words.count)].utf8), at: place)
    case 6: bytes = Array(bytes[..<place]) + other[number(below: other.count + 1)...]
    case 7: bytes.removeSubrange(place...)
    default:
      let digits = bytes.indices.filter { (48...57).contains(bytes[$0]) }
      if let digit = digits.isEmpty ? nil : digits[number(below: digits.count)] {
        bytes[digit] = UInt8(48 + number(below: 10))
      }
    }
  }
}
