import CArchive
import SatchelPlatform

/// Writes a tar in pax form. Owner, times and modes are fixed, so that the same entries give the same bytes.
final class TarWriter {
  private let archive: OpaquePointer
  private let sink: any ByteSink
  private var failed: (any Error)?

  init(to sink: any ByteSink) throws {
    guard let archive = archive_write_new() else { throw BundleError.archive("out of memory") }
    self.archive = archive
    self.sink = sink
    guard archive_write_set_format_pax_restricted(archive) == ARCHIVE_OK,
      archive_write_set_bytes_per_block(archive, 0) == ARCHIVE_OK,
      archive_write_open(archive, Unmanaged.passUnretained(self).toOpaque(), nil, passOn, nil) == ARCHIVE_OK
    else { throw failure() }
  }

  deinit { archive_write_free(archive) }

  /// Passes output of libarchive to the sink. Returns whether that succeeded.
  fileprivate func pass(_ bytes: UnsafeRawBufferPointer) -> Bool {
    do {
      try sink.write(Array(bytes))
      return true
    } catch {
      failed = error
      return false
    }
  }

  func add(_ name: EntryName, _ bytes: [UInt8]) throws {
    try begin(name, Int64(bytes.count))
    try write(bytes)
  }

  func add(_ name: EntryName, file path: String, bytes: Int64, files: any FileSystem, tell: (_ bytes: Int) -> Void)
    throws
  {
    try begin(name, bytes)
    let fd = try files.open(path)
    defer { files.close(fd) }
    var pieces = files.pieces(of: fd, size: 256 << 10)
    while let piece = try pieces.next() {
      try write(piece)
      tell(piece.count)
    }
  }

  func finish() throws {
    guard archive_write_close(archive) == ARCHIVE_OK else { throw failure() }
    try sink.finish()
  }

  private func begin(_ name: EntryName, _ size: Int64) throws {
    let entry = archive_entry_new()
    defer { archive_entry_free(entry) }
    archive_entry_set_pathname(entry, name.rawValue)
    archive_entry_set_size(entry, size)
    archive_entry_set_filetype(entry, satchel_regular_file)
    archive_entry_set_perm(entry, 0o644)
    archive_entry_set_mtime(entry, 0, 0)
    guard archive_write_header(archive, entry) == ARCHIVE_OK else { throw failure() }
  }

  private func write(_ bytes: [UInt8]) throws {
    let written = bytes.withUnsafeBytes { archive_write_data(archive, $0.baseAddress, $0.count) }
    guard written == bytes.count else { throw failure() }
  }

  /// If the sink failed, its own error is more exact than that of libarchive.
  private func failure() -> any Error {
    failed ?? BundleError.archive(archive_error_string(archive).map { String(cString: $0) } ?? "unknown error")
  }
}

private func passOn(
  _ archive: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ bytes: UnsafeRawPointer?, _ count: Int
) -> la_ssize_t {
  guard let context, let bytes else { return 0 }
  let writer = Unmanaged<TarWriter>.fromOpaque(context).takeUnretainedValue()
  return writer.pass(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : -1
}
