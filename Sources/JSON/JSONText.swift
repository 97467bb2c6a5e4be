/// The loop over bytes that takes most of the time. It is separate, so that the compiler makes fast code from it.
enum JSONText {
  /// The position of the first byte from `start` on that is not plain; the end if all are plain. Such a byte is a
  /// quote, a backslash, a control character, or not ASCII.
  static func endOfPlain(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var i = start
    // Each turn checks eight bytes, because most strings have only plain bytes. The load checks its bounds. It counts
    // as unsafe because types may have padding or invalid bit patterns. `UInt64` has neither.
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

  /// Whether all eight bytes are plain. If a byte is not plain, a term of `odd` sets the top bit of this byte. A borrow
  /// can also set the top bit of a plain byte, but only above a byte that is not plain.
  @inline(__always)
  private static func isPlain(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ (ones &* 0x22)
    let backslashes = word ^ (ones &* 0x5c)
    let odd = word | (word &- (ones &* 0x20)) | (quotes &- ones) | (backslashes &- ones)
    return odd & (ones &* 0x80) == 0
  }
}
