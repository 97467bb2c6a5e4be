import SatchelCrypto
import SatchelPlatform
import SatchelValues

/// Cuts a bundle's file into volumes: bundles of their own, each a piece of the file, for media that the whole does not
/// fit on.
public struct VolumeCutter {
  private let reader: BundleReader
  private let platform: Platform

  /// - Parameter reader: opens the file where it is encrypted: what is cut is what it says.
  public init(reader: BundleReader, platform: Platform) {
    self.reader = reader
    self.platform = platform
  }

  /// Cuts the bundle at `path`, and hands each volume's file to `deliver`, in their order, with the name that it is to
  /// have. The file goes when `deliver` has not taken it away.
  ///
  /// - Parameters:
  ///   - size: of each volume's file, at most, in bytes.
  ///   - folder: where the volumes are made.
  ///   - trust: the sender's keys.
  ///   - recipients: for whom each volume is encrypted; none: for everybody to read.
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

  /// What a piece may have of a volume's file: the rest is for the entries around it, for what compression adds to what
  /// is compressed already (3 bytes in 128 KiB), and for encryption (16 bytes in 64 KiB, and a header).
  private static func pieceBytes(of size: Int64) -> Int64 { size - size / 2048 - 16 << 10 }

  /// The size of volumes of which there are not too many.
  private static func size(of bytes: Int64) -> Int64 { bytes / Manifest.Volume.most / 2047 * 2048 + 32 << 10 }
}

extension Manifest.Volume {
  /// The size that all pieces but the last have, if this one has so many bytes; nil where it cannot have them.
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
