/// A source that is read in pieces, through one buffer: `while let piece = try pieces.next() { ... }`.
public struct Pieces<Failure: Error> {
  private var buffer: [UInt8]
  private let read: (_ buffer: inout [UInt8]) throws(Failure) -> Int

  /// - Parameter read: fills the buffer from its beginning, and returns the number of bytes; 0 at the end of the
  ///   source.
  public init(of size: Int, from read: @escaping (_ buffer: inout [UInt8]) throws(Failure) -> Int) {
    buffer = [UInt8](repeating: 0, count: size)
    self.read = read
  }

  /// The next piece, which is never empty; nil at the end of the source.
  public mutating func next() throws(Failure) -> [UInt8]? {
    let count = try read(&buffer)
    if count == 0 { return nil }
    return count == buffer.count ? buffer : Array(buffer[..<count])
  }
}

extension FileSystem {
  /// The content of an open file from its present position, in pieces of at most `size` bytes.
  public func pieces(of fd: Int32, size: Int = 1 << 20) -> Pieces<PlatformError> {
    Pieces(of: size) { (buffer: inout [UInt8]) throws(PlatformError) in try read(fd, into: &buffer) }
  }
}
