import SatchelCrypto
import SatchelPlatform

extension Pieces {
  /// Reads all remaining bytes, and returns their number and digest.
  public mutating func digest() throws(Failure) -> (bytes: Int64, digest: Digest) {
    var hash = BLAKE2b512()
    var bytes: Int64 = 0
    while let piece = try next() {
      hash.update(piece)
      bytes += Int64(piece.count)
    }
    return (bytes, hash.finish())
  }
}
