/// Why bytes are not valid JSON, or not the JSON that the caller expected, and the place of the error.
public struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The position at which the scanner stopped, in bytes, counted from 0.
  public let offset: Int
  /// The fault at this byte, in words for people.
  public let reason: String

  public init(offset: Int, reason: String) {
    self.offset = offset
    self.reason = reason
  }

  public var description: String { "byte \(offset): \(reason)" }

  /// The place of the error for a person who opens the document in an editor: "line 3, column 5". Both are counted from
  /// 1.
  /// - Parameter document: the bytes that were read.
  public func place(in document: [UInt8]) -> String {
    let before = document.prefix(offset)
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    // An editor counts characters. In UTF-8 each character has exactly one byte that does not begin with the bits 1 and
    // 0.
    return "line \(line), column \(before[start...].count { $0 & 0xC0 != 0x80 } + 1)"
  }
}
