import Glibc
import SatchelPlatform

/// The file of a verified bundle, byte for byte as it was verified.
///
/// The bytes were copied while they were verified. So nothing is read again from the source, which may be a stick that
/// returns other bytes the second time.
public final class VerifiedFile {
  private let files: any FileSystem
  /// The path at which the file was made. Its folder is deleted with the bundle.
  private let home: String
  /// The file's present path.
  private var path: String
  public let bytes: Int64

  init(at path: String, _ bytes: Int64, files: any FileSystem) {
    (home, self.path, self.bytes, self.files) = (path, path, bytes, files)
  }

  /// Puts the file at `target`, after the file is safe on the medium. A file at `target` is replaced. The first call
  /// moves the file. Later calls make copies.
  public func put(at target: String) throws(PlatformError) {
    guard path == home else { return try files.copy(path, to: target, mode: Self.mode) }
    let fd = try files.open(path)
    defer { files.close(fd) }
    try files.sync(fd)
    do throws(PlatformError) { try files.rename(path, to: target) } catch .other(_, _, EXDEV) {
      return try files.copy(path, to: target, mode: Self.mode)
    }
    path = target
  }

  /// Moves the file back from where `put` moved it. Another `put` may follow.
  public func takeBack() throws(PlatformError) {
    if path == home { return }
    try files.move(path, to: home)
    path = home
  }

  /// The mode of bundles in a workspace.
  static let mode: UInt32 = 0o644
}

/// Whether a reader keeps the file of a bundle that it verifies.
public enum FileKeeping: Sendable {
  case kept
  case notKept
}

/// The bytes of a file. From the call of `begin` on, they are also copied while they are read.
final class CopiedSource: ByteSource {
  private let source: FileSource
  private let files: any FileSystem
  /// The bytes that were read before the copy was begun.
  private var early: [UInt8] = []
  private var total: Int64 = 0
  private var copy: (path: String, fd: Int32)?

  /// The limit of `early`. The bytes up to the end of a manifest are always fewer.
  private static let mostEarly = 4 << 20

  init(_ fd: Int32, files: any FileSystem) {
    source = FileSource(fd, files: files)
    self.files = files
  }

  deinit { if let copy { files.close(copy.fd) } }

  func read(into buffer: inout [UInt8]) throws -> Int {
    let count = try source.read(into: &buffer)
    total += Int64(count)
    let bytes = count == buffer.count ? buffer : Array(buffer[..<count])
    if let copy {
      try files.write(copy.fd, bytes)
    } else {
      early += bytes
      guard early.count <= Self.mostEarly else {
        throw BundleError.tooLarge("The part up to the manifest's end", limit: Int64(Self.mostEarly))
      }
    }
    return count
  }

  /// Begins to write the copy, from the first byte on. The bytes that were read until now have proved the sender.
  func begin(in folder: borrowing StagingFolder) throws {
    let made = try files.createTemporary(in: folder.path, mode: VerifiedFile.mode)
    copy = made
    try files.write(made.fd, early)
    early = []
  }

  /// The copy. It is complete when everything was read. nil if no copy was begun.
  var file: VerifiedFile? { copy.map { VerifiedFile(at: $0.path, total, files: files) } }
}
