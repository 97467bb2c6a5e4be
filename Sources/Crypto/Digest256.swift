import CSodium
import SatchelValues

/// A BLAKE2b digest of 32 bytes, as four numbers of 64 bits. The most significant number is first.
///
/// Digests of this kind can be added. The sum of the digests of several rows does not depend on the rows' order. If one
/// row changes, the sum changes.
public struct Digest256: Hashable, Sendable {
  public static let size = 32
  private var words: (UInt64, UInt64, UInt64, UInt64)

  public static let zero = Digest256(words: (0, 0, 0, 0))

  private init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

  /// Makes a digest from exactly 32 bytes; nil: there are more or fewer bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Self.size else { return nil }
    func word(_ place: Int) -> UInt64 { bytes[8 * place..<8 * place + 8].reduce(0) { $0 << 8 | UInt64($1) } }
    words = (word(0), word(1), word(2), word(3))
  }

  /// The digest of bytes in memory (RFC 7693, without a key).
  public static func of(_ bytes: [UInt8]) -> Digest256 {
    Sodium.start()
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    let status = withUnsafeMutableBytes(of: &words) { room in
      guard let place = room.baseAddress else { return Int32(-1) }
      return crypto_generichash(place.assumingMemoryBound(to: UInt8.self), size, bytes, UInt64(bytes.count), nil, 0)
    }
    precondition(status == 0, "BLAKE2b fails for no input")
    return Digest256(words: (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian))
  }

  /// Accepts only 64 lower-case digits.
  public init?(hexadecimal text: some StringProtocol) {
    guard let bytes = Hexadecimal.bytes(of: text) else { return nil }
    self.init(bytes: bytes)
  }

  public var bytes: [UInt8] {
    [words.0, words.1, words.2, words.3].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
    }
  }

  public var hexadecimal: String { Hexadecimal.text(of: bytes) }

  /// The first `count` bits as a number. The result is below 2^`count`.
  public func first(bits count: Int) -> Int { Int(words.0 >> UInt64(64 - count)) }

  /// The first eight bytes as a big-endian number.
  public var first64: UInt64 { words.0 }

  public static func == (a: Digest256, b: Digest256) -> Bool { a.words == b.words }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.3)
  }

  /// Addition modulo 2^256.
  public static func += (sum: inout Digest256, other: Digest256) {
    var carry = false
    (sum.words.3, carry) = add(sum.words.3, other.words.3, carry)
    (sum.words.2, carry) = add(sum.words.2, other.words.2, carry)
    (sum.words.1, carry) = add(sum.words.1, other.words.1, carry)
    (sum.words.0, carry) = add(sum.words.0, other.words.0, carry)
  }

  /// Subtraction modulo 2^256.
  public static func -= (sum: inout Digest256, other: Digest256) {
    let inverted = Digest256(words: (~other.words.0, ~other.words.1, ~other.words.2, ~other.words.3))
    sum += inverted
    sum += Digest256(words: (0, 0, 0, 1))
  }

  private static func add(_ a: UInt64, _ b: UInt64, _ carry: Bool) -> (UInt64, Bool) {
    let (sum, first) = a.addingReportingOverflow(b)
    let (total, second) = sum.addingReportingOverflow(carry ? 1 : 0)
    return (total, first || second)
  }
}
