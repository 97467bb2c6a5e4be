/// The largest count: 2^53 - 1, up to which every reader of JSON is exact.
let largestCount: Int64 = (1 << 53) - 1

/// The limits on the work of a reader. Each limit is checked while bytes arrive, before the bytes are kept.
public struct BundleLimits: Sendable {
  public var signatureBytes: Int64 = 2 << 10
  public var sumsBytes: Int64 = 256 << 10
  public var manifestBytes: Int64 = 1 << 20
  /// The most bytes of any entry after the manifest, even if the manifest gives a larger size.
  public var entryBytes: Int64 = 64 << 30
  /// The most bytes of an attached file: the largest file of FAT.
  public var blobBytes: Int64 = (4 << 30) - 1
  /// The most attached files that a bundle may carry: the most contents, and the most lines that name them.
  public static let mostBlobs = 1_000
  /// The most attached files about which a bundle may have lines.
  public static let mostAttachments = 200_000
  /// The most bytes of all entries after the manifest.
  public var totalBytes: Int64 = 128 << 30
  /// The most bytes that may be unpacked from one compressed byte, beyond a fixed allowance.
  public var ratio: Int64 = 1000
  public var anyRatioBytes: Int64 = 4 << 30
  public var lineBytes = 64 << 20
  public var jsonDepth = 16

  public init() {}
}
