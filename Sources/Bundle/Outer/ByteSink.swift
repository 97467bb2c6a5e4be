import SatchelPlatform

/// Where the bytes of a bundle go: a file, or another sink behind compression or encryption.
protocol ByteSink: AnyObject {
  func write(_ bytes: [UInt8]) throws
  /// Says that nothing follows: what was held back goes on.
  func finish() throws
}

/// The bytes of an open file, which stays the caller's to sync and to close.
final class FileSink: ByteSink {
  private let fd: Int32
  private let files: any FileSystem

  init(_ fd: Int32, files: any FileSystem) {
    self.fd = fd
    self.files = files
  }

  func write(_ bytes: [UInt8]) throws { if !bytes.isEmpty { try files.write(fd, bytes) } }
  func finish() {}
}
