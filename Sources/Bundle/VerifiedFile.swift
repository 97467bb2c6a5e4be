import Glibc
import SatchelPlatform

/// A copy of a verified bundle's file, with exactly the verified bytes.
///
/// The bytes were copied while they were verified. So the source is not read again: a stick might return other bytes.
public final class VerifiedFile {
  private let files: any FileSystem
  /// The path at which the copy was made. Its folder is deleted with the bundle.
  private let home: String
  /// The present path of the copy.
  private var path: String
  public let bytes: Int64

  init(at path: String, _ bytes: Int64, files: any FileSystem) {
    (home, self.path, self.bytes, self.files) = (path, path, bytes, files)
  }

  /// Puts the file at `target`, in place of a file there, after it is safe on the medium. The first call moves the
  /// file, and each later call makes another copy.
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

  /// Moves the file back to the path before `put`. `put` may then be called again.
  public func takeBack() throws(PlatformError) {
    if path == home { return }
    try files.move(path, to: home)
    path = home
  }

  /// The mode of bundle files in a workspace.
  static let mode: UInt32 = 0o644
}

/// Whether the reader keeps a copy of the file that it verifies.
public enum FileKeeping: Sendable {
  case kept
  case notKept
}

/// Reads the bytes of a file. After a call of `begin`, all bytes are also written to a copy.
final class CopiedSource: ByteSource {
  private let source: FileSource
  private let files: any FileSystem
  /// The bytes that were read before `begin`.
  private var early: [UInt8] = []
  private var total: Int64 = 0
  private var copy: (path: String, fd: Int32)?

  /// The most bytes in `early`. A bundle has fewer bytes up to the end of its manifest.
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

  /// Begins the copy and writes all bytes so far into it. These bytes have already proved the sender.
  func begin(in folder: borrowing StagingFolder) throws {
    let made = try files.createTemporary(in: folder.path, mode: VerifiedFile.mode)
    copy = made
    try files.write(made.fd, early)
    early = []
  }

  /// The copy; nil if `begin` was not called. It is complete after everything was read.
  var file: VerifiedFile? { copy.map { VerifiedFile(at: $0.path, total, files: files) } }
}
