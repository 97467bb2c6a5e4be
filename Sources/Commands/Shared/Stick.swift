import SatchelPlatform
import SatchelWorkspace

/// A stick, or any folder that is carried: bundles lie in `SATCHEL/<to>/<from>/`, so that it serves many and each takes
/// only its own.
struct Stick {
  static let folderName = "SATCHEL"

  let root: String
  let platform: Platform

  private var files: any FileSystem { platform.files }

  /// - Parameter folder: where the stick is mounted.
  init(_ folder: String, _ platform: Platform) throws {
    guard try platform.isFolder(folder) else { throw Self.noFolder(folder) }
    root = Paths.join(folder, Self.folderName)
    self.platform = platform
  }

  static func noFolder(_ folder: String, hint: String? = nil) -> WorkspaceError {
    WorkspaceError(
      "no-folder", "There is no folder \(folder).",
      hint: ["Is the stick mounted?", hint].compactMap { $0 }.joined(separator: " "))
  }

  private func place(to: String, from: String) -> String { Paths.join(Paths.join(root, to), from) }

  /// The bundles for `name`, those of one sender in the order of their numbers.
  ///
  /// What a hub once sent and gets back comes before all else: it says which keys rows had when devices wrote about
  /// them.
  func bundles(for name: String) throws -> [String] {
    let mine = Paths.join(root, name)
    guard try files.kind(mine) == .directory else { return [] }
    var (returned, sent): ([String], [String]) = ([], [])
    for sender in try files.list(mine) {
      let ours = "-\(name)-\(sender)-"
      for path in try bundles(in: Paths.join(mine, sender)) {
        if Paths.name(of: path).contains(ours) { returned.append(path) } else { sent.append(path) }
      }
    }
    return returned + sent
  }

  private func bundles(in folder: String) throws -> [String] {
    guard try files.kind(folder) == .directory else { return [] }
    // A number with more digits is a greater one.
    return try files.list(folder).filter { $0.hasSuffix(".satchel") && !$0.hasPrefix(HostFileSystem.temporaryPrefix) }
      .sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }.map { Paths.join(folder, $0) }
  }

  /// How many bundles there are that somebody else put here for others.
  func countOfOthers(than name: String) throws -> Int {
    guard try files.kind(root) == .directory else { return 0 }
    return try files.list(root).filter { $0 != name }.reduce(0) { count, other in
      let folder = Paths.join(root, other)
      guard try files.kind(folder) == .directory else { return count }
      return try count
        + files.list(folder).filter { $0 != name }.reduce(0) { try $0 + bundles(in: Paths.join(folder, $1)).count }
    }
  }

  /// Puts a bundle on the stick, unless it is there, in the place of older ones of the same sender for the same
  /// receiver: what they say is in it too. Returns whether it was put there.
  /// - Parameter before: bundles that the receiver must have first, of which this is not true.
  @discardableResult
  func put(_ bundle: String, behind before: [String] = [], to: String, from: String) throws -> Bool {
    let folder = place(to: to, from: from)
    try sweep(folder)
    for earlier in before { try put(earlier, in: folder) }
    let isNew = try put(bundle, in: folder)
    let kept = (before + [bundle]).map { Paths.join(folder, Paths.name(of: $0)) }
    try take(bundles(in: folder).filter { !kept.contains($0) })
    return isNew
  }

  /// Copies a bundle into a folder of the stick, unless it is there. Returns whether it was not.
  @discardableResult
  private func put(_ bundle: String, in folder: String) throws -> Bool {
    let target = Paths.join(folder, Paths.name(of: bundle))
    let isNew = try files.kind(target) != .file || files.size(target) != files.size(bundle)
    if isNew {
      try checkRoom(for: bundle)
      try files.makeDirectory(folder, mode: 0o755)
      try files.copy(bundle, to: target, mode: 0o644)
    }
    return isNew
  }

  /// Throws where the stick has no room for a file.
  func checkRoom(for file: String) throws {
    let (needed, free) = (try files.size(file), try files.freeBytes(Paths.parent(of: root)))
    guard needed + 1 << 20 <= free else {
      throw WorkspaceError(
        "stick-full", "The bundle has \(needed >> 10) KiB, and the stick has \(free >> 10) KiB free.",
        hint: "Take what is not needed off the stick; or: export --volume-size, onto several.")
    }
  }

  /// Takes bundles off the stick that have come where they were to go.
  func take(_ paths: [String]) throws {
    for path in paths { try files.remove(path) }
    for folder in Set(paths.map { Paths.parent(of: $0) }).sorted() { try files.syncDirectory(folder) }
  }

  /// Takes away what was put here for somebody who has it.
  func clear(to: String, from: String) throws {
    let folder = place(to: to, from: from)
    try sweep(folder)
    try take(bundles(in: folder))
  }

  /// Takes away what a stick that was pulled out has left of a file: nobody but this replica writes here.
  private func sweep(_ folder: String) throws {
    guard try files.kind(folder) == .directory else { return }
    for name in try files.list(folder) where name.hasPrefix(HostFileSystem.temporaryPrefix) {
      try files.removeTree(Paths.join(folder, name))
    }
  }

  /// Says in plain words what the folder is, for whoever finds the stick.
  func explain() throws {
    try sweep(root)
    let path = Paths.join(root, "README.txt")
    if try files.kind(path) == .file { return }
    try files.makeDirectory(root, mode: 0o755)
    try files.replace(path, mode: 0o644, contents: Array(Self.words.utf8))
  }

  /// Says that all of it is on the medium.
  func sync() throws {
    if try files.kind(root) == .directory { try files.syncDirectory(root) }
  }

  private static let words = """
    This folder carries data between people who have no network.\r
    \r
    Each file that ends in .satchel is a sealed parcel: SATCHEL/<to whom>/<from whom>/.\r
    Please do not open, rename or delete them. If you have found this stick, give it back\r
    to the people whose names the folders have. Nothing is lost if you cannot: they still\r
    have everything, and can make the parcels again.\r

    """
}
