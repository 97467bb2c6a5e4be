/// The largest count in the format, 2^53 - 1. Every JSON reader reads numbers up to this one exactly.
let largestCount: Int64 = (1 << 53) - 1

/// The limits for reading a bundle. Each limit is checked while bytes arrive, before they are kept.
public struct BundleLimits: Sendable {
  public var signatureBytes: Int64 = 2 << 10
  public var sumsBytes: Int64 = 256 << 10
  public var manifestBytes: Int64 = 1 << 20
  /// The most bytes of an entry after the manifest, whatever size the manifest states.
  public var entryBytes: Int64 = 64 << 30
  /// The most bytes of an attachment: the largest file on FAT.
  public var blobBytes: Int64 = (4 << 30) - 1
  /// The most attachments in a bundle. The limit applies to their contents, and to the lines that name carried files.
  public static let mostBlobs = 1_000
  /// The most lines about attachments in a bundle.
  public static let mostAttachments = 200_000
  /// The most bytes of all entries after the manifest.
  public var totalBytes: Int64 = 128 << 30
  /// The most bytes that may come from one compressed byte. The first `anyRatioBytes` are not limited in this way.
  public var ratio: Int64 = 1000
  public var anyRatioBytes: Int64 = 4 << 30
  public var lineBytes = 64 << 20
  public var jsonDepth = 16

  public init() {}
}
