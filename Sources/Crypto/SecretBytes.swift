import CSodium

/// Memory for a secret: guarded, kept out of swap and core dumps where the system allows, wiped when it goes.
struct SecretBytes: ~Copyable {
  let memory: UnsafeMutableRawBufferPointer

  init(count: Int) {
    Sodium.start()
    // There is no key without memory for it, and nothing that a caller could do about it.
    guard let start = sodium_malloc(count) else { fatalError("no memory for a secret of \(count) bytes") }
    memory = UnsafeMutableRawBufferPointer(start: start, count: count)
  }

  deinit { sodium_free(memory.baseAddress) }

  /// The bytes from `offset` on, for the library's functions.
  func pointer(at offset: Int = 0) -> UnsafeMutablePointer<UInt8> {
    precondition((0..<memory.count).contains(offset))
    // Never empty: init asked for at least a byte.
    guard let start = memory.baseAddress else { fatalError("a secret has memory") }
    return (start + offset).assumingMemoryBound(to: UInt8.self)
  }
}
