import CSodium

/// A password that protects a key. Its memory is wiped at the end.
public final class Password {
  private let secret: SecretBytes

  /// nil for an empty password, which protects nothing.
  public init?(_ bytes: [UInt8]) {
    if bytes.isEmpty { return nil }
    secret = SecretBytes(count: bytes.count)
    secret.memory.copyBytes(from: bytes)
  }

  /// scrypt with libsodium's limits, as minisign uses it. nil if the machine lacks the memory.
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

  /// scrypt (RFC 7914): it needs `cost` times `blockSize` times 128 bytes of memory. nil if the machine lacks them.
  func scrypt(salt: [UInt8], cost: UInt64, blockSize: UInt32, parallelization: UInt32, count: Int) -> SecretBytes? {
    let derived = SecretBytes(count: count)
    let status = crypto_pwhash_scryptsalsa208sha256_ll(
      secret.pointer(), secret.memory.count, salt, salt.count, cost, blockSize, parallelization, derived.pointer(),
      count)
    if status != 0 { return nil }
    return derived
  }
}
