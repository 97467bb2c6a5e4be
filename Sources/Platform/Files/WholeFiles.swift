import SatchelValues

extension FileSystem {
  /// All bytes of a file. Throws `.tooLarge` if there are more than `limit` bytes. It never holds more than `limit`
  /// bytes and one piece.
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

  /// Puts a file with these contents and this mode at `path`, and replaces a file that is there. After a crash at any
  /// time, either the old file or the new file is there, and it is complete. See `replace(_:mode:writing:)`.
  public func replace(_ path: String, mode: UInt32, contents: [UInt8]) throws(PlatformError) {
    try replace(path, mode: mode) { fd throws(PlatformError) in try write(fd, contents) }
  }

  /// Copies a file's bytes in pieces, and puts the copy at `path` as `replace` does.
  public func copy(_ from: String, to path: String, mode: UInt32) throws(PlatformError) {
    try copy(from, to: path, mode: mode) { _, _ in }
  }

  /// Copies a file as `copy` does, but reads the copy back from the medium before the copy gets its name. Throws
  /// `.notAsWritten` if it has other bytes than the file.
  public func copyAndProve(_ from: String, to path: String, mode: UInt32) throws(PlatformError) {
    try copy(from, to: path, mode: mode) { copy, source throws(PlatformError) in
      try sync(copy)
      guard try isOnMedium(copy, like: source) else { throw .notAsWritten(path: path) }
    }
  }

  /// - Parameter check: looks at the open files after the copy is written and before it gets its name.
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

  /// Whether a file's bytes on its medium are those of `original`.
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

  /// Copies a file to a path that a person chose, perhaps in a foreign folder, and proves the copy. First it removes
  /// the temporary files that killed processes left for this path, and nothing else.
  public func deliver(_ from: String, to path: String, mode: UInt32) throws(PlatformError) {
    removeLeftovers(of: path)
    try copyAndProve(from, to: path, mode: mode)
  }

  /// Removes the temporary files that killed processes left beside `path`. A file stays if it cannot be removed, or if
  /// a running process is writing it.
  public func removeLeftovers(of path: String) {
    let (folder, prefix) = (Paths.parent(of: path), Self.temporaryName(for: Paths.name(of: path)))
    guard prefix != Self.temporaryPrefix, let names = try? list(folder) else { return }
    for name in names where name.utf8.starts(with: prefix.utf8) {
      // If the rest of the name has another form, the file is foreign, or belongs to a longer name.
      guard Hexadecimal.bytes(of: String(name.utf8.dropFirst(prefix.utf8.count)) ?? "")?.count == 8 else { continue }
      let leftover = Paths.join(folder, name)
      guard (try? kind(leftover)) == .file, let fd = try? openLocked(leftover) else { continue }
      try? remove(leftover)
      close(fd)
    }
  }

  /// Calls `fill` to write a new file in the same folder. Renames the new file to `path` after it is safe on the
  /// medium.
  ///
  /// On any failure, also of `fill`, the new file is removed and `path` is unchanged, with one exception. If the rename
  /// succeeds and syncing the folder fails, the new file is at `path`. A power cut may then bring back the old file.
  public func replace(
    _ path: String, mode: UInt32, writing fill: (_ fd: Int32) throws(PlatformError) -> Void
  ) throws(PlatformError) {
    let aside = try createTemporary(in: Paths.parent(of: path), for: Paths.name(of: path), mode: mode)
    do throws(PlatformError) {
      try fillAndSync(aside.fd, fill)
      try rename(aside.path, to: path)
    } catch {
      // The new file is no longer there if the rename succeeded. A second failure must not hide the first failure.
      try? remove(aside.path)
      throw Paths.name(of: error.path) == Paths.name(of: aside.path) ? error.about(path) : error
    }
  }

  private func fillAndSync(_ fd: Int32, _ fill: (Int32) throws(PlatformError) -> Void) throws(PlatformError) {
    defer { close(fd) }
    try fill(fd)
    try sync(fd)
  }

  /// Removes the file or folder at `path` with its content. Links are removed, and never followed. The path may be
  /// missing.
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
