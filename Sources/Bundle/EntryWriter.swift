import Glibc
import SatchelCrypto
import SatchelPlatform

/// One entry on its way into a bundle: bytes go to a file aside, and are counted and digested as they go.
struct EntryWriter: ~Copyable {
  let path: String
  private let files: any FileSystem
  private let fd: Int32
  private var hash = BLAKE2b512()
  private var pending: [UInt8] = []
  private(set) var bytes: Int64 = 0

  /// What was written, and what is yet to be.
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

  /// Writes bytes that were written here to another entry.
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

  /// The entry as it is; nothing may be written after it.
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
