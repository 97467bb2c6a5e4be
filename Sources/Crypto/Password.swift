import CSodium

/// A password that protects a key. Its memory is wiped at the end.
public final class Password {
  private let secret: SecretBytes

  /// Returns nil if the password is empty, because an empty password protects nothing.
  public init?(_ bytes: [UInt8]) {
    if bytes.isEmpty { return nil }
    secret = SecretBytes(count: bytes.count)
    secret.memory.copyBytes(from: bytes)
  }

  /// Derives `count` bytes with scrypt. The limits have the meaning that libsodium and minisign give them. nil: the
  /// machine has too little memory.
  func scrypt(salt: [UInt8], operations: UInt64, memory: UInt64, count: Int) -> SecretBytes? {
    let derived = SecretBytes(count: count)
    let size = secret.memory.count
    let status = secret.pointer().withMemoryRebound(to: CChar.self, capacity: size) {
      crypto_pwhash_scryptsalsa208sha256(
        derived.pointer(), UInt64(count), $0, UInt64(size), salt, operations, Int(memory))
    }
    if status != 0 { return nil }
    return derived
  }

  /// Derives `count` bytes with scrypt (RFC 7914). This needs `cost` × `blockSize` × 128 bytes of memory. nil: the
  /// machine has too little memory.
  func scrypt(salt: [UInt8], cost: UInt64, blockSize: UInt32, parallelization: UInt32, count: Int) -> SecretBytes? {
    let derived = SecretBytes(count: count)
    let status = crypto_pwhash_scryptsalsa208sha256_ll(
      secret.pointer(), secret.memory.count, salt, salt.count, cost, blockSize, parallelization, derived.pointer(),
      count)
    if status != 0 { return nil }
    return derived
  }
}
