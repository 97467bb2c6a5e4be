import SatchelValues

/// Attached files that nothing names any more, and that came or went before: what `compact` takes away.
public struct UnnamedFiles: Sendable {
  public struct File: Sendable {
    public let path: AttachmentPath
    public let digest: String
    public let bytes: Int64
  }

  public private(set) var files: [File] = []

  public var count: Int { files.count }
  /// Of all of them.
  public var bytes: Int64 { files.reduce(0) { $0 + $1.bytes } }

  public init() {}

  /// Those of `known` that nothing names, and that are still what they were. What somebody wrote anew there is
  /// somebody's own.
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
