/// A stanza of an age header: one copy of the file's key, encrypted for one recipient. It has a type, arguments, and a
/// body.
struct AgeStanza: Equatable {
  let type: String
  let arguments: [String]
  let body: [UInt8]

  /// The stanza as text. The body is base64 without padding, in lines of 64 characters. The last line is shorter, and
  /// may be empty.
  var text: String {
    let encoded = AgeBase64.encode(body)[...]
    var lines = ["-> " + ([type] + arguments).joined(separator: " ")]
    var rest = encoded.utf8[...]
    while true {
      lines.append(String(decoding: rest.prefix(Self.lineLength), as: UTF8.self))
      if rest.count < Self.lineLength { break }
      rest = rest.dropFirst(Self.lineLength)
    }
    return lines.map { $0 + "\n" }.joined()
  }

  static let lineLength = 64
}

/// Base64 (RFC 4648) without padding. The decoder requires that unused bits are zero.
enum AgeBase64 {
  static func encode(_ bytes: [UInt8]) -> String {
    let padded = Base64Text.encode(bytes)
    return String(decoding: padded.utf8.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
  }

  /// The bytes of a text; nil: `encode` never writes this text.
  static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    if text.isEmpty { return [] }
    guard text.count % 4 != 1, !text.contains(UInt8(ascii: "=")) else { return nil }
    let padded = Array(text) + [UInt8](repeating: UInt8(ascii: "="), count: (4 - text.count % 4) % 4)
    return Base64Text.decode(padded, count: text.count * 3 / 4)
  }
}
