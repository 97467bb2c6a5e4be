import CSodium

/// HKDF with SHA-256 (RFC 5869). Its result has 32 bytes, which is one block. libsodium 1.0.18 does not have this
/// function.
enum HKDF {
  static let size = 32

  static func derive(_ secret: borrowing SecretBytes, salt: [UInt8], info: String) -> SecretBytes {
    let extracted = SecretBytes(count: size)
    hmac(key: salt, secret.memory, into: extracted)
    let block = SecretBytes(count: info.utf8.count + 1)
    block.memory.copyBytes(from: Array(info.utf8) + [1])
    let derived = SecretBytes(count: size)
    hmac(key: Array(extracted.memory), UnsafeMutableRawBufferPointer(block.memory), into: derived)
    return derived
  }

  /// HMAC-SHA-256 with a key of any length.
  static func hmac(key: [UInt8], _ message: UnsafeMutableRawBufferPointer, into result: borrowing SecretBytes) {
    Sodium.start()
    var state = crypto_auth_hmacsha256_state()
    var key = key
    defer { sodium_memzero(&key, key.count) }
    crypto_auth_hmacsha256_init(&state, key, key.count)
    crypto_auth_hmacsha256_update(
      &state, message.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(message.count))
    crypto_auth_hmacsha256_final(&state, result.pointer())
    sodium_memzero(&state, MemoryLayout<crypto_auth_hmacsha256_state>.size)
  }
}
