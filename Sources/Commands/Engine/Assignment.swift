/// A word of the form `NAME=VALUE`, such as `region=north`.
public struct Assignment: Hashable, Sendable {
  public let name: String
  public let value: String

  /// Splits at the first `=`. nil if there is no `=`, or no name before it.
  public init?(_ word: String) {
    // Bytes, not characters: an equals sign followed by a combining mark is one character, and still a separator.
    let bytes = word.utf8
    guard let cut = bytes.firstIndex(of: UInt8(ascii: "=")), cut > bytes.startIndex else { return nil }
    name = String(decoding: Array(bytes[..<cut]), as: UTF8.self)
    value = String(decoding: Array(bytes[bytes.index(after: cut)...]), as: UTF8.self)
  }
}
