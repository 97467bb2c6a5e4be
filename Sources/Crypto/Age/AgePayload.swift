import CSodium

/// The encrypted content of an age file: chunks of 64 KiB. Each chunk has an authentication tag, and the last chunk has
/// a mark.
///
/// The scheme is STREAM (Hoang, Reyhanitabar, Rogaway, Vizár: "Online Authenticated-Encryption and its Nonce-Reuse
/// Misuse-Resistance", 2015).
struct AgePayload: ~Copyable {
  static let nonceSize = 16
  static let chunkSize = 64 << 10
  static let tagSize = 16

  private let key: SecretBytes
  private var counter: UInt64 = 0

  init(fileKey: borrowing SecretBytes, nonce: [UInt8]) { key = HKDF.derive(fileKey, salt: nonce, info: "payload") }

  mutating func seal(_ chunk: ArraySlice<UInt8>, isLast: Bool) -> [UInt8] {
    var sealed = [UInt8](repeating: 0, count: chunk.count + Self.tagSize)
    let nonce = nextNonce(isLast: isLast)
    chunk.withUnsafeBufferPointer {
      _ = crypto_aead_chacha20poly1305_ietf_encrypt(
        &sealed, nil, $0.baseAddress, UInt64($0.count), nil, 0, nil, nonce, key.pointer())
    }
    return sealed
  }

  /// Decrypts the next chunk. Throws `contentChanged` if the chunk was changed, or is not the next chunk of the file.
  mutating func open(_ chunk: ArraySlice<UInt8>, isLast: Bool) throws(AgeError) -> [UInt8] {
    // A chunk without content is allowed only if it is the only chunk.
    guard chunk.count > Self.tagSize || chunk.count == Self.tagSize && isLast && counter == 0 else {
      throw .contentChanged
    }
    var opened = [UInt8](repeating: 0, count: chunk.count - Self.tagSize)
    let nonce = nextNonce(isLast: isLast)
    let isRight = chunk.withUnsafeBufferPointer { sealed in
      guard let start = sealed.baseAddress else { return false }
      return crypto_aead_chacha20poly1305_ietf_decrypt(
        &opened, nil, nil, start, UInt64(sealed.count), nil, 0, nonce, key.pointer()) == 0
    }
    if !isRight { throw .contentChanged }
    return opened
  }

  private mutating func nextNonce(isLast: Bool) -> [UInt8] {
    defer { counter += 1 }
    return [0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: counter >> UInt64(56 - 8 * $0)) } + [isLast ? 1 : 0]
  }
}
