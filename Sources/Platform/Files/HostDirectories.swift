import Glibc

extension HostFileSystem {
  public func list(_ directory: String) throws(PlatformError) -> [String] {
    let fd = try place(directory, for: "open").open("open", O_RDONLY | O_DIRECTORY)
    guard let stream = unsafe fdopendir(fd) else {
      let code = errno
      close(fd)
      throw PlatformError(errno: code, operation: "list", path: directory)
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else {
        if errno != 0 { throw PlatformError(errno: errno, operation: "list", path: directory) }
        break
      }
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    // Both orders are the same for ASCII names, and `sorted()` is many times faster. A folder may hold the bundles of
    // years.
    if names.allSatisfy({ $0.utf8.allSatisfy { $0 < 0x80 } }) { return names.sorted() }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  public func currentDirectory() throws(PlatformError) -> String {
    guard let path = unsafe getcwd(nil, 0) else {
      throw PlatformError(errno: errno, operation: "find the current folder", path: ".")
    }
    defer { unsafe free(path) }
    return unsafe String(cString: path)
  }

  public func resolved(_ path: String) throws(PlatformError) -> String {
    try refuseZeroByte("find", path)
    var present = Paths.absolute(path, currentDirectory: try currentDirectory())
    var missing: [String] = []
    while present != "/" {
      if let found = unsafe realpath(present, nil) {
        defer { unsafe free(found) }
        return missing.reversed().reduce(unsafe String(cString: found)) { Paths.join($0, $1) }
      }
      missing.append(Paths.name(of: present))
      present = Paths.parent(of: present)
    }
    return missing.reversed().reduce(present) { Paths.join($0, $1) }
  }

  public func makeOneDirectory(_ path: String, mode: UInt32) throws(PlatformError) {
    let place = try place(path, for: "make the folder")
    let mode = rules.mode(mode, ofFolder: path)
    try systemCall("make the folder", path) { unsafe mkdirat(place.folder, place.name, mode) }
  }

  public func syncDirectory(_ path: String) throws(PlatformError) {
    let fd = try place(path, for: "open").open("open", O_RDONLY | O_DIRECTORY)
    defer { close(fd) }
    do throws(PlatformError) {
      try systemCall("fsync", path) { fsync(fd) }
    } catch .other(_, _, let code) where code == EINVAL || code == ENOTSUP {
      // Some file systems cannot sync folders. Then there is no other way to do it.
    }
  }

  public func move(_ from: String, to: String) throws(PlatformError) {
    do throws(PlatformError) {
      let source = try place(from, for: "rename")
      let target = try place(to, for: "rename")
      try systemCall("rename", from) { unsafe renameat(source.folder, source.name, target.folder, target.name) }
    } catch {
      throw try kind(from) == nil ? error : error.about(to)
    }
  }

  public func restrict(_ path: String, to mode: UInt32) throws(PlatformError) {
    let place = try place(path, for: "chmod")
    do throws(PlatformError) {
      try systemCall("chmod", path) {
        unsafe fchmodat(place.folder, place.name, mode, place.isConfined ? AT_SYMLINK_NOFOLLOW : 0)
      }
    } catch .permissionDenied {
      // The file belongs to another user, or its medium has no modes, as FAT.
    } catch .other(_, _, let code) where code == EOPNOTSUPP {}
  }

  public func remove(_ path: String) throws(PlatformError) {
    let place = try place(path, for: "remove")
    do throws(PlatformError) {
      try systemCall("remove", path) { unsafe unlinkat(place.folder, place.name, 0) }
    } catch .isADirectory {
      try systemCall("remove", path) { unsafe unlinkat(place.folder, place.name, AT_REMOVEDIR) }
    }
  }
}
