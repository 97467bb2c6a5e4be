import SatchelPlatform

/// A source of the bytes of a bundle: a file, or the decrypted or unpacked bytes of another source.
protocol ByteSource: AnyObject {
  /// Fills `buffer` from its beginning, and returns the number of bytes; 0 at the end. The buffer must not be empty.
  func read(into buffer: inout [UInt8]) throws -> Int
}

extension ByteSource {
  /// The remaining bytes, in pieces of at most `size` bytes.
  func pieces(of size: Int = 1 << 20) -> Pieces<any Error> { Pieces(of: size) { try self.read(into: &$0) } }
}

/// Reads an open file. The caller closes the file.
final class FileSource: ByteSource {
  private let fd: Int32
  private let files: any FileSystem

  init(_ fd: Int32, files: any FileSystem) {
    self.fd = fd
    self.files = files
  }

  func read(into buffer: inout [UInt8]) throws -> Int { try files.read(fd, into: &buffer) }
}

/// A source whose first bytes are known before it is read.
final class PeekedSource: ByteSource {
  private let source: any ByteSource
  private(set) var beginning: [UInt8] = []
  private var taken = 0

  /// Reads the first `count` bytes, or fewer if the source is shorter.
  init(_ source: any ByteSource, count: Int) throws {
    self.source = source
    var buffer = [UInt8](repeating: 0, count: count)
    while beginning.count < count {
      let more = try source.read(into: &buffer)
      if more == 0 { break }
      beginning += buffer[..<more]
      buffer = [UInt8](repeating: 0, count: max(1, count - beginning.count))
    }
  }

  func read(into buffer: inout [UInt8]) throws -> Int {
    if taken == beginning.count { return try source.read(into: &buffer) }
    let count = min(buffer.count, beginning.count - taken)
    buffer.replaceSubrange(..<count, with: beginning[taken..<taken + count])
    taken += count
    return count
  }
}
