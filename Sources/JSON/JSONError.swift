/// Why a text is not the requested JSON, and where.
public struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The byte at which reading stopped, counted from 0.
  public let offset: Int
  /// What is wrong there, in words for people.
  public let reason: String

  public init(offset: Int, reason: String) {
    self.offset = offset
    self.reason = reason
  }

  public var description: String { "byte \(offset): \(reason)" }
}
