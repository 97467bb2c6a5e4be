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

  /// Cuts the bundle at `path`, and passes each volume's file and intended name to `deliver`, in order. A file that
  /// `deliver` has not moved is deleted.
  ///
  /// - Parameters:
  ///   - size: the largest size of each volume's file, in bytes.
  ///   - folder: the folder in which the volumes are made.
  ///   - trust: the sender's keys.
  ///   - recipients: the recipients of each encrypted volume; empty: volumes are not encrypted.
  public func cut(
    _ path: String, size: Int64, in folder: String, trust: [PublicKey], key: borrowing SigningKey,
    for recipients: [AgeRecipient],
    deliver: (_ file: String, _ name: String) throws -> Void
  ) throws {
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
        var draft = try BundleDraft(in: folder, platform: platform)
        try draft.addPart(piece, of: source)
        let volume = Manifest.Volume(
          of: whole.bundle, whole: whole.kind, number: whole.number, part: part, parts: parts, bytes: bytes,
          digest: digest)
        let sealed = try draft.seal(manifest(of: volume, whole), with: key)
        try deliver(draft.write(sealed, for: recipients), sealed.manifest.fileName)
      }
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

  /// A volume size with which the number of volumes stays within its limit.
  private static func size(of bytes: Int64) -> Int64 { bytes / Manifest.Volume.most / 2047 * 2048 + 32 << 10 }
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
