import Glibc
import SatchelPlatform

/// Reads a file line by line with little memory. Each line must end with a newline, also the last one.
struct LineReader: ~Copyable {
  private let files: any FileSystem
  private let fd: Int32
  private let limit: Int
  private var buffer = [UInt8](repeating: 0, count: 256 << 10)
  private var filled = 0
  private var next = 0

  init(path: String, limit: Int, files: any FileSystem) throws(PlatformError) {
    let fd = try files.open(path)
    self.files = files
    self.fd = fd
    self.limit = limit
  }

  deinit { files.close(fd) }

  /// The next line, without its newline; nil at the end.
  mutating func line() throws -> [UInt8]? {
    var line: [UInt8] = []
    while true {
      if next == filled {
        filled = try files.read(fd, into: &buffer)
        next = 0
        if filled == 0 {
          if line.isEmpty { return nil }
          throw LineProblem("the file does not end with a newline")
        }
      }
      let end = endOfLine()
      let part = buffer[next..<(end ?? filled)]
      // The check comes before the part is copied, because a growing array may take twice the memory.
      guard line.count + part.count <= limit else { throw LineProblem("it is longer than \(limit) bytes") }
      line += part
      next = end.map { $0 + 1 } ?? filled
      if end != nil { return line }
    }
  }

  /// The position of the next newline in the buffer; nil if there is none.
  private func endOfLine() -> Int? {
    buffer.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress, let found = memchr(start + next, 0x0a, filled - next) else { return nil }
      return UnsafeRawPointer(found) - start
    }
  }
}
