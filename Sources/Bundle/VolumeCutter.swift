import SatchelCrypto
import SatchelPlatform
import SatchelValues

/// Cuts a bundle's file into volumes, for media that are too small for the whole file. Each volume is a bundle that
/// holds a piece of the file.
public struct VolumeCutter {
  private let reader: BundleReader
  private let platform: Platform

  /// - Parameter reader: reads the file, and decrypts it if it is encrypted. The decrypted content is cut.
  public init(reader: BundleReader, platform: Platform) {
    self.reader = reader
    self.platform = platform
  }

  /// A volume that was just made.
  public struct Made {
    /// Its number, from 1 on.
    public let part: Int64
    /// Its file, which is deleted afterwards, unless `deliver` moved it.
    public let file: String
    public let name: String
  }

  /// Whether to make more volumes.
  public enum Next { case goOn, stop }

  /// Cuts the bundle at `path`, and passes each volume to `deliver`, in order.
  ///
  /// - Parameters:
  ///   - size: the largest size of each volume's file, in bytes.
  ///   - folder: the folder in which the volumes are made.
  ///   - trust: the sender's keys.
  ///   - recipients: the recipients of each encrypted volume; empty: volumes are not encrypted.
  ///   - isWanted: whether the volume with this number is made.
  /// - Returns: the number of volumes of the whole bundle.
  @discardableResult
  public func cut(
    _ path: String, size: Int64, in folder: String, trust: [PublicKey], key: borrowing SigningKey,
    for recipients: [AgeRecipient], isWanted: (_ part: Int64) -> Bool = { _ in true },
    deliver: (Made) throws -> Next
  ) throws -> Int64 {
    let whole = try reader.manifest(of: path, trust: .keys(trust))
    let (bytes, digest) = try reader.withOpened(path) { source in
      var pieces = source.pieces()
      return try pieces.digest()
    }
    let piece = Self.pieceBytes(of: size)
    let parts = (bytes + piece - 1) / piece
    guard parts <= Manifest.Volume.most else {
      throw BundleError.tooManyVolumes(parts, least: Self.size(of: bytes))
    }
    try reader.withOpened(path) { source in
      for part in 1...parts {
        guard isWanted(part) else {
          try Self.skip(piece, of: source)
          continue
        }
        var draft = try BundleDraft(in: folder, platform: platform)
        try draft.addPart(piece, of: source)
        let volume = Manifest.Volume(
          of: whole.bundle, whole: whole.kind, number: whole.number, part: part, parts: parts, bytes: bytes,
          digest: digest)
        let sealed = try draft.seal(manifest(of: volume, whole), with: key)
        let file = try draft.write(sealed, for: recipients)
        if try deliver(Made(part: part, file: file, name: sealed.manifest.fileName)) == .stop { return }
      }
    }
    return parts
  }

  /// Reads the bytes of a piece, and drops them.
  private static func skip(_ bytes: Int64, of source: any ByteSource) throws {
    var (left, buffer) = (bytes, [UInt8](repeating: 0, count: Int(min(256 << 10, bytes))))
    while left > 0 {
      if left < buffer.count { buffer = [UInt8](repeating: 0, count: Int(left)) }
      let count = try source.read(into: &buffer)
      if count == 0 { return }
      left -= Int64(count)
    }
  }

  private func manifest(of volume: Manifest.Volume, _ whole: Manifest) -> Manifest {
    Manifest(
      bundle: BundleID(random: platform.random.bytes(16)), dataset: whole.dataset, version: whole.version,
      from: whole.from,
      to: whole.to, user: whole.user, created: UTCTime.text(milliseconds: platform.clock.milliseconds()),
      stamp: whole.stamp,
      body: .volume(volume))
  }

  /// The number of bytes of a piece in a volume's file. The rest is for the other entries, compression and encryption.
  /// Compression adds 3 bytes to 128 KiB of compressed data. Encryption adds 16 bytes to 64 KiB, and a header.
  private static func pieceBytes(of size: Int64) -> Int64 { size - size / 2048 - 16 << 10 }

  /// The least volume size with which the number of volumes stays within its limit.
  public static func size(of bytes: Int64) -> Int64 { bytes / Manifest.Volume.most / 2047 * 2048 + 32 << 10 }
}

extension Manifest.Volume {
  /// The size of each piece but the last, if this piece has `bytes` bytes; nil if that is impossible.
  public func pieceBytes(ofPartWith bytes: Int64) -> Int64? {
    if part < parts {
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
