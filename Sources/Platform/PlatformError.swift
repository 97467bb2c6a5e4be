/// What the world refused, and where.
public enum PlatformError: Error, Hashable, Sendable {
  case missing(path: String)
  case exists(path: String)
  case permissionDenied(path: String)
  case noSpace(path: String)
  case readOnly(path: String)
  case notADirectory(path: String)
  case isADirectory(path: String)
  /// A device, pipe or socket where a file was expected.
  case notAFile(path: String)
  /// A symbolic link in a place where none is followed.
  case link(path: String)
  /// More bytes than the caller is ready to hold.
  case tooLarge(path: String, limit: Int)
  /// This process, or the machine, has as many files open as it may.
  case tooManyFiles(path: String)
  /// Somebody else holds the lock.
  case locked(path: String)
  case other(operation: String, path: String, errno: Int32)
}

extension PlatformError {
  /// The file or folder that it is about.
  public var path: String {
    switch self {
    case .missing(let path), .exists(let path), .permissionDenied(let path), .noSpace(let path), .readOnly(let path),
      .notADirectory(let path), .isADirectory(let path), .notAFile(let path), .link(let path), .tooLarge(let path, _),
      .tooManyFiles(let path), .locked(let path), .other(_, let path, _):
      path
    }
  }

  /// A stable word for machines, as in `--json`.
  public var reason: String {
    switch self {
    case .missing: "missing"
    case .exists: "exists"
    case .permissionDenied: "permission-denied"
    case .noSpace: "no-space"
    case .readOnly: "read-only"
    case .notADirectory: "not-a-directory"
    case .isADirectory: "is-a-directory"
    case .notAFile: "not-a-file"
    case .link: "link"
    case .tooLarge: "too-large"
    case .tooManyFiles: "too-many-files"
    case .locked: "locked"
    case .other: "system-error"
    }
  }

  /// The same error about another path: what goes wrong with a file written aside is told of the file it was meant to
  /// be.
  public func about(_ path: String) -> PlatformError {
    switch self {
    case .missing: .missing(path: path)
    case .exists: .exists(path: path)
    case .permissionDenied: .permissionDenied(path: path)
    case .noSpace: .noSpace(path: path)
    case .readOnly: .readOnly(path: path)
    case .notADirectory: .notADirectory(path: path)
    case .isADirectory: .isADirectory(path: path)
    case .notAFile: .notAFile(path: path)
    // Whoever looks for a link must find it.
    case .link: self
    case .tooLarge(_, let limit): .tooLarge(path: path, limit: limit)
    case .tooManyFiles: .tooManyFiles(path: path)
    case .locked: .locked(path: path)
    case .other(let operation, _, let errno): .other(operation: operation, path: path, errno: errno)
    }
  }
}
