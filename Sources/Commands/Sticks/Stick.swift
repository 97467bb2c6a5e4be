import SatchelBundle
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// A stick, or any folder that is carried. Bundles are in `SATCHEL/<to>/<from>/`, so one stick serves many replicas and
/// each takes only its own bundles.
///
/// A courier can put anything on a stick. The platform follows no link below the stick's folder
/// (`CommandContext.confined`). Only files with the name of a bundle of the dataset are imported or removed.
struct Stick {
  static let folderName = "SATCHEL"

  let root: String
  let dataset: String
  let platform: Platform

  private var files: any FileSystem { platform.files }

  /// Opens a stick. Throws `PlatformError.link` if a link has the name of the stick's folder.
  /// - Parameters:
  ///   - folder: the mount point of the stick.
  ///   - dataset: the dataset whose bundles are searched.
  init(_ folder: String, of dataset: String, _ platform: Platform) throws {
    guard try platform.isFolder(folder) else { throw Self.noFolder(folder) }
    root = Paths.join(folder, Self.folderName)
    self.dataset = dataset
    self.platform = platform
    _ = try hasFolder(root)
  }

  static func noFolder(_ folder: String, hint: String? = nil) -> WorkspaceError {
    WorkspaceError(
      .noFolder, "There is no folder \(folder).",
      hint: ["Is the stick mounted?", hint].compactMap { $0 }.joined(separator: " "))
  }

  private func place(to: String, from: String) -> String { Paths.join(Paths.join(root, to), from) }

  /// Whether a folder exists. Throws if a link has its name.
  private func hasFolder(_ path: String) throws -> Bool {
    let kind = try files.kind(path)
    if kind == .link { throw PlatformError.link(path: path) }
    return kind == .directory
  }

  /// The files on the stick for one replica.
  struct Found {
    /// The paths of the bundles. The bundles of one sender are in the order of their numbers.
    var bundles: [String] = []
    /// Links, devices and similar things, found instead of a bundle or a folder. None of them is opened.
    var refused: [PlatformError] = []
    /// The number of files without the name of a bundle.
    var strange = 0

    /// Runs `body`. A path with a link in its way is added to `refused`.
    mutating func refusing(_ body: (inout Found) throws -> Void) throws {
      do { try body(&self) } catch let error as PlatformError {
        guard case .link = error else { throw error }
        refused.append(error)
      }
    }
  }

  /// The bundles for `name` in the stick's folder, and the bundles that `--to` put beside it.
  ///
  /// Bundles that a hub once sent, and now gets back, come first. They show which keys rows had when devices wrote
  /// about them.
  func bundles(for name: String) throws -> Found {
    let mine = Paths.join(root, name)
    var found = Found()
    try found.refusing { found in
      guard try hasFolder(mine) else { return }
      for sender in try files.list(mine) {
        try found.refusing { try look(into: Paths.join(mine, sender), &$0) }
      }
    }
    let returned = found.bundles.filter { path in
      Paths.name(of: path).contains("-\(name)-\(Paths.name(of: Paths.parent(of: path)))-")
    }
    let isReturned = Set(returned)
    found.bundles = returned + found.bundles.filter { !isReturned.contains($0) } + (try bundlesBeside(for: name))
    return found
  }

  /// Whether a path is in the stick's folder.
  func holds(_ path: String) -> Bool { path.utf8.starts(with: "\(root)/".utf8) }

  /// The bundles for `name` that a person put beside the stick's folder. They stay there: the person may keep them.
  private func bundlesBeside(for name: String) throws -> [String] {
    let folder = Paths.parent(of: root)
    let named = try files.list(folder).filter { isBundleName($0) && BundleName.endsFor(name, $0) }
    let reader = BundleReader(platform: platform)
    return try ordered(named, in: folder).filter { path in
      guard try files.kind(path) == .file else { return false }
      // Another replica's name may end like this replica's name. If the bundle is encrypted for that replica, it cannot
      // be read here. A file whose name fits only this replica is taken, and refused with its reason.
      guard let manifest = try? reader.manifest(of: path, trust: .firstContact) else {
        return BundleName.fitsOnly(name, Paths.name(of: path), dataset: dataset)
      }
      return manifest.to.name == name
    }
  }

