import SatchelCrypto
import SatchelValues

extension Manifest {
  /// The part of the manifest that only a volume has: it describes a piece of a bundle's file, or a parity piece.
  public struct Volume: Hashable, Sendable {
    public static let most: Int64 = 9_999
    /// The most volumes of a bundle with parity volumes, including these.
    public static let mostWithParity = Int64(ReedSolomon.mostPieces)

    /// The id of the whole bundle.
    public let of: BundleID
    public let whole: BundleKind
    /// The sequence or emission number of the whole bundle.
    public let number: Int64
    /// The number of this volume: from 1 to `parts`, and from `parts` + 1 on for parity volumes.
    public let part: Int64
    /// The number of pieces of the file. Any `parts` of all volumes are enough to join the bundle.
    public let parts: Int64
    /// The size of the whole bundle's file.
    public let bytes: Int64
    /// The digest of the whole bundle's file.
    public let digest: Digest
    /// The number of parity volumes.
    public let parity: Int64

    /// Whether this is a parity volume, whose piece is computed and is not in the file.
    public var isParity: Bool { part > parts }

    public init(
      of: BundleID, whole: BundleKind, number: Int64, part: Int64, parts: Int64, bytes: Int64, digest: Digest,
      parity: Int64 = 0
    ) {
      self.of = of
      self.whole = whole
      self.number = number
      self.part = part
      self.parts = parts
      self.bytes = bytes
      self.digest = digest
      self.parity = parity
    }
  }
}

extension Manifest.Volume {
  /// The size of a piece, in bytes.
  /// - Parameters:
  ///   - part: the number of the volume with this piece.
  ///   - pieceBytes: the size of each piece except the last. A parity piece has this size too.
  func bytes(of part: Int64, pieceBytes: Int64) -> Int64 {
    part == parts ? bytes - (parts - 1) * pieceBytes : pieceBytes
  }

  /// The size of each piece except the last, if this volume's piece has `bytes` bytes; nil if `bytes` is impossible.
  public func pieceBytes(ofPartWith bytes: Int64) -> Int64? {
    if part != parts {
      let before = bytes.multipliedReportingOverflow(by: parts - 1)
      let isRight =
        bytes > 0 && !before.overflow && before.partialValue < self.bytes && (self.bytes - before.partialValue) <= bytes
      return isRight ? bytes : nil
    }
    if parts == 1 { return bytes == self.bytes ? bytes : nil }
    guard bytes > 0, bytes <= self.bytes, (self.bytes - bytes).isMultiple(of: parts - 1) else { return nil }
    let piece = (self.bytes - bytes) / (parts - 1)
    return bytes <= piece ? piece : nil
  }
}
