/// Lower-case hexadecimal text, with two digits for each byte.
public enum Hexadecimal {
  public static func text(of bytes: some Collection<UInt8>) -> String {
    String(decoding: utf8(of: bytes), as: UTF8.self)
  }

  /// The hexadecimal text as UTF-8 bytes.
  public static func utf8(of bytes: some Collection<UInt8>) -> [UInt8] { utf8(of: Array(bytes)) }

  /// The same for an array. The compiler makes slow code from a loop over any collection.
  private static func utf8(of bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.count)
    for byte in bytes {
      text.append(digit(byte >> 4))
      text.append(digit(byte & 0xf))
    }
    return text
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + (value - 10)
  }

  /// The sixteen digits of a number, as UTF-8 bytes. The highest digit is first.
  public static func utf8(of bits: UInt64) -> [UInt8] {
    utf8(of: (0..<8).lazy.map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) })
  }

  /// The number with these digits; nil if the bytes are not sixteen lower-case hexadecimal digits.
  @inlinable public static func bits(of digits: some Collection<UInt8>) -> UInt64? {
    if digits.count != 16 { return nil }
    var bits: UInt64 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): bits = bits << 4 | UInt64(digit - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): bits = bits << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return bits
  }

  /// The bytes of a hexadecimal text; nil if it has other characters or an odd number of digits.
  public static func bytes(of text: some StringProtocol) -> [UInt8]? { bytes(of: Array(text.utf8)) }

  private static func bytes(of digits: [UInt8]) -> [UInt8]? {
    if digits.count % 2 != 0 { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for i in stride(from: 0, to: digits.count, by: 2) {
      guard let high = value(of: digits[i]), let low = value(of: digits[i + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
