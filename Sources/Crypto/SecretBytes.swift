import CSodium

/// Guarded memory for a secret, wiped at the end. If the system allows it, this memory is kept out of swap and core
/// dumps.
struct SecretBytes: ~Copyable {
  private let start: UnsafeMutableRawPointer
  private let count: Int

  init(count: Int) {
    Sodium.start()
    guard let start = sodium_malloc(count) else { preconditionFailure("a few bytes are always there") }
    (self.start, self.count) = (start, count)
  }

  deinit { sodium_free(start) }

  var memory: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: start, count: count) }

  /// The bytes that begin at `offset`, for the library's functions.
  func pointer(at offset: Int = 0) -> UnsafeMutablePointer<UInt8> {
    precondition((0..<count).contains(offset))
    return (start + offset).assumingMemoryBound(to: UInt8.self)
  }
}
