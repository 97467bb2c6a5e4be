import SatchelValues

/// Eight random bytes by which a signature names its key. The id helps to find the key, and proves nothing.
public struct KeyID: Hashable, Sendable, CustomStringConvertible {
  public static let size = 8
  public let bytes: [UInt8]

  /// Makes an id from exactly 8 bytes; nil: there are more or fewer bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Self.size else { return nil }
    self.bytes = bytes
  }

  init(unchecked bytes: ArraySlice<UInt8>) { self.bytes = Array(bytes) }

  /// The bytes as a little-endian number in sixteen upper-case hexadecimal digits. minisign prints the same number, but
  /// some versions omit leading zeros.
  public var description: String { Hexadecimal.text(of: bytes.reversed()).uppercased() }
}
