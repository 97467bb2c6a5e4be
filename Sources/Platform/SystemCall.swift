import Glibc

extension PlatformError {
  /// Translates an `errno` into an error. No other function does that.
  init(errno: Int32, operation: String, path: String) {
    self =
      switch errno {
      case ENOENT: .missing(path: path)
      case EEXIST: .exists(path: path)
      case EACCES, EPERM: .permissionDenied(path: path)
      case ENOSPC, EDQUOT: .noSpace(path: path)
      case EROFS: .readOnly(path: path)
      case ENOTDIR: .notADirectory(path: path)
      case EISDIR: .isADirectory(path: path)
      case ELOOP: .link(path: path)
      case EMFILE, ENFILE: .tooManyFiles(path: path)
      case EWOULDBLOCK: .locked(path: path)
      default: .other(operation: operation, path: path, errno: errno)
      }
  }
}

/// Makes a system call on a path. Repeats the call if a signal interrupts it.
@discardableResult
func systemCall<R: SignedInteger>(_ operation: String, _ path: String, _ call: () -> R) throws(PlatformError) -> R {
  try refuseZeroByte(operation, path)
  return try uninterrupted(operation, path, call)
}

/// Throws if the path has a zero byte. For C the path would end at this byte, so the call would use another file.
func refuseZeroByte(_ operation: String, _ path: String) throws(PlatformError) {
  if path.utf8.contains(0) { throw .other(operation: operation, path: path, errno: EINVAL) }
}

/// Makes a system call on an open file. Repeats the call if a signal interrupts it. The file's path is looked up only
/// if the call fails.
@discardableResult
func systemCall<R: SignedInteger>(_ operation: String, on fd: Int32, _ call: () -> R) throws(PlatformError) -> R {
  try uninterrupted(operation, nameOfOpenFile(fd), call)
}

private func uninterrupted<R: SignedInteger>(
  _ operation: String, _ path: @autoclosure () -> String, _ call: () -> R
) throws(PlatformError) -> R {
  while true {
    let result = call()
    if result >= 0 { return result }
    let code = errno
    if code != EINTR { throw PlatformError(errno: code, operation: operation, path: path()) }
  }
}

private func nameOfOpenFile(_ fd: Int32) -> String {
  var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
  let length = unsafe bytes.withUnsafeMutableBytes {
    unsafe readlink("/proc/self/fd/\(fd)", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
  }
  return length > 0 ? String(decoding: bytes.prefix(length), as: UTF8.self) : "file descriptor \(fd)"
}

/// Writes all bytes, with as many calls as necessary. Waits if the receiver is not ready. Returns 0, or the `errno`
/// of a failure.
func writeFully(_ bytes: [UInt8], to fd: Int32) -> Int32 {
  var written = 0
  while written < bytes.count {
    let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(fd, $0.baseAddress! + written, $0.count - written) }
    if count >= 0 {
      written += count
    } else if errno == EAGAIN {
      var ready = pollfd(fd: fd, events: Int16(POLLOUT), revents: 0)
      _ = unsafe poll(&ready, 1, -1)
    } else if errno != EINTR {
      return errno
    }
  }
  return 0
}
