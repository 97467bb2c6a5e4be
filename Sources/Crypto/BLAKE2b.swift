import CSodium

/// The BLAKE2b digest of bytes (RFC 7693, without a key). The digest has 16 to 64 bytes. A shorter digest is not a
/// prefix of a longer digest.
public func blake2b(_ bytes: [UInt8], length: Int) -> [UInt8] {
  precondition((16...64).contains(length), "a length that libsodium offers")
  Sodium.start()
  var digest = [UInt8](repeating: 0, count: length)
  let status = crypto_generichash(&digest, length, bytes, UInt64(bytes.count), nil, 0)
  precondition(status == 0, "BLAKE2b fails for no input")
  return digest
}

/// Computes a BLAKE2b digest of 64 bytes. The input comes in pieces.
///
///     var hasher = BLAKE2b512()
///     while let piece = try file.next() { hasher.update(piece) }
///     let digest = hasher.finish()
public struct BLAKE2b512: ~Copyable {
  /// The memory of libsodium's state. The state needs an alignment of 64 bytes. Swift does not align a struct from C in
  /// this way if the struct's members are unknown to Swift.
  private let memory: UnsafeMutableRawPointer

  public init() {
    Sodium.start()
    memory = .allocate(byteCount: crypto_generichash_statebytes(), alignment: 64)
    crypto_generichash_init(OpaquePointer(memory), nil, 0, Digest.size)
  }

  deinit { memory.deallocate() }

  public mutating func update(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { update($0) }
  }

  /// Adds bytes to the input. The call does not keep the pointer.
  public mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    crypto_generichash_update(OpaquePointer(memory), start.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count))
  }

  /// Returns the digest of all bytes. The hasher cannot be used after this call.
  public consuming func finish() -> Digest {
    var digest = [UInt8](repeating: 0, count: Digest.size)
    crypto_generichash_final(OpaquePointer(memory), &digest, Digest.size)
    return Digest(unchecked: digest)
  }
}
