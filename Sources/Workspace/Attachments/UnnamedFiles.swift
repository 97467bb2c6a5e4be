import SatchelValues

/// Attached files that came or were sent earlier, and that no row or other record names any more. `compact` deletes
/// them.
public struct UnnamedFiles: Sendable {
  public struct File: Sendable {
    public let path: AttachmentPath
    public let digest: String
    public let bytes: Int64
  }

  public private(set) var files: [File] = []

  public var count: Int { files.count }
  /// The total size of the files, in bytes.
  public var bytes: Int64 { files.reduce(0) { $0 + $1.bytes } }

  public init() {}

  /// The files of `known` that are not in `named` and were not changed. A file that was rewritten belongs to the
  /// user, so it is not among them.
  public init(
    _ known: some Sequence<(path: AttachmentPath, digest: String)>, but named: Set<AttachmentPath>,
    in attached: AttachedFiles
  )
    throws
  {
    for file in known where !named.contains(file.path) {
      guard let bytes = try attached.bytes(at: file.path, ifStill: file.digest) else { continue }
      files.append(File(path: file.path, digest: file.digest, bytes: bytes))
    }
  }

  public func remove(from attached: AttachedFiles) throws {
    for file in files { try attached.remove(file.path, ifStill: file.digest) }
  }
}
