import SatchelCrypto
import SatchelPlatform
import SatchelValues

/// Cuts a bundle's file into volumes for media that are too small for the file. Each volume is itself a bundle, with
/// a piece of the file.
public struct VolumeCutter {
  private let reader: BundleReader
  private let platform: Platform

  /// - Parameter reader: reads the bundle. An encrypted bundle is decrypted before it is cut.
  public init(reader: BundleReader, platform: Platform) {
    self.reader = reader
    self.platform = platform
  }

  /// A volume that `cut` has just made.
  public struct Made {
    /// The number of the volume, from 1 on.
    public let part: Int64
    /// The path of the volume's file. `deliver` may move the file; otherwise it is deleted.
    public let file: String
    public let name: String
  }

  /// Whether `cut` makes further volumes.
  public enum Next { case goOn, stop }

  /// Cuts the bundle at `path`, and calls `deliver` with each volume, in order.
  ///
  /// - Parameters:
  ///   - size: the most bytes of a volume's file.
  ///   - parity: the number of parity volumes. They come last.
  ///   - folder: the folder in which the volumes are made.
  ///   - trust: the public keys that may have signed the bundle.
  ///   - recipients: the age recipients of each volume; empty if the volumes are not encrypted.
  ///   - isWanted: whether to make the volume with this number.
  /// - Returns: the number of volumes without parity volumes.
  @discardableResult
  public func cut(
    _ path: String, size: Int64, parity: ParityShare = .none, in folder: String, trust: [PublicKey],
    key: borrowing SigningKey, for recipients: [AgeRecipient], isWanted: (_ part: Int64) -> Bool = { _ in true },
    deliver: (Made) throws -> Next
  ) throws -> Int64 {
    let whole = try reader.manifest(of: path, trust: .keys(trust))
    let (bytes, digest) = try reader.withOpened(path) { source in
      var pieces = source.pieces()
      return try pieces.digest()
    }
    let piece = min(Self.pieceBytes(of: size), bytes)
    let parts = (bytes + piece - 1) / piece
    try Self.check(parts, parity, of: bytes)
    func add(_ part: Int64, of source: any ByteSource) throws -> Next {
      var draft = try BundleDraft(in: folder, platform: platform)
      try draft.addPart(piece, of: source)
      if part > parts { draft.require([.parity]) }
      let volume = Manifest.Volume(
        of: whole.bundle, whole: whole.kind, number: whole.number, part: part, parts: parts, bytes: bytes,
        digest: digest, parity: parity.count(for: parts))
      let sealed = try draft.seal(manifest(of: volume, whole), with: key)
      let file = try draft.write(sealed, for: recipients)
      return try deliver(Made(part: part, file: file, name: sealed.manifest.fileName))
    }
    let isStopped = try reader.withOpened(path) { source in
      for part in 1...parts {
        if isWanted(part) {
          if try add(part, of: source) == .stop { return true }
        } else {
          try Self.skip(piece, of: source)
        }
      }
      return false
    }
    let end = parts + parity.count(for: parts)
    guard !isStopped, let first = (parts..<end).first(where: { isWanted($0 + 1) }) else { return parts }
    let staging = try StagingFolder(in: folder, platform: platform)
    let content = try plain(path, in: staging)
    for (row, made) in try parityPieces(first..<end, of: content, piece, bytes, in: staging) where isWanted(row + 1) {
      let fd = try platform.files.open(made)
      defer { platform.files.close(fd) }
      if try add(row + 1, of: FileSource(fd, files: platform.files)) == .stop { break }
      try platform.files.remove(made)
    }
    return parts
  }

  /// Reads a piece without using it.
  private static func skip(_ bytes: Int64, of source: any ByteSource) throws {
    var (left, buffer) = (bytes, [UInt8](repeating: 0, count: Int(min(256 << 10, bytes))))
    while left > 0 {
      if left < buffer.count { buffer = [UInt8](repeating: 0, count: Int(left)) }
      let count = try source.read(into: &buffer)
      if count == 0 { return }
      left -= Int64(count)
    }
  }

  private static func check(_ parts: Int64, _ parity: ParityShare, of bytes: Int64) throws(BundleError) {
    let count = parity.count(for: parts)
    guard parts <= Manifest.Volume.most else {
      throw .tooManyVolumes(parts, most: Manifest.Volume.most, least: size(of: bytes, in: parity.mostParts))
    }
    guard count == 0 || parts + count <= Manifest.Volume.mostWithParity else {
      throw .tooManyVolumes(
        parts + count, most: Manifest.Volume.mostWithParity, least: size(of: bytes, in: parity.mostParts))
    }
  }

  /// The path of the decrypted file. For an encrypted bundle it is a copy in `staging`.
  private func plain(_ path: String, in staging: borrowing StagingFolder) throws -> String {
    guard try reader.isEncrypted(path) else { return path }
    let copy = try platform.files.createTemporary(in: staging.path, mode: 0o600)
    defer { platform.files.close(copy.fd) }
    try reader.withOpened(path) { source in
      var pieces = source.pieces()
      while let piece = try pieces.next() { try platform.files.write(copy.fd, piece) }
    }
    return copy.path
  }

  /// Computes parity pieces and writes them to files in `staging`.
  /// - Parameters:
  ///   - rows: the rows of the parity pieces in the Reed-Solomon code.
  ///   - path: the file that contains the data pieces.
  /// - Returns: each row and the path of its piece.
  private func parityPieces(
    _ rows: Range<Int64>, of path: String, _ piece: Int64, _ bytes: Int64, in staging: borrowing StagingFolder
  ) throws -> [(row: Int64, path: String)] {
    let places = (0..<((bytes + piece - 1) / piece)).map {
      PieceComputation.Place(path: path, start: $0 * piece, bytes: min(piece, bytes - $0 * piece))
    }
    let tables = ReedSolomon(count: places.count).parity(Int(rows.lowerBound)..<Int(rows.upperBound))
    let made = try PieceComputation(files: platform.files, tables: tables).run(
      from: places, sizes: rows.map { _ in piece }, in: staging.path)
    return zip(rows, made).map { ($0, $1) }
  }

  private func manifest(of volume: Manifest.Volume, _ whole: Manifest) -> Manifest {
    Manifest(
      bundle: BundleID(random: platform.random.bytes(16)), dataset: whole.dataset, version: whole.version,
      from: whole.from,
      to: whole.to, user: whole.user, created: UTCTime.text(milliseconds: platform.clock.milliseconds()),
      stamp: whole.stamp,
      body: .volume(volume))
  }

  /// The most bytes of a piece if a volume's file may have `size` bytes. The rest is for the other entries, for
  /// compression (3 bytes for each 128 KiB) and for encryption (a header, and 16 bytes for each 64 KiB).
  private static func pieceBytes(of size: Int64) -> Int64 { size - size / 2048 - 16 << 10 }

  /// The smallest size of a volume with which a bundle does not exceed the limit of volumes.
  public static func size(of bytes: Int64, with parity: ParityShare) -> Int64 { size(of: bytes, in: parity.mostParts) }

  /// A size of a volume with which a bundle has at most `parts` volumes.
  private static func size(of bytes: Int64, in parts: Int64) -> Int64 { bytes / parts / 2047 * 2048 + 32 << 10 }
}
