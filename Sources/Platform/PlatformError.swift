import SatchelValues

/// An operation on a file that the system refused.
public enum PlatformError: Error, Hashable, Sendable {
  case missing(path: String)
  case exists(path: String)
  case permissionDenied(path: String)
  case noSpace(path: String)
  case readOnly(path: String)
  case notADirectory(path: String)
  case isADirectory(path: String)
  /// A device, pipe or socket is in the place of a file.
  case notAFile(path: String)
  /// A symbolic link is in a place in which links are not followed.
  case link(path: String)
  /// The file has more bytes than the caller's limit.
  case tooLarge(path: String, limit: Int)
  /// The medium does not hold the bytes that were written to the file.
  case notAsWritten(path: String)
  /// This process or the machine has too many open files.
  case tooManyFiles(path: String)
  /// Another process holds the lock.
  case locked(path: String)
  case other(operation: String, path: String, errno: Int32)
}

extension PlatformError {
  /// The path of the file or folder that the error is about.
  public var path: String {
    switch self {
    case .missing(let path), .exists(let path), .permissionDenied(let path), .noSpace(let path), .readOnly(let path),
      .notADirectory(let path), .isADirectory(let path), .notAFile(let path), .link(let path), .tooLarge(let path, _),
      .tooManyFiles(let path), .notAsWritten(let path), .locked(let path), .other(_, let path, _):
      path
    }
  }

  /// A stable word for machines, as in `--json`.
  public var code: Reason {
    switch self {
    case .missing: .missing
    case .exists: .exists
    case .permissionDenied: .permissionDenied
    case .noSpace: .noSpace
    case .readOnly: .readOnly
    case .notADirectory: .notADirectory
    case .isADirectory: .isADirectory
    case .notAFile: .notAFile
    case .link: .link
    case .tooLarge: .tooLarge
    case .tooManyFiles: .tooManyFiles
    case .notAsWritten: .notAsWritten
    case .locked: .locked
    case .other: .systemError
    }
  }

  /// The same error with another path. With it, an error of a temporary file names the intended file.
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
    // The caller needs the path of the link itself.
    case .link: self
    case .tooLarge(_, let limit): .tooLarge(path: path, limit: limit)
    case .tooManyFiles: .tooManyFiles(path: path)
    case .notAsWritten: .notAsWritten(path: path)
    case .locked: .locked(path: path)
    case .other(let operation, _, let errno): .other(operation: operation, path: path, errno: errno)
    }
  }
}
