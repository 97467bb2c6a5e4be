/// Base64 with the standard alphabet and padding (RFC 4648, section 4). Each sequence of bytes has one text, and only
/// this text is decoded. The decoder refuses line breaks, missing padding, and unused bits that are not zero.
public enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let invalid: UInt8 = 0xff
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: invalid, count: 256)
    for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
    return values
  }()
  private static let padding = UInt8(ascii: "=")

  public static func encode(_ bytes: [UInt8]) -> [UInt8] {
    let alphabet = alphabet
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var i = 0
    while i + 3 <= bytes.count {
      let group = UInt32(bytes[i]) << 16 | UInt32(bytes[i + 1]) << 8 | UInt32(bytes[i + 2])
      text.append(alphabet[Int(group >> 18)])
      text.append(alphabet[Int(group >> 12 & 63)])
      text.append(alphabet[Int(group >> 6 & 63)])
      text.append(alphabet[Int(group & 63)])
      i += 3
    }
    switch bytes.count - i {
    case 1:
      text.append(alphabet[Int(bytes[i] >> 2)])
      text.append(alphabet[Int(bytes[i] << 4 & 63)])
      text.append(padding)
      text.append(padding)
    case 2:
      text.append(alphabet[Int(bytes[i] >> 2)])
      text.append(alphabet[Int((bytes[i] << 4 | bytes[i + 1] >> 4) & 63)])
      text.append(alphabet[Int(bytes[i + 1] << 2 & 63)])
      text.append(padding)
    default: break
    }
    return text
  }

  /// The bytes of a text; nil: `encode` never writes this text.
  public static func decode(_ text: [UInt8]) -> [UInt8]? {
    guard text.count % 4 == 0 else { return nil }
    guard let last = text.last else { return [] }
    let paddings = last != padding ? 0 : text[text.count - 2] != padding ? 1 : 2
    let letters = text.count - paddings

    let values = values
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var i = 0
    while i + 4 <= letters {
      let (a, b, c, d) = (
        values[Int(text[i])], values[Int(text[i + 1])], values[Int(text[i + 2])], values[Int(text[i + 3])]
      )
      guard a | b | c | d != invalid else { return nil }
      bytes.append(a << 2 | b >> 4)
      bytes.append(b << 4 | c >> 2)
      bytes.append(c << 6 | d)
      i += 4
    }
    guard paddings > 0 else { return bytes }
    let (a, b) = (values[Int(text[i])], values[Int(text[i + 1])])
    guard a | b != invalid else { return nil }
    bytes.append(a << 2 | b >> 4)
    if paddings == 2 { return b & 0xf == 0 ? bytes : nil }
    let c = values[Int(text[i + 2])]
    guard c != invalid, c & 3 == 0 else { return nil }
    bytes.append(b << 4 | c >> 2)
    return bytes
  }
}
