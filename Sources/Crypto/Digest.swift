import SatchelValues

/// A BLAKE2b digest of 64 bytes, which identifies a sequence of bytes (RFC 7693, without a key).
public struct Digest: Hashable, Sendable, CustomStringConvertible {
  public static let size = 64
  public let bytes: [UInt8]

  /// Makes a digest from exactly 64 bytes; nil: there are more or fewer bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Self.size else { return nil }
    self.bytes = bytes
  }

  init(unchecked bytes: [UInt8]) { self.bytes = bytes }

  /// The digest of bytes in memory. For bytes that come in pieces, use `BLAKE2b512`.
  public static func of(_ bytes: [UInt8]) -> Digest { Digest(unchecked: blake2b(bytes, length: size)) }

  /// The digest as 128 lower-case digits, as `b2sum` prints it.
  public var hexadecimal: String { Hexadecimal.text(of: bytes) }

  /// Accepts only 128 lower-case digits, so that a digest has one spelling.
  public init?(hexadecimal text: some StringProtocol) {
    guard let bytes = Hexadecimal.bytes(of: text) else { return nil }
    self.init(bytes: bytes)
  }

  public var description: String { hexadecimal }
}
