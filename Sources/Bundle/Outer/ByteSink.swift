import SatchelPlatform

/// The target of a bundle's bytes: a file, or a sink that compresses or encrypts the bytes and passes them on.
protocol ByteSink: AnyObject {
  func write(_ bytes: [UInt8]) throws
  /// Ends the output: buffered bytes are passed on.
  func finish() throws
}

/// Writes to an open file, which the caller syncs and closes.
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
