import Glibc

/// A path in the form in which the kernel gets it.
///
/// Below a confined folder, it is one name in an open folder. Each folder on the way was opened from the folder above
/// it, without following a link. So no process can put a link there between a check and the call. Elsewhere it is the
/// path as the caller gave it.
struct HostPlace: ~Copyable {
  let path: String
  let name: String
  /// An open folder, or `AT_FDCWD`.
  let folder: Int32
  let isConfined: Bool

  /// Throws `.missing`, `.notADirectory` or `.link` if a folder on the way cannot be entered.
  init(_ path: String, _ rules: FolderRules, for operation: String) throws(PlatformError) {
    try refuseZeroByte(operation, path)
    guard let (root, names) = rules.confinedNames(of: path), let last = names.last else {
      self.init(path: path, name: path, folder: AT_FDCWD, isConfined: false)
      return
    }
    var folder = try systemCall(operation, root) { unsafe openat(AT_FDCWD, root, Self.toEnter) }
    for (place, name) in names.dropLast().enumerated() {
      let above = folder
      defer { _ = Glibc.close(above) }
      folder = try Self.enter(name, from: above, names[...place].reduce(root, Paths.join), for: path, operation)
    }
    self.init(path: path, name: last, folder: folder, isConfined: true)
  }

  private init(path: String, name: String, folder: Int32, isConfined: Bool) {
    (self.path, self.name, self.folder, self.isConfined) = (path, name, folder, isConfined)
  }

  deinit { if folder != AT_FDCWD { _ = Glibc.close(folder) } }

  /// The first number is O_PATH, which Swift does not import. With it, the folder need not be readable.
  private static let toEnter: Int32 = 0o10000000 | O_DIRECTORY | O_CLOEXEC

  /// - Parameter way: the path of the folder to enter. It is only computed for an error.
  private static func enter(
    _ name: String, from folder: Int32, _ way: @autoclosure () -> String, for path: String, _ operation: String
  ) throws(PlatformError) -> Int32 {
    do throws(PlatformError) {
      return try systemCall(operation, path) { unsafe openat(folder, name, toEnter | O_NOFOLLOW) }
    } catch .notADirectory {
      throw isLink(name, in: folder) ? .link(path: way()) : .notADirectory(path: path)
    } catch .link { throw .link(path: way()) }
  }

  private static func isLink(_ name: String, in folder: Int32) -> Bool {
    var info = stat()
    return unsafe fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && info.kind == .link
  }

  /// The status of the file itself, also if it is a link.
  func look(_ operation: String) throws(PlatformError) -> stat { try status(operation, AT_SYMLINK_NOFOLLOW) }

  /// The status of the file or, if links may be followed, of the target of a link. Otherwise throws `.link` for a
  /// link.
  func status(_ operation: String) throws(PlatformError) -> stat {
    let info = try status(operation, isConfined ? AT_SYMLINK_NOFOLLOW : 0)
    if info.kind == .link { throw .link(path: path) }
    return info
  }

  private func status(_ operation: String, _ flags: Int32) throws(PlatformError) -> stat {
    var info = stat()
    try systemCall(operation, path) { unsafe fstatat(folder, name, &info, flags) }
    return info
  }

  /// Opens the file. A created file has the mode 0600.
  func open(_ operation: String, _ flags: Int32) throws(PlatformError) -> Int32 {
    let flags = flags | O_CLOEXEC | (isConfined ? O_NOFOLLOW : 0)
    do throws(PlatformError) {
      return try systemCall(operation, path) { unsafe openat(folder, name, flags, 0o600) }
    } catch .notADirectory {
      throw isConfined && Self.isLink(name, in: folder) ? .link(path: path) : .notADirectory(path: path)
    }
  }
}
