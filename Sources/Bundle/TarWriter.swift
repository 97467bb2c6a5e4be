import CArchive
import SatchelPlatform

/// Writes a tar (pax) through zstd. The same entries give the same bytes: owner, times and modes are fixed.
struct TarWriter: ~Copyable {
  private let archive: OpaquePointer

  /// Balances speed and size for lines of JSON; readers do not care.
  private static let compressionLevel = "3"

  init(to fd: Int32) throws(BundleError) {
    guard let archive = archive_write_new() else { throw .archive("out of memory") }
    guard archive_write_set_format_pax_restricted(archive) == ARCHIVE_OK, archive_write_add_filter_zstd(archive) == ARCHIVE_OK,
      archive_write_set_filter_option(archive, "zstd", "compression-level", Self.compressionLevel) == ARCHIVE_OK,
      archive_write_set_bytes_per_block(archive, 0) == ARCHIVE_OK, archive_write_open_fd(archive, fd) == ARCHIVE_OK
    else {
      let error = Self.failure(archive)
      archive_write_free(archive)
      throw error
    }
    self.archive = archive
  }

  deinit { archive_write_free(archive) }

  func add(_ name: EntryName, _ bytes: [UInt8]) throws(BundleError) {
    try begin(name, Int64(bytes.count))
    try write(bytes, count: bytes.count)
  }

  func add(_ name: EntryName, file path: String, bytes: Int64, files: any FileSystem) throws {
    try begin(name, bytes)
    let fd = try files.open(path)
    defer { files.close(fd) }
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = try files.read(fd, into: &buffer)
      if count == 0 { break }
      try write(buffer, count: count)
    }
  }

  func finish() throws(BundleError) {
    guard archive_write_close(archive) == ARCHIVE_OK else { throw Self.failure(archive) }
  }

  private func begin(_ name: EntryName, _ size: Int64) throws(BundleError) {
    let entry = archive_entry_new()
    defer { archive_entry_free(entry) }
    archive_entry_set_pathname(entry, name.rawValue)
    archive_entry_set_size(entry, size)
    archive_entry_set_filetype(entry, satchel_regular_file)
    archive_entry_set_perm(entry, 0o644)
    archive_entry_set_mtime(entry, 0, 0)
    guard archive_write_header(archive, entry) == ARCHIVE_OK else { throw Self.failure(archive) }
  }

  private func write(_ bytes: [UInt8], count: Int) throws(BundleError) {
    let written = bytes.withUnsafeBytes { archive_write_data(archive, $0.baseAddress, count) }
    guard written == count else { throw Self.failure(archive) }
  }

  private static func failure(_ archive: OpaquePointer) -> BundleError {
    .archive(archive_error_string(archive).map { String(cString: $0) } ?? "unknown error")
  }
}
