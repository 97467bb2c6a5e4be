/// Why a text is not the requested JSON, and the place of the error.
public struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The position of the byte at which reading stopped, counted from 0.
  public let offset: Int
  /// The fault at this byte, in words for people.
  public let reason: String

  public init(offset: Int, reason: String) {
    self.offset = offset
    self.reason = reason
  }

  public var description: String { "byte \(offset): \(reason)" }

  /// The place of the fault for a person who has the document in an editor: "line 3, column 5", both counted from 1.
  /// - Parameter document: the bytes that were read.
  public func place(in document: [UInt8]) -> String {
    let before = document.prefix(offset)
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    // An editor counts characters. In UTF-8 each character has one byte that does not begin with the bits 1 and 0.
    return "line \(line), column \(before[start...].count { $0 & 0xC0 != 0x80 } + 1)"
  }
}
