import Glibc
import SatchelCrypto
import SatchelPlatform

/// Writes an entry of a bundle to a temporary file, and computes its size and digest.
struct EntryWriter: ~Copyable {
  let path: String
  private let files: any FileSystem
  private let fd: Int32
  private var hash = BLAKE2b512()
  private var pending: [UInt8] = []
  private(set) var bytes: Int64 = 0

  /// The number of bytes so far. Some of them may not be in the file yet.
  var written: Int64 { bytes + Int64(pending.count) }

  private static let blockBytes = 256 << 10

  init(in folder: borrowing StagingFolder) throws(PlatformError) {
    let files = folder.files
    let made = try files.createTemporary(in: folder.path, mode: 0o600)
    self.files = files
    path = made.path
    fd = made.fd
  }

  deinit { files.close(fd) }

  mutating func write(_ more: [UInt8]) throws(PlatformError) {
    if more.count >= Self.blockBytes {
      try flush()
      return try put(more)
    }
    pending += more
    if pending.count >= Self.blockBytes { try flush() }
  }

  /// Copies a part of this entry to another entry.
  mutating func copy(_ count: Int64, from offset: Int64, to other: inout EntryWriter) throws(PlatformError) {
    try flush()
    try files.seek(fd, to: offset)
    var left = count
    while left > 0 {
      var piece = [UInt8](repeating: 0, count: Int(min(left, Int64(Self.blockBytes))))
      let read = try files.read(fd, into: &piece)
      if read == 0 { throw PlatformError.other(operation: "read", path: path, errno: EIO) }
      try other.write(read == piece.count ? piece : Array(piece[..<read]))
      left -= Int64(read)
    }
    try files.seek(fd, to: bytes)
  }

  /// Completes the entry. Nothing may be written to it after that.
  mutating func finish() throws(PlatformError) -> BundleDraft.StagedFile {
    try flush()
    var last = BLAKE2b512()
    swap(&last, &hash)
    return BundleDraft.StagedFile(path: path, bytes: bytes, digest: last.finish())
  }

  private mutating func flush() throws(PlatformError) {
    try put(pending)
    pending.removeAll(keepingCapacity: true)
  }

  private mutating func put(_ block: [UInt8]) throws(PlatformError) {
    try files.write(fd, block)
    hash.update(block)
    bytes += Int64(block.count)
  }
}
