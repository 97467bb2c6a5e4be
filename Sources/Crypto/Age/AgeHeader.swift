import CSodium

/// The beginning of an age file: the stanzas of the recipients, and a message authentication code (MAC) over them.
struct AgeHeader {
  static let version = "age-encryption.org/v1\n"
  /// The largest accepted header, in bytes. A header for a hundred recipients is smaller.
  static let maximumBytes = 64 << 10
  private static let macSize = 32

  let stanzas: [AgeStanza]
  /// The header up to and including `---`. The MAC authenticates these bytes.
  private let proven: [UInt8]
  private let mac: [UInt8]

  /// Reads a complete header: everything up to the end of the line that begins with `---`.
  init(_ bytes: [UInt8]) throws(AgeError) {
    guard bytes.starts(with: Self.version.utf8) else { throw .notAge }
    guard bytes.last == 0x0a else { throw .malformed("it does not end") }
    var lines = bytes.dropLast().dropFirst(Self.version.utf8.count)
      .split(separator: 0x0a, omittingEmptySubsequences: false)[...]
    var stanzas: [AgeStanza] = []
    while let line = lines.popFirst() {
      if line.starts(with: "---".utf8) {
        guard line.starts(with: "--- ".utf8), let mac = AgeBase64.decode(line.dropFirst(4)), mac.count == Self.macSize,
          lines.isEmpty
        else { throw .malformed("its last line is malformed") }
        if stanzas.isEmpty { throw .malformed("it has no recipient") }
        self.stanzas = stanzas
        self.mac = mac
        proven = Array(bytes[..<(line.startIndex + 3)])
        return
      }
      stanzas.append(try Self.stanza(line, &lines))
    }
    throw .malformed("it does not end")
  }

  private static func stanza(_ first: ArraySlice<UInt8>, _ lines: inout ArraySlice<ArraySlice<UInt8>>) throws(AgeError)
    -> AgeStanza
  {
    guard first.starts(with: "-> ".utf8) else { throw .malformed("a line has another beginning") }
    let words = first.dropFirst(3).split(separator: 0x20, omittingEmptySubsequences: false)
    guard words.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (33...126).contains($0) } }) else {
      throw .malformed("a recipient has an argument that is empty or not text")
    }
    var body: [UInt8] = []
    while let line = lines.popFirst() {
      guard line.count <= AgeStanza.lineLength, let bytes = AgeBase64.decode(line) else {
        throw .malformed("a recipient's body is malformed")
      }
      body += bytes
      if line.count < AgeStanza.lineLength {
        let texts = words.map { String(decoding: $0, as: UTF8.self) }
        return AgeStanza(type: texts[0], arguments: Array(texts[1...]), body: body)
      }
    }
    throw .malformed("a recipient's body does not end")
  }

  /// Makes a header for these recipients.
  init(_ stanzas: [AgeStanza], fileKey: borrowing SecretBytes) {
    self.stanzas = stanzas
    proven = Array((Self.version + stanzas.map(\.text).joined() + "---").utf8)
    mac = Self.mac(of: proven, fileKey)
  }

  var bytes: [UInt8] { proven + Array(" \(AgeBase64.encode(mac))\n".utf8) }

  /// Whether the header's MAC was made with this key.
  func isProven(by fileKey: borrowing SecretBytes) -> Bool {
    let right = Self.mac(of: proven, fileKey)
    return sodium_memcmp(right, mac, mac.count) == 0
  }

  private static func mac(of bytes: [UInt8], _ fileKey: borrowing SecretBytes) -> [UInt8] {
    let key = HKDF.derive(fileKey, salt: [], info: "header")
    let result = SecretBytes(count: macSize)
    var message = bytes
    message.withUnsafeMutableBytes { HKDF.hmac(key: Array(key.memory), $0, into: result) }
    return Array(result.memory)
  }
}
