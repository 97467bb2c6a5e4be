import Glibc
import SatchelValues

/// The source of random bytes for ids, keys and temporary names.
public protocol RandomSource: Sendable {
  /// Exactly `count` unpredictable bytes.
  func bytes(_ count: Int) -> [UInt8]
}

extension RandomSource {
  /// Makes a new id, for example `random.identifier(BundleID.self)`.
  public func identifier<I: Identifier>(_ type: I.Type = I.self) -> I { I(random: bytes(16)) }
}

/// The random numbers of the kernel. Swift imports glibc's `getentropy`, which calls `getrandom(2)`.
public struct SystemRandom: RandomSource {
  public init() {}

  public func bytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let failed = unsafe bytes.withUnsafeMutableBytes { all in
      // One call returns at most 256 bytes.
      stride(from: 0, to: count, by: 256).contains { start in
        unsafe getentropy(all.baseAddress! + start, min(256, count - start)) != 0
      }
    }
    precondition(!failed, "the kernel gives so few random bytes to everybody")
    return bytes
  }
}
