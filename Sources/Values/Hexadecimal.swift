/// Lower-case hexadecimal text, two digits a byte.
public enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  public static func text(of bytes: some Collection<UInt8>) -> String { String(decoding: utf8(of: bytes), as: UTF8.self) }

  /// The same as bytes.
  public static func utf8(of bytes: some Collection<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.count)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 0xf)])
    }
    return text
  }

  /// nil where it is no such text.
  public static func bytes(of text: some StringProtocol) -> [UInt8]? {
    let values = text.utf8.compactMap { digits.firstIndex(of: $0).map(UInt8.init) }
    guard values.count == text.utf8.count, values.count % 2 == 0 else { return nil }
    return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
  }
}
