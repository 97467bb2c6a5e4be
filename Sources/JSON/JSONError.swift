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
}