  private func look(into folder: String, _ found: inout Found) throws {
    guard try hasFolder(folder) else { return }
    let names = try files.list(folder).filter { $0.hasSuffix(".satchel") && !isAside($0) }
    found.strange += names.count { !isBundleName($0) }
    for path in ordered(names.filter(isBundleName), in: folder) {
      switch try files.kind(path) {
      case .file: found.bundles.append(path)
      case .link: found.refused.append(.link(path: path))
      case .directory: found.refused.append(.isADirectory(path: path))
      case .other: found.refused.append(.notAFile(path: path))
      case nil: continue
      }
    }
  }

  /// The files that have names of bundles of the dataset.
  private func bundles(in folder: String) throws -> [String] {
    guard try hasFolder(folder) else { return [] }
    return try ordered(files.list(folder).filter { isBundleName($0) && !isAside($0) }, in: folder)
      .filter { try files.kind($0) != .directory }
  }

  private func ordered(_ names: [String], in folder: String) -> [String] {
    // A number with more digits is greater.
    names.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }.map { Paths.join(folder, $0) }
  }

  private func isAside(_ name: String) -> Bool { name.hasPrefix(HostFileSystem.temporaryPrefix) }

  private func isBundleName(_ name: String) -> Bool { BundleName.fits(name, dataset: dataset) }

  /// The number of bundles that other replicas put here for other replicas.
  func countOfOthers(than name: String) throws -> Int {
    guard try hasFolder(root) else { return 0 }
    return try files.list(root).filter { $0 != name }.reduce(0) { count, other in
      let folder = Paths.join(root, other)
      guard try files.kind(folder) == .directory else { return count }
      return try files.list(folder).filter { $0 != name }.reduce(count) { count, sender in
        let place = Paths.join(folder, sender)
        guard try files.kind(place) == .directory else { return count }
        return try count + files.list(place).count { $0.hasSuffix(".satchel") && !isAside($0) }
      }
    }
  }

  /// Puts a bundle on the stick, unless it is there. The bundle replaces older bundles of the same sender for the same
  /// receiver, because it contains their changes. Returns whether the bundle was put there.
  /// - Parameter before: bundles that the receiver must have first. The new bundle does not contain their changes.
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

  /// Copies a bundle into a folder of the stick, unless the stick holds these bytes. Returns whether it was copied.
  @discardableResult
  private func put(_ bundle: String, in folder: String) throws -> Bool {
    let target = Paths.join(folder, Paths.name(of: bundle))
    // A file that the stick cannot give back is not there.
    if try files.kind(target) == .file, (try? files.isOnMedium(target, like: bundle)) == true { return false }
    try checkRoom(for: bundle)
    try files.makeDirectory(folder, mode: 0o755)
    try files.copyAndProve(bundle, to: target, mode: 0o644)
    return true
  }

  /// Throws if the stick has no room for a file.
  func checkRoom(for file: String) throws {
    let (needed, free) = (try files.size(file), try files.freeBytes(Paths.parent(of: root)))
    guard needed + Self.reserve > free else { return }
    throw WorkspaceError(
      .stickFull,
      """
      The bundle has \((needed + 1023) >> 10) KiB. The stick has \(free >> 10) KiB free, and needs \
      \(Self.reserve >> 10) KiB of them for its folders.
      """, hint: "Take what is not needed off the stick; or: export --volume-size, onto several.")
  }

  /// The bytes that stay free for folders, and for the stick's README.
  private static let reserve: Int64 = 64 << 10

  /// Removes bundles from the stick that have arrived.
  func take(_ paths: [String]) throws {
    for path in paths { try files.remove(path) }
    for folder in Set(paths.map { Paths.parent(of: $0) }).sorted() { try files.syncDirectory(folder) }
  }

  /// Removes bundles whose receiver has them.
  func clear(to: String, from: String) throws {
    let folder = place(to: to, from: from)
    try sweep(folder)
    try take(bundles(in: folder))
  }

  /// Removes the rest of a file that was left when a stick was pulled out. Only this replica writes in this folder.
  private func sweep(_ folder: String) throws {
    guard try hasFolder(folder) else { return }
    for name in try files.list(folder) where isAside(name) {
      try files.removeTree(Paths.join(folder, name))
    }
  }

  /// Writes a README in plain words, for a person who finds the stick.
  func explain() throws {
    try sweep(root)
    let path = Paths.join(root, "README.txt")
    if try files.kind(path) == .file { return }
    try files.makeDirectory(root, mode: 0o755)
    try files.replace(path, mode: 0o644, contents: Array(Self.words.utf8))
  }

  /// Ensures that everything is on the medium.
  func sync() throws {
    if try hasFolder(root) { try files.syncDirectory(root) }
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
