import SatchelPlatform

/// A target for the bytes of a bundle: a file, or another sink's compressed or encrypted input.
protocol ByteSink: AnyObject {
  func write(_ bytes: [UInt8]) throws
  /// Ends the output. All buffered bytes are passed on.
  func finish() throws
}

/// Writes to an open file. The caller syncs and closes the file.
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
