extension JSONScanner {
  /// Returns the UTF-8 bytes of the next string, with its escapes replaced.
  public mutating func readString() throws(JSONError) -> [UInt8] {
    let (content, hasEscapes) = try passString()
    return hasEscapes ? unescape(content) : Array(bytes[content])
  }

  /// Skips a string and checks its whole content. After this check, `unescape` needs no check of its own.
  mutating func passString() throws(JSONError) -> (content: Range<Int>, hasEscapes: Bool) {
    try pass(UInt8(ascii: "\""), else: "expected a string")
    let bytes = bytes
    let start = index
    var hasEscapes = false
    var i = start
    while i < bytes.count {
      i = JSONText.endOfPlain(bytes.span, from: i)
      guard i < bytes.count else { break }
      let byte = bytes[i]
      if byte == UInt8(ascii: "\"") {
        guard i - start <= limits.maxStringBytes else {
          throw error("a string longer than \(limits.maxStringBytes) bytes")
        }
        index = i + 1
        return (start..<i, hasEscapes)
      } else if byte == UInt8(ascii: "\\") {
        hasEscapes = true
        i = try endOfEscape(at: i)
      } else if byte < 0x20 {
        throw JSONError(offset: i, reason: "a control character in a string")
      } else {
        let length = UTF8Sequences.length(in: bytes, at: i)
        guard length > 0 else { throw JSONError(offset: i, reason: "bytes that are not UTF-8") }
        i += length
      }
    }
    throw JSONError(offset: i, reason: "the text ends inside a string")
  }

  private func endOfEscape(at i: Int) throws(JSONError) -> Int {
    guard i + 1 < bytes.count else { throw JSONError(offset: i, reason: "the text ends inside a string") }
    if bytes[i + 1] != UInt8(ascii: "u") {
      guard simpleEscape(bytes[i + 1]) != nil else {
        throw JSONError(offset: i, reason: "an escape that JSON does not have")
      }
      return i + 2
    }
    guard let unit = codeUnit(at: i) else {
      throw JSONError(offset: i, reason: "expected four hexadecimal digits after \\u")
    }
    guard unit & 0xf800 == 0xd800 else { return i + 6 }
    guard unit < 0xdc00, let low = codeUnit(at: i + 6), low & 0xfc00 == 0xdc00 else {
      throw JSONError(offset: i, reason: "half of a surrogate pair")
    }
    return i + 12
  }

  func unescape(_ content: Range<Int>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(content.count)
    var i = content.lowerBound
    while i < content.upperBound {
      let run = bytes[i..<content.upperBound].firstIndex(of: UInt8(ascii: "\\")) ?? content.upperBound
      result.append(contentsOf: bytes[i..<run])
      i = run
      guard i < content.upperBound else { break }
      if let byte = simpleEscape(bytes[i + 1]) {
        result.append(byte)
        i += 2
      } else {
        var scalar = codeUnit(at: i) ?? 0
        i += 6
        if scalar & 0xf800 == 0xd800 {
          scalar = 0x10000 + (scalar & 0x3ff) << 10 + (codeUnit(at: i) ?? 0) & 0x3ff
          i += 6
        }
        UTF8Sequences.append(scalar, to: &result)
      }
    }
    return result
  }

  private func simpleEscape(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0c
    case UInt8(ascii: "n"): 0x0a
    case UInt8(ascii: "r"): 0x0d
    case UInt8(ascii: "t"): 0x09
    default: nil
    }
  }

  /// The UTF-16 code unit that is written at `i` as `\u` and four hexadecimal digits; nil: the bytes at `i` have
  /// another form.
  private func codeUnit(at i: Int) -> UInt32? {
    guard i + 6 <= bytes.count, bytes[i] == UInt8(ascii: "\\"), bytes[i + 1] == UInt8(ascii: "u") else { return nil }
    var unit: UInt32 = 0
    for digit in bytes[i + 2..<i + 6] {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): unit = unit << 4 | UInt32(digit - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): unit = unit << 4 | UInt32(digit - UInt8(ascii: "a") + 10)
      case UInt8(ascii: "A")...UInt8(ascii: "F"): unit = unit << 4 | UInt32(digit - UInt8(ascii: "A") + 10)
      default: return nil
      }
    }
    return unit
  }
}
