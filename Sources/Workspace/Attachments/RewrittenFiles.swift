import SatchelCrypto
import SatchelSQLite
import SatchelValues

/// A file's size and time. A file with the same mark was not rewritten, so it need not be read again.
public struct FileMark: Equatable, Sendable {
  public let bytes: Int64
  /// Nanoseconds since 1970.
  let modified: Int64
  /// Whether any later write would change the file's time. FAT stores times in steps of two seconds.
  private let isSettled: Bool

  private static let settling: Int64 = 2_000

  /// - Parameter now: milliseconds since 1970.
  init(bytes: Int64, modified: Int64, now: Int64) {
    self.bytes = bytes
    self.modified = modified
    isSettled = modified / 1_000_000 + Self.settling < now
  }

  public static func == (a: FileMark, b: FileMark) -> Bool { a.bytes == b.bytes && a.modified == b.modified }

  /// The values for the columns `bytes` and `modified`. Both are NULL if a later write might not change the file's
  /// time.
  public var values: (bytes: Value, modified: Value) {
    isSettled ? (.integer(bytes), .integer(modified)) : (.null, .null)
  }
}

/// A file as this replica last read it, or as the sender described it.
public struct KnownFile {
  public let path: AttachmentPath
  public let digest: String
  fileprivate let bytes: Int64?
  fileprivate let modified: Int64?

  /// Decodes the columns `path`, `digest`, `bytes`, `modified`. nil if `path` is not a valid path.
  public init?(_ row: borrowing Statement) {
    guard let path = AttachmentPath(row.text(0)) else { return nil }
    self.path = path
    digest = row.text(1)
    bytes = row.optionalInteger(2)
    modified = row.optionalInteger(3)
  }

  /// Whether this replica has recorded the file's size and time.
  public var isMarked: Bool { modified != nil }
}

/// A file that was read again because its size or time had changed.
public struct SeenFile {
  /// The digest of the file's former content.
  public let former: String
  public let path: AttachmentPath
  public let digest: Digest
  public let mark: FileMark
  public var isRewritten: Bool { digest.hexadecimal != former }
}

extension AttachedFiles {
  /// Reads the files whose size or time has changed. Missing files are skipped.
  public func look(at known: some Sequence<KnownFile>) throws -> [SeenFile] {
    try known.compactMap { file in
      guard let mark = try mark(at: file.path), mark.bytes != file.bytes || mark.modified != file.modified,
        let digest = try digest(at: file.path)
      else { return nil }
      return SeenFile(former: file.digest, path: file.path, digest: digest, mark: mark)
    }
  }
}
