import CArchive

/// Reads a zstd-compressed or plain tar, one entry after the other, and nothing else that libarchive knows.
struct TarReader: ~Copyable {
  private let archive: OpaquePointer

  /// What the archive says of its next entry. None of it is to be believed.
  struct Header {
    let name: String
    let size: Int64
    let isPlainFile: Bool
  }

  init(from fd: Int32) throws(BundleError) {
    guard let archive = archive_read_new() else { throw .archive("out of memory") }
    archive_read_support_format_tar(archive)
    archive_read_support_filter_zstd(archive)
    guard archive_read_open_fd(archive, fd, 64 << 10) == ARCHIVE_OK else {
      let error = Self.failure(archive)
      archive_read_free(archive)
      throw error
    }
    self.archive = archive
  }

  deinit { archive_read_free(archive) }

  /// The next entry's header; nil at the end.
  func next() throws(BundleError) -> Header? {
    var entry: OpaquePointer?
    switch archive_read_next_header(archive, &entry) {
    case ARCHIVE_OK: break
    case ARCHIVE_EOF: return nil
    default: throw Self.failure(archive)
    }
    // A name that is not plain ASCII has no form here, and is no entry's name anyway.
    let name = archive_entry_pathname(entry).map { String(cString: $0) } ?? ""
    let isPlain =
      archive_entry_filetype(entry) == satchel_regular_file && archive_entry_hardlink(entry) == nil
      && archive_entry_symlink(entry) == nil && archive_entry_sparse_count(entry) == 0 && archive_entry_size_is_set(entry) != 0
    return Header(name: name, size: archive_entry_size(entry), isPlainFile: isPlain)
  }

  /// The next bytes of the entry into `buffer`: how many there are; 0 at its end.
  func read(into buffer: inout [UInt8]) throws(BundleError) -> Int {
    let count = buffer.withUnsafeMutableBytes { archive_read_data(archive, $0.baseAddress, $0.count) }
    if count < 0 { throw Self.failure(archive) }
    return count
  }

  private static func failure(_ archive: OpaquePointer) -> BundleError {
    let words = archive_error_string(archive).map { String(cString: $0) } ?? "unknown error"
    let lower = words.lowercased()
    if lower.contains("truncated") { return .truncated }
    return .notABundle(words)
  }
}
