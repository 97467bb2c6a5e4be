import CLinux
import Glibc
import SatchelValues

/// The files of this machine.
public struct HostFileSystem: FileSystem {
  public var rules = FolderRules()

  public init() {}

  func place(_ path: String, for operation: String) throws(PlatformError) -> HostPlace {
    try HostPlace(path, rules, for: operation)
  }

  public func kind(_ path: String) throws(PlatformError) -> FileKind? {
    do throws(PlatformError) { return try place(path, for: "stat").look("stat").kind } catch .missing { return nil }
  }

  public func size(_ path: String) throws(PlatformError) -> Int64 { Int64(try status(path).st_size) }

  public func modified(_ path: String) throws(PlatformError) -> Int64 {
    let time = try status(path).st_mtim
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  public func permissions(_ path: String) throws(PlatformError) -> UInt32 { try status(path).st_mode & 0o7777 }

  public func freeBytes(_ path: String) throws(PlatformError) -> Int64 {
    var info = statvfs()
    try systemCall("statvfs", path) { unsafe statvfs(path, &info) }
    return Int64(info.f_bavail) * Int64(info.f_frsize)
  }

  public func totalBytes(_ path: String) throws(PlatformError) -> Int64 {
    var info = statvfs()
    try systemCall("statvfs", path) { unsafe statvfs(path, &info) }
    return Int64(info.f_blocks) * Int64(info.f_frsize)
  }

  private func status(_ path: String) throws(PlatformError) -> stat { try place(path, for: "stat").status("stat") }

  public func open(_ path: String) throws(PlatformError) -> Int32 {
    let place = try place(path, for: "open")
    try Self.requireFile(place.status("open"), path)
    // O_NONBLOCK: opening a pipe would otherwise wait for its writer. For a regular file the flag has no effect.
    let fd = try place.open("open", O_RDONLY | O_NONBLOCK)
    do throws(PlatformError) {
      // The path may lead to another file since the check.
      try requireFile(fd, path)
      return fd
    } catch {
      close(fd)
      throw error
    }
  }

  private func requireFile(_ fd: Int32, _ path: String) throws(PlatformError) {
    var info = stat()
    try systemCall("stat", path) { unsafe fstat(fd, &info) }
    try Self.requireFile(info, path)
  }

  private static func requireFile(_ info: stat, _ path: String) throws(PlatformError) {
    switch info.kind {
    case .file: return
    case .directory: throw .isADirectory(path: path)
    case .link: throw .link(path: path)
    case .other: throw .notAFile(path: path)
    }
  }

  public func createTemporary(
    in directory: String, for label: String, mode: UInt32
  ) throws(PlatformError) -> (path: String, fd: Int32) {
    let unique = Hexadecimal.text(of: SystemRandom().bytes(8))
    let path = Paths.join(directory, Self.temporaryName(for: label) + unique)
    let fd: Int32
    do throws(PlatformError) {
      fd = try place(path, for: "create").open("create", O_RDWR | O_CREAT | O_EXCL)
    } catch {
      // The caller does not know the temporary file, so the error names the folder.
      throw error.about(directory)
    }
    // The umask must not change the mode that the caller chose. The result is not checked: a file system without
    // modes refuses this call.
    _ = fchmod(fd, rules.mode(mode, ofFile: path))
    // `removeLeftovers` searches for files of killed processes. The lock shows that this file is in use.
    _ = flock(fd, LOCK_EX | LOCK_NB)
    return (path, fd)
  }

  public func openLocked(_ path: String) throws(PlatformError) -> Int32 {
    // O_NONBLOCK: a pipe at this path would otherwise block.
    let fd = try place(path, for: "open").open("open", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK)
    do throws(PlatformError) {
      try requireFile(fd, path)
      try systemCall("lock", path) { flock(fd, LOCK_EX | LOCK_NB) }
    } catch {
      close(fd)
      throw error
    }
    return fd
  }

  public func read(_ fd: Int32, into buffer: inout [UInt8]) throws(PlatformError) -> Int {
    precondition(!buffer.isEmpty, "an empty buffer would look like the file's end")
    return try systemCall("read", on: fd) {
      unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(fd, $0.baseAddress, $0.count) }
    }
  }

  public func seek(_ fd: Int32, to offset: Int64) throws(PlatformError) {
    try systemCall("seek", on: fd) { lseek(fd, off_t(offset), SEEK_SET) }
  }

  public func write(_ fd: Int32, _ bytes: [UInt8]) throws(PlatformError) {
    try systemCall("write", on: fd) {
      let code = writeFully(bytes, to: fd)
      errno = code
      return code == 0 ? 0 : -1
    }
  }

  public func sync(_ fd: Int32) throws(PlatformError) {
    try systemCall("fsync", on: fd) { fsync(fd) }
  }

  public func reserve(_ bytes: Int64, for fd: Int32) throws(PlatformError) -> Bool {
    do throws(PlatformError) {
      try systemCall("reserve room", on: fd) { fallocate(fd, Int32(SATCHEL_KEEP_SIZE), 0, off_t(bytes)) }
      return true
    } catch .other(_, _, EOPNOTSUPP) {
      // `fallocate` is missing here. exFAT reserves room when a file is made longer; some other file systems do not.
      try systemCall("reserve room", on: fd) { ftruncate(fd, off_t(bytes)) }
      try systemCall("fsync", on: fd) { fsync(fd) }
      return true
    } catch .other(_, _, ENOSYS) {
      return false
    }
  }

  public func dropCache(of fd: Int32) {
    // A file system in memory ignores this call.
    _ = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)
  }

  public func close(_ fd: Int32) {
    // A process that is just being started has a copy of each descriptor until its `exec`, and the copy would keep
    // the lock. So the file is unlocked first.
    _ = flock(fd, LOCK_UN)
    // On Linux, the descriptor is closed even if a signal interrupts this call. A second call could close another
    // file.
    _ = Glibc.close(fd)
  }
}

extension stat {
  var kind: FileKind {
    switch st_mode & S_IFMT {
    case S_IFREG: .file
    case S_IFDIR: .directory
    case S_IFLNK: .link
    default: .other
    }
  }
}
