/// Checks for well-formed UTF-8, by table 3-7 of The Unicode Standard. Overlong forms, surrogates, and scalars above
/// U+10FFFF are not well-formed.
enum UTF8Sequences {
  /// The length of the sequence of two to four bytes that begins at `i`; 0 if the sequence is ill-formed.
  static func length(in bytes: [UInt8], at i: Int) -> Int {
    switch bytes[i] {
    case 0xc2...0xdf: continues(bytes, i + 1) ? 2 : 0
    case 0xe0: continues(bytes, i + 1, 0xa0...0xbf) && continues(bytes, i + 2) ? 3 : 0
    case 0xed: continues(bytes, i + 1, 0x80...0x9f) && continues(bytes, i + 2) ? 3 : 0
    case 0xe1...0xef: continues(bytes, i + 1) && continues(bytes, i + 2) ? 3 : 0
    case 0xf0: continues(bytes, i + 1, 0x90...0xbf) && continues(bytes, i + 2) && continues(bytes, i + 3) ? 4 : 0
    case 0xf1...0xf3: continues(bytes, i + 1) && continues(bytes, i + 2) && continues(bytes, i + 3) ? 4 : 0
    case 0xf4: continues(bytes, i + 1, 0x80...0x8f) && continues(bytes, i + 2) && continues(bytes, i + 3) ? 4 : 0
    default: 0
    }
  }

  /// Whether `bytes` are well-formed and contain no NUL. A C function would cut the text at a NUL.
  static func isTextWithoutNUL(_ bytes: [UInt8]) -> Bool {
    var i = JSONText.endOfPlain(bytes.span, from: 0)
    while i < bytes.count {
      let byte = bytes[i]
      if byte &- 1 < 0x7f {
        i = JSONText.endOfPlain(bytes.span, from: i + 1)
        continue
      }
      if byte == 0 { return false }
      let length = length(in: bytes, at: i)
      if length == 0 { return false }
      i += length
    }
    return true
  }

  /// Appends the UTF-8 form of a scalar. The scalar must not be a surrogate.
  static func append(_ scalar: UInt32, to bytes: inout [UInt8]) {
    switch scalar {
    case ..<0x80:
      bytes.append(UInt8(scalar))
    case ..<0x800:
      bytes.append(UInt8(0xc0 | scalar >> 6))
      bytes.append(UInt8(0x80 | scalar & 0x3f))
    case ..<0x10000:
      bytes.append(UInt8(0xe0 | scalar >> 12))
      bytes.append(UInt8(0x80 | scalar >> 6 & 0x3f))
      bytes.append(UInt8(0x80 | scalar & 0x3f))
    default:
      bytes.append(UInt8(0xf0 | scalar >> 18))
      bytes.append(UInt8(0x80 | scalar >> 12 & 0x3f))
      bytes.append(UInt8(0x80 | scalar >> 6 & 0x3f))
      bytes.append(UInt8(0x80 | scalar & 0x3f))
    }
  }

  private static func continues(_ bytes: [UInt8], _ i: Int, _ range: ClosedRange<UInt8> = 0x80...0xbf) -> Bool {
    i < bytes.count && range.contains(bytes[i])
  }
}
