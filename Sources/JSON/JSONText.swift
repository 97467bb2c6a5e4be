/// The loop over bytes that takes most of the time. It is separate so that the compiler makes tight code of it.
enum JSONText {
  /// The first byte from `start` on that needs unescaping or a check in a string: a quote, a backslash, a control
  /// character, or anything that is not ASCII.
  static func endOfPlain(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var i = start
    // Eight bytes a turn: most strings need no second look. The load checks its bounds. It counts as unsafe for types
    // with padding or with invalid bit patterns; these types have neither.
    let raw = unsafe bytes.bytes
    while i <= raw.byteCount &- 8, isPlain(unsafe raw.unsafeLoadUnaligned(fromByteOffset: i, as: UInt64.self)) {
      i &+= 8
    }
    while i < bytes.count {
      let byte = bytes[i]
      if byte &- 0x20 >= 0x60 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
      i &+= 1
    }
    return i
  }

  /// Whether all eight bytes are plain. The top bit of a byte in each term is set if the byte is not. A borrow can set
  /// it wrongly, but only above a byte for which it is set rightly.
  @inline(__always)
  private static func isPlain(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ (ones &* 0x22)
    let backslashes = word ^ (ones &* 0x5c)
    let odd = word | (word &- (ones &* 0x20)) | (quotes &- ones) | (backslashes &- ones)
    return odd & (ones &* 0x80) == 0
  }
}
