import CSodium

/// Base64 in the form of minisign's files: the standard alphabet with padding.
enum Base64Text {
  static func encode(_ bytes: [UInt8]) -> String {
    Sodium.start()
    var text = [CChar](repeating: 0, count: sodium_base64_encoded_len(bytes.count, sodium_base64_VARIANT_ORIGINAL))
    sodium_bin2base64(&text, text.count, bytes, bytes.count, sodium_base64_VARIANT_ORIGINAL)
    return String(decoding: text.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The bytes of a text; nil: `encode` does not write this text for `count` bytes.
  static func decode(_ text: some Collection<UInt8>, count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let isWhole = bytes.withUnsafeMutableBytes { decode(text, into: $0) }
    return isWhole ? bytes : nil
  }

  /// Decodes a text into the caller's memory, so no other copy of a secret is made. Returns false if the text is
  /// malformed, or does not fill the memory exactly.
  static func decode(_ text: some Collection<UInt8>, into memory: UnsafeMutableRawBufferPointer) -> Bool {
    Sodium.start()
    guard let start = memory.baseAddress else { return text.isEmpty }
    // libsodium 1.0.18 reads every byte above 0x7f as a '/'.
    guard text.allSatisfy({ $0 < 0x80 }) else { return false }
    var characters = text.map { CChar(bitPattern: $0) }
    defer { sodium_memzero(&characters, characters.count) }
    var length = 0
    let status = sodium_base642bin(
      start.assumingMemoryBound(to: UInt8.self), memory.count, characters, characters.count, nil, &length, nil,
      sodium_base64_VARIANT_ORIGINAL)
    return status == 0 && length == memory.count
  }
}
