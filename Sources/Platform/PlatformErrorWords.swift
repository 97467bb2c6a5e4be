import Glibc
import SatchelValues

extension PlatformError: ExplainedError, CustomStringConvertible {
  /// The fault and its place.
  public var message: String {
    switch self {
    case .missing(let path): "\(path): there is no such file or folder."
    case .exists(let path): "\(path): it exists already."
    case .permissionDenied(let path): "\(path): permission denied."
    case .noSpace(let path): "\(path): no space is left."
    case .readOnly(let path): "\(path): its medium cannot be written."
    case .notADirectory(let path): "\(path): this is not a folder, or a part of its path is not a folder."
    case .isADirectory(let path): "\(path): this is a folder, not a file."
    case .notAFile(let path): "\(path): this is a device, pipe or socket, not a file."
    case .link(let path): "\(path): this is a symbolic link to another place. Satchel opens no symbolic link here."
    case .tooLarge(let path, let limit): "\(path): larger than \(limit) bytes."
    case .tooManyFiles(let path): "\(path): too many files are open."
    case .notAsWritten(let path): "\(path): the medium gave back other bytes than were written to it."
    case .locked(let path): "\(path): another process holds this lock."
    case .other(let operation, let path, let errno): "\(path): \(operation) failed: \(Self.words(for: errno))."
    }
  }

  /// The next step; nil if there is no general advice.
  public var hint: String? {
    switch self {
    case .missing: "Check the path."
    case .exists: "Choose another name, or move it out of the way."
    case .permissionDenied: "Check who owns it and the rights on the folders above it."
    case .noSpace: "Free some space there, or use another medium; then run the same command again."
    case .readOnly: "Check the stick's write switch, or how it is mounted."
    case .notADirectory, .isADirectory, .notAFile: "Check the path."
    case .link: "Look where it leads (ls -l) and ask who made it. Remove it, then run the same command again."
    case .tooLarge: nil
    case .tooManyFiles: "Close other programs, or raise the limit (ulimit -n)."
    case .notAsWritten: "Do not use this medium any more. Take another one, and run the same command again."
    case .locked: "Wait until the other command ends, then run this one again."
    case .other(_, _, let errno): Self.hint(for: errno)
    }
  }

  public var description: String { message }

  /// The hint for a path that has a name that is not UTF-8; nil for other paths.
  ///
  /// Swift replaces each byte that is not UTF-8 by U+FFFD, so the path leads to no file.
  public static func hintOfName(in path: String) -> String? {
    guard path.unicodeScalars.contains("\u{FFFD}") else { return nil }
    return """
      A name in this path is not UTF-8, and Satchel cannot use it. Give the file or the stick another name, or mount \
      the stick at another path.
      """
  }

  private static func hint(for errno: Int32) -> String? {
    switch errno {
    case EIO: "The medium or its reader may be failing: try again, then try another one."
    case ENODEV, ENXIO, ENOTCONN, ESTALE: "Was the stick pulled out? Plug it in, then run the same command again."
    case EFBIG: "The medium cannot hold a file of this size: use another medium, or smaller volumes."
    case ENAMETOOLONG: "Use a shorter name."
    case EXDEV: "Both names must be on one file system."
    case EBUSY: "Close the programs that use it, then try again."
    default: nil
    }
  }

  private static func words(for errno: Int32) -> String {
    // The C library may change this text at the next call, so it is copied at once.
    guard let text = unsafe strerror(errno) else { return "error \(errno)" }
    return unsafe String(cString: text)
  }
}
