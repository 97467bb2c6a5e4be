import SatchelValues

extension FileSystem {
  /// The whole content of a file. Throws `.tooLarge` if it has more than `limit` bytes, and never holds much more in
  /// memory.
  public func read(_ path: String, limit: Int) throws(PlatformError) -> [UInt8] {
    let fd = try open(path)
    defer { close(fd) }
    var contents: [UInt8] = []
    var pieces = pieces(of: fd, size: 64 << 10)
    while let piece = try pieces.next() {
      if contents.count + piece.count > limit { throw .tooLarge(path: path, limit: limit) }
      contents += piece
    }
    return contents
  }

  /// Writes a file with this content and mode at `path`, in place of a file there. After a crash at any moment,
  /// `path` has either the whole old file or the whole new file. See `replace(_:mode:writing:)`.
  public func replace(_ path: String, mode: UInt32, contents: [UInt8]) throws(PlatformError) {
    try replace(path, mode: mode) { fd throws(PlatformError) in try write(fd, contents) }
  }

  /// Copies a file to `path`, in the same way as `replace`.
  public func copy(_ from: String, to path: String, mode: UInt32) throws(PlatformError) {
    try copy(from, to: path, mode: mode) { _, _ in }
  }

  /// Copies a file to `path`. Before the copy gets its name, it is read back from the medium. Throws `.notAsWritten`
  /// if the bytes differ.
  public func copyAndProve(_ from: String, to path: String, mode: UInt32) throws(PlatformError) {
    try copy(from, to: path, mode: mode) { copy, source throws(PlatformError) in
      try sync(copy)
      guard try isOnMedium(copy, like: source) else { throw .notAsWritten(path: path) }
    }
  }

  /// - Parameter check: called with both open files after the copy was written and before it gets its name.
  private func copy(
    _ from: String, to path: String, mode: UInt32,
    check: (_ copy: Int32, _ source: Int32) throws(PlatformError) -> Void
  ) throws(PlatformError) {
    let source = try open(from)
    defer { close(source) }
    try replace(path, mode: mode) { fd throws(PlatformError) in
      var pieces = pieces(of: source)
      while let piece = try pieces.next() { try write(fd, piece) }
      try check(fd, source)
    }
  }

  /// Whether the bytes of a file on its medium are equal to those of `original`.
  public func isOnMedium(_ path: String, like original: String) throws(PlatformError) -> Bool {
    let fd = try open(path)
    defer { close(fd) }
    let source = try open(original)
    defer { close(source) }
    return try isOnMedium(fd, like: source)
  }

  private func isOnMedium(_ fd: Int32, like source: Int32) throws(PlatformError) -> Bool {
    dropCache(of: fd)
    for file in [fd, source] { try seek(file, to: 0) }
    var (written, expected) = (pieces(of: fd), pieces(of: source))
    var (left, right): (ArraySlice<UInt8>, ArraySlice<UInt8>) = ([], [])
    while true {
      if left.isEmpty { left = ArraySlice(try written.next() ?? []) }
      if right.isEmpty { right = ArraySlice(try expected.next() ?? []) }
      if left.isEmpty || right.isEmpty { return left.isEmpty && right.isEmpty }
      let count = min(left.count, right.count)
      guard left.prefix(count) == right.prefix(count) else { return false }
      left = left.dropFirst(count)
      right = right.dropFirst(count)
    }
  }

  /// Copies a file to a path that a person chose, and proves the copy. Before that, removes the temporary files that
  /// killed processes left for this path. The folder may be a person's own, so no other files are removed.
  public func deliver(_ from: String, to path: String, mode: UInt32) throws(PlatformError) {
    removeLeftovers(of: path)
    try copyAndProve(from, to: path, mode: mode)
  }

  /// Removes the temporary files that killed processes left beside `path`. A file that a running process writes
  /// stays, and so does a file that cannot be removed.
  public func removeLeftovers(of path: String) {
    let (folder, prefix) = (Paths.parent(of: path), Self.temporaryName(for: Paths.name(of: path)))
    guard prefix != Self.temporaryPrefix, let names = try? list(folder) else { return }
    for name in names where name.utf8.starts(with: prefix.utf8) {
      // With another form of the rest, another program made the file, or it belongs to a path with a longer name.
      guard Hexadecimal.bytes(of: String(name.utf8.dropFirst(prefix.utf8.count)) ?? "")?.count == 8 else { continue }
      let leftover = Paths.join(folder, name)
      guard (try? kind(leftover)) == .file, let fd = try? openLocked(leftover) else { continue }
      try? remove(leftover)
      close(fd)
    }
  }

  /// Calls `fill` to write a new file in the same folder, syncs it, and renames it to `path`.
  ///
  /// If anything fails, the new file is removed and `path` does not change. There is one exception: if the rename
  /// succeeds and the sync of the folder fails, the new file is at `path`. A power cut may then bring the old file
  /// back.
  public func replace(
    _ path: String, mode: UInt32, writing fill: (_ fd: Int32) throws(PlatformError) -> Void
  ) throws(PlatformError) {
    let aside = try createTemporary(in: Paths.parent(of: path), for: Paths.name(of: path), mode: mode)
    do throws(PlatformError) {
      try fillAndSync(aside.fd, fill)
      try rename(aside.path, to: path)
    } catch {
      // After a successful rename there is no file at this path. An error here must not hide the first error.
      try? remove(aside.path)
      throw Paths.name(of: error.path) == Paths.name(of: aside.path) ? error.about(path) : error
    }
  }

  private func fillAndSync(_ fd: Int32, _ fill: (Int32) throws(PlatformError) -> Void) throws(PlatformError) {
    defer { close(fd) }
    try fill(fd)
    try sync(fd)
  }

  /// Removes a file or a folder with its content. A link is removed, and its target is not touched. Does nothing if
  /// there is no such path.
  public func removeTree(_ path: String) throws(PlatformError) {
    guard let kind = try kind(path) else { return }
    if kind == .directory {
      for name in try list(path) { try removeTree(Paths.join(path, name)) }
    }
    try remove(path)
  }

  /// Removes a file, if there is one.
  public func removeIfThere(_ path: String) throws(PlatformError) {
    if try kind(path) != nil { try remove(path) }
  }
}
