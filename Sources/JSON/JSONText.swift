/// The loop over a text's bytes in which most time is spent. It is a function of its own, so that the compiler
/// optimises it well.
enum JSONText {
  /// The position of the first byte from `start` on that is not plain; the end if all bytes are plain. A byte is not
  /// plain if it is a quote, a backslash, a control character, or not ASCII.
  static func endOfPlain(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var i = start
    // Each iteration checks eight bytes, because most strings have only plain bytes. The load checks its bounds. Swift
    // marks the load as unsafe, because some types have padding or invalid bit patterns. `UInt64` has neither.
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

  /// Whether all eight bytes are plain. If a byte is not plain, a term of `odd` sets this byte's top bit. A borrow can
  /// also set the top bit of a plain byte. But this happens only if a lower byte is not plain.
  @inline(__always)
  private static func isPlain(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ (ones &* 0x22)
    let backslashes = word ^ (ones &* 0x5c)
    let odd = word | (word &- (ones &* 0x20)) | (quotes &- ones) | (backslashes &- ones)
    return odd & (ones &* 0x80) == 0
  }
}
