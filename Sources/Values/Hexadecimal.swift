/// Lower-case hexadecimal text, with two digits for each byte.
public enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  public static func text(of bytes: some Collection<UInt8>) -> String {
    String(decoding: utf8(of: bytes), as: UTF8.self)
  }

  /// The hexadecimal text as UTF-8 bytes.
  public static func utf8(of bytes: some Collection<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.count)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 0xf)])
    }
    return text
  }

  /// The sixteen digits of a number, as UTF-8 bytes. The highest digit is first.
  public static func utf8(of bits: UInt64) -> [UInt8] {
    utf8(of: (0..<8).lazy.map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) })
  }

  /// The number that sixteen digits show; nil: the bytes are not sixteen lower-case digits.
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

  /// The bytes of a hexadecimal text; nil: the text has other characters or an odd length.
  public static func bytes(of text: some StringProtocol) -> [UInt8]? {
    let values = text.utf8.compactMap { digits.firstIndex(of: $0).map(UInt8.init) }
    guard values.count == text.utf8.count, values.count % 2 == 0 else { return nil }
    return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
  }
}
