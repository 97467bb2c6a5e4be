import CArchive

/// The bytes of a file that was compressed with zstd, as they come out, one after the other.
///
/// libarchive is asked for zstd alone and never for what lies inside: of what nobody has verified yet it sees nothing but frames.
struct ZstdStream: ~Copyable {
  private let archive: OpaquePointer

  /// zstd, and the file below it.
  private static let filters: Int32 = 2

  init(from fd: Int32) throws(BundleError) {
    guard let archive = archive_read_new() else { throw .archive("out of memory") }
    do throws(BundleError) {
      try Self.open(archive, fd)
    } catch {
      archive_read_free(archive)
      throw error
    }
    self.archive = archive
  }

  deinit { archive_read_free(archive) }

  private static func open(_ archive: OpaquePointer, _ fd: Int32) throws(BundleError) {
    archive_read_support_format_raw(archive)
    archive_read_support_filter_zstd(archive)
    var entry: OpaquePointer?
    guard archive_read_open_fd(archive, fd, 64 << 10) == ARCHIVE_OK, archive_read_next_header(archive, &entry) == ARCHIVE_OK
    else { throw failure(archive) }
    guard archive_filter_count(archive) == filters, archive_filter_code(archive, 0) == ARCHIVE_FILTER_ZSTD else {
      throw .notABundle("it is not compressed once, with zstd")
    }
  }

  /// Fills the first `count` bytes of `buffer`. Fewer come only where the stream ends.
  func read(into buffer: inout [UInt8], count: Int) throws(BundleError) -> Int {
    precondition(count <= buffer.count, "the buffer has room for what is asked")
    var filled = 0
    while filled < count {
      let more = buffer.withUnsafeMutableBytes { archive_read_data(archive, $0.baseAddress! + filled, count - filled) }
      if more < 0 { throw Self.failure(archive) }
      if more == 0 { break }
      filled += more
    }
    return filled
  }

  private static func failure(_ archive: OpaquePointer) -> BundleError {
    let words = archive_error_string(archive).map { String(cString: $0) } ?? "it is empty"
    return words.lowercased().contains("truncated") ? .truncated : .notABundle(words)
  }
}
