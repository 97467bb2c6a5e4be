/// Reads a tar, one entry after another. All entries must be plain files with plain names.
///
/// Each byte outside an entry's content is checked: it belongs to a header with a right checksum, or it is zero.
struct TarReader: ~Copyable {
  private let stream: ZstdSource
  private var block = [UInt8](repeating: 0, count: TarHeader.blockBytes)
  /// The bytes of the present entry that were not read yet, and the number of zeros after it.
  private var rest: Int64 = 0
  private var padding = 0

  /// The most bytes of zeros after the last entry. Tools fill the last record with zeros, usually up to 10 KiB.
  private static let maximumTail = 64 << 10
  /// The most bytes of a pax header: room for a size and three times.
  private static let maximumPaxBytes: Int64 = 1 << 10

  init(from stream: ZstdSource) { self.stream = stream }

  /// The header of the next entry; nil at the end of the tar. Throws if bytes follow the end. The caller must have
  /// read the previous entry to its end.
  mutating func next() throws -> TarHeader? {
    precondition(rest == 0 && padding == 0, "an entry is read to its end before the next one begins")
    guard var header = try header() else { return nil }
    if header.kind == .pax {
      let size = try paxSize(header)
      guard let described = try self.header() else { throw BundleError.truncated }
      header = described
      if let size { header.size = size }
    }
    rest = header.kind == .file ? header.size : 0
    padding = Self.padding(behind: rest)
    return header
  }

  /// Reads the next bytes of the entry into `buffer`, and returns their number; 0 at the end of the entry.
  mutating func read(into buffer: inout [UInt8]) throws -> Int {
    let wanted = Int(min(rest, Int64(buffer.count)))
    if wanted > 0 {
      guard try stream.read(into: &buffer, count: wanted) == wanted else { throw BundleError.truncated }
      rest -= Int64(wanted)
    }
    if rest == 0, padding > 0 {
      let zeros = padding
      padding = 0
      guard try stream.read(into: &block, count: zeros) == zeros else { throw BundleError.truncated }
      guard block[..<zeros].allSatisfy({ $0 == 0 }) else {
        throw BundleError.notABundle("there are bytes between two of its entries")
      }
    }
    return wanted
  }

  private static func padding(behind size: Int64) -> Int {
    let over = Int(size % Int64(TarHeader.blockBytes))
    return over == 0 ? 0 : TarHeader.blockBytes - over
  }

  /// Reads the header in the next block. Returns nil if the zeros at the end of the tar begin there, and reads all of
  /// them.
  private mutating func header() throws -> TarHeader? {
    guard try stream.read(into: &block, count: block.count) == block.count else { throw BundleError.truncated }
    if block.contains(where: { $0 != 0 }) { return try TarHeader(block) }
    var tail = [UInt8](repeating: 0, count: Self.maximumTail)
    let count = try stream.read(into: &tail, count: tail.count)
    guard count < tail.count, tail[..<count].allSatisfy({ $0 == 0 }) else { throw BundleError.trailingData }
    guard count >= TarHeader.blockBytes else { throw BundleError.truncated }
    try stream.finish()
    return nil
  }

  /// The size that a pax header gives for the following entry; nil if it gives none.
  private mutating func paxSize(_ header: TarHeader) throws -> Int64? {
    guard header.size <= Self.maximumPaxBytes else {
      throw BundleError.notABundle("it has a pax header of \(header.size) bytes")
    }
    rest = header.size
    padding = Self.padding(behind: rest)
    var records = [UInt8](repeating: 0, count: Int(header.size))
    _ = try read(into: &records)
    return try TarHeader.paxSize(records)
  }
}
