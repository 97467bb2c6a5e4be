/// The largest number that counts something: 2^53 - 1, up to which every reader of JSON is exact.
let largestCount: Int64 = (1 << 53) - 1

/// What a bundle may cost its reader. Each is checked while bytes arrive, before they are kept.
public struct BundleLimits: Sendable {
  public var signatureBytes: Int64 = 2 << 10
  public var sumsBytes: Int64 = 256 << 10
  public var manifestBytes: Int64 = 1 << 20
  /// Of any entry behind the manifest, whatever size the manifest promises.
  public var entryBytes: Int64 = 64 << 30
  /// Of an attached file: as much as FAT takes.
  public var blobBytes: Int64 = (4 << 30) - 1
  /// How many attached files a bundle may carry.
  public static let mostBlobs = 1_000
  /// Of how many attached files a bundle may say something.
  public static let mostAttachments = 200_000
  /// Of all entries behind the manifest.
  public var totalBytes: Int64 = 128 << 30
  /// How many bytes may come out of one that goes into unpacking, beyond those that may come out of anything.
  public var ratio: Int64 = 1000
  public var anyRatioBytes: Int64 = 4 << 30
  public var lineBytes = 64 << 20
  public var jsonDepth = 16

  public init() {}
}
