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
    pending += more
    if pending.count >= Self.blockBytes { try flush() }
  }

  /// The entry's digest; nothing may be written after it.
  mutating func finish() throws(PlatformError) -> Digest {
    try flush()
    var last = BLAKE2b512()
    swap(&last, &hash)
    return last.finish()
  }

  private mutating func flush() throws(PlatformError) {
    try files.write(fd, pending)
    hash.update(pending)
    bytes += Int64(pending.count)
    pending.removeAll(keepingCapacity: true)
  }
}
