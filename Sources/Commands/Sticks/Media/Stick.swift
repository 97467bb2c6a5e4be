import SatchelBundle
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// A stick, or any folder that is carried, as a replica uses it. `StickLayout` says where bundles are.
///
/// A courier can put anything on a stick. The platform follows no link below the stick's folder
/// (`CommandContext.confined`). Only files with the name of a bundle of the dataset are imported. Only bundles that
/// this replica knows to have made are removed or replaced.
struct Stick {
  let layout: StickLayout
  let replica: WorkspaceConfiguration
  let platform: Platform
  /// The files of this replica that its records do not contain. These files stay as they are.
  private(set) var unknown: [UnknownOwnBundle] = []
  /// The paths of `unknown`. If the replica's records cannot be read, these are the paths of all its files.
  private var kept: Set<String> = []

  /// Finds the files of a replica, among these paths, that the replica does not know.
  typealias UnknownOwn = (_ paths: [String]) throws -> [UnknownOwnBundle]

  var files: any FileSystem { platform.files }

  /// Opens a stick. Throws `PlatformError.link` if a link has the name of the stick's folder.
  /// - Parameters:
  ///   - folder: the mount point of the stick.
  ///   - replica: the replica whose bundles are searched and put there.
  ///   - unknown: finds the files of the replica that the replica does not know.
  init(
    _ folder: String, of replica: WorkspaceConfiguration, _ platform: Platform, unknown find: UnknownOwn
  ) throws {
    guard try platform.isFolder(folder) else { throw Self.noFolder(folder) }
    layout = StickLayout(folder)
    self.replica = replica
    self.platform = platform
    guard try hasFolder(layout.root) else { return }
    let own = try filesOfThisName()
    kept = Set(own)
    // If the records of the workspace cannot be read, all these files stay. The work that follows reports the fault.
    guard let found = try? find(own) else { return }
    let shared = StickLayout.senders(replica)[0]
    // An encrypted file in the usual folder is not counted. It may be from another replica with the same name.
    unknown = found.filter { $0.manifest != nil || Paths.name(of: Paths.parent(of: $0.path)) != shared }
    kept = Set(found.map(\.path))
  }

  /// The files in the folders that this replica uses, for any receiver. The folders of earlier releases are included.
  private func filesOfThisName() throws -> [String] {
    let roots = [Paths.join(layout.root, replica.dataset), layout.root]
    let receivers = try roots.filter { try files.kind($0) == .directory }.flatMap(folders(in:))
    let senders = receivers.flatMap { receiver in
      StickLayout.senders(replica).map { Paths.join(receiver, $0) }
    }
    return try senders.filter { try files.kind($0) == .directory }.flatMap(bundles(in:))
      .filter { try files.kind($0) == .file }
  }

  /// Whether a folder is used as a stick: a mounted medium, or a folder that has the stick's folder.
  static func isStick(_ folder: String, _ platform: Platform) throws -> Bool {
    if try Medium(of: folder, platform.files).isRemovable { return true }
    return try StickLayout(folder).isUsed(platform.files)
  }

  static func noFolder(_ folder: String, hint: String? = nil) -> WorkspaceError {
    let first = PlatformError.hintOfName(in: folder) ?? "Is the stick mounted?"
    return WorkspaceError(
      .noFolder, "There is no folder \(folder).", hint: [first, hint].compactMap { $0 }.joined(separator: " "))
  }

  /// Whether a folder exists. Throws if a link has its name.
  func hasFolder(_ path: String) throws -> Bool {
    let kind = try files.kind(path)
    if kind == .link { throw PlatformError.link(path: path) }
    return kind == .directory
  }

  /// The files that have names of bundles of the dataset.
  private func bundles(in folder: String) throws -> [String] {
    guard try hasFolder(folder) else { return [] }
    return try ordered(files.list(folder).filter { isBundleName($0) && !isAside($0) }, in: folder)
      .filter { try files.kind($0) != .directory }
  }

  func ordered(_ names: [String], in folder: String) -> [String] {
    // A longer name has a number with more digits, which is greater.
    names.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }.map { Paths.join(folder, $0) }
  }

  func isAside(_ name: String) -> Bool { name.hasPrefix(HostFileSystem.temporaryPrefix) }

  func isBundleName(_ name: String) -> Bool { BundleName.fits(name, dataset: replica.dataset) }

  // MARK: bundles from this replica

  /// Whether a bundle in the usual folder may be neither from this replica nor for it, because another replica has the
  /// same name.
  ///
  /// An encrypted bundle shows no sender, so the answer is yes. A damaged file shows no sender either, but the answer
  /// is no: a sender replaces its own damaged bundle.
  private func isForeign(_ path: String) -> Bool {
    if let manifest = manifest(of: path) { return !isOfThisReplica(manifest) }
    return isEncrypted(path)
  }

  private func isEncrypted(_ path: String) -> Bool {
    (try? BundleReader(platform: platform).isEncrypted(path)) == true
  }

  func isOfThisReplica(_ manifest: Manifest) -> Bool {
    replica.ids.contains(manifest.from.id) || replica.ids.contains(manifest.to.id)
  }

  /// The unproved manifest of a bundle; nil: it cannot be read.
  func manifest(of path: String) -> Manifest? {
    try? BundleReader(platform: platform).manifest(of: path, trust: .firstContact)
  }

  /// The folder for a bundle from this replica to `receiver`. The usual folder is not used for an encrypted bundle, or
  /// if it may have bundles of another replica with the same names. The other folders have this replica's id in their
  /// names.
  /// - Parameter named: the name that the bundle gets on the stick; nil: the name of its file.
  func folder(for bundle: String?, named: String? = nil, to receiver: String) throws -> String {
    let (usual, others) = layout.places(to: receiver, from: replica)
    let isShared = try bundle.map(isEncrypted) == true || bundles(in: usual).contains(where: isForeign)
    let places = (isShared ? [] : [usual]) + others
    guard let name = named ?? bundle.map(Paths.name) else { return places[0] }
    if let free = places.first(where: { !hasUnknown(name, in: $0) }) { return free }
    throw WorkspaceError(
      .exists, "The stick has other files \(name) of this workspace, which this workspace does not know.",
      hint: "They stay. Carry this stick to \(receiver) first, or take another stick.")
  }

  /// Whether a folder has an unknown file of this replica with the name of this bundle, or of a volume of it.
  private func hasUnknown(_ name: String, in folder: String) -> Bool {
    func whole(_ name: String) -> String { BundleName.whole(ofVolume: name) ?? name }
    return kept.contains { Paths.parent(of: $0) == folder && whole(Paths.name(of: $0)) == whole(name) }
  }

  /// The bundles to `receiver` that this replica is known to have made. The folders of earlier releases are included.
  private func ownBundles(to receiver: String) throws -> [String] {
    let (usual, others) = layout.places(to: receiver, from: replica)
    let shared = try [usual, layout.formerPlace(to: receiver, from: replica.name)].flatMap(bundles(in:))
    return try (shared.filter { !isForeign($0) } + others.flatMap(bundles(in:))).filter { !kept.contains($0) }
  }

  /// Puts a bundle on the stick, unless it is there. The bundle replaces older bundles of this replica for the same
  /// receiver, because it contains their changes. Returns whether the bundle was put there.
  /// - Parameter before: bundles that the receiver must have first. The new bundle does not contain their changes.
  @discardableResult
  func put(_ bundle: String, behind before: [String] = [], to receiver: String) throws -> Bool {
    let folder = try folder(for: bundle, to: receiver)
    try sweep(folder)
    var placed: [String] = []
    for earlier in before {
      let place = try self.folder(for: earlier, to: receiver)
      try put(earlier, in: place)
      placed.append(Paths.join(place, Paths.name(of: earlier)))
    }
    let isNew = try put(bundle, in: folder)
    placed.append(Paths.join(folder, Paths.name(of: bundle)))
    try take(ownBundles(to: receiver).filter { !placed.contains($0) })
    return isNew
  }

  /// Copies a bundle into a folder of the stick, unless the stick holds these bytes. Returns whether it was copied.
  @discardableResult
  private func put(_ bundle: String, in folder: String) throws -> Bool {
    let target = Paths.join(folder, Paths.name(of: bundle))
    // If the medium does not return the file's bytes, the bundle is copied again.
    if try files.kind(target) == .file, (try? files.isOnMedium(target, like: bundle)) == true { return false }
    try checkRoom(for: bundle)
    try files.makeDirectory(folder, mode: 0o755)
    try files.copyAndProve(bundle, to: target, mode: 0o644)
    return true
  }

  /// Puts a volume of a bundle on the stick. Removes volumes of other bundles to the same receiver, because the newer
  /// bundle contains their changes. Whole bundles stay, because one volume alone cannot replace them.
  func put(volume: String, named name: String, to receiver: String) throws {
    let folder = try folder(for: volume, named: name, to: receiver)
    try sweep(folder)
    try files.makeDirectory(folder, mode: 0o755)
    try files.copyAndProve(volume, to: Paths.join(folder, name), mode: 0o644)
    let whole = BundleName.whole(ofVolume: name)
    try take(ownVolumes(to: receiver).filter { BundleName.whole(ofVolume: Paths.name(of: $0)) != whole })
  }

  /// Puts these bundles on the stick. The receiver needs them before it can import another bundle.
  func put(before bundles: [String], to receiver: String) throws {
    for bundle in bundles { try put(bundle, in: folder(for: bundle, to: receiver)) }
  }

  private func ownVolumes(to receiver: String) throws -> [String] {
    try ownBundles(to: receiver).filter { BundleName.whole(ofVolume: Paths.name(of: $0)) != nil }
  }

  /// Whether the stick has any volume of a bundle of this replica.
  func holdsVolumes(of whole: String, to receiver: String) throws -> Bool {
    try ownVolumes(to: receiver).contains { BundleName.whole(ofVolume: Paths.name(of: $0)) == whole }
  }

  /// Whether the stick seems to hold this bundle: a file with the same name and size.
  func holds(copyOf bundle: String, for receiver: String) throws -> Bool {
    guard try files.kind(bundle) == .file else { return false }
    let target = Paths.join(try folder(for: bundle, to: receiver), Paths.name(of: bundle))
    return try files.kind(target) == .file && files.size(target) == files.size(bundle)
  }

  /// Whether the stick holds these bundles, or has room for those that it does not hold.
  func fits(_ bundles: [String], to receiver: String) throws -> Bool {
    let new = try bundles.filter { try !holds(copyOf: $0, for: receiver) }
    return try new.isEmpty || new.reduce(0) { try $0 + files.size($1) } <= room()
  }

  /// The bytes that are free for bundles.
  func room() throws -> Int64 { try files.freeBytes(layout.folder) - Self.reserve }

  /// Throws if the stick has no room for a file.
  /// - Parameter receiver: the replica whose older volumes on the stick the error names. nil: it names none.
  func checkRoom(for file: String, to receiver: String? = nil) throws {
    let (needed, free) = (try files.size(file), try files.freeBytes(layout.folder))
    guard needed + Self.reserve > free else { return }
    throw WorkspaceError(
      .stickFull,
      """
      The bundle has \((needed + 1023) >> 10) KiB. The stick has \(free >> 10) KiB free, and needs \
      \(Self.reserve >> 10) KiB of them for its folders.
      """,
      hint:
        """
        \(try receiver.flatMap { try leftVolumes(to: $0, but: file) } ?? "")Take what is not needed off the stick, or \
        take another stick. Then run sync again.
        """)
  }

  /// Names the volumes of this replica's older bundles, if a full stick still has such volumes. nil if it has none.
  private func leftVolumes(to receiver: String, but bundle: String) throws -> String? {
    let left = try ownVolumes(to: receiver).filter {
      BundleName.whole(ofVolume: Paths.name(of: $0)) != Paths.name(of: bundle)
    }
    guard let first = left.first else { return nil }
    let more = left.count > 1 ? " and \(Words.count(left.count - 1, "more volume")) beside it" : ""
    return """
      The stick still has \(first)\(more), of an older bundle. The new bundle contains their changes too, so they may \
      go if \(receiver) does not wait for them.\u{20}
      """
  }

  /// The bytes that stay free for folders, and for the stick's README.
  private static let reserve: Int64 = 64 << 10

  /// Removes bundles that the stick need not carry any more.
  func take(_ paths: [String]) throws {
    for path in paths { try files.remove(path) }
    for folder in Set(paths.map { Paths.parent(of: $0) }).sorted() { try files.syncDirectory(folder) }
  }

  /// Removes this replica's bundles from the stick, because the receiver has them.
  func clear(to receiver: String) throws {
    try sweep(folder(for: nil, to: receiver))
    try take(ownBundles(to: receiver))
  }

  /// Removes incomplete files, which stay if a stick is pulled out during a sync. Only this replica writes in this
  /// folder.
  private func sweep(_ folder: String) throws {
    guard try hasFolder(folder) else { return }
    for name in try files.list(folder) where isAside(name) {
      try files.removeTree(Paths.join(folder, name))
    }
  }

  /// Writes a README in plain words, for a person who finds the stick.
  func explain() throws {
    try sweep(layout.root)
    let path = Paths.join(layout.root, "README.txt")
    if try files.kind(path) == .file { return }
    try files.makeDirectory(layout.root, mode: 0o755)
    try files.replace(path, mode: 0o644, contents: Array(Self.words.utf8))
  }

  /// Ensures that everything is on the medium.
  func sync() throws {
    if try hasFolder(layout.root) { try files.syncDirectory(layout.root) }
  }

  private static let words = """
    This folder carries data between people who have no network.\r
    \r
    Each file that ends in .satchel is a sealed parcel:\r
    SATCHEL/<of what>/<to whom>/<from whom>/.\r
    Please do not open, rename or delete them. If you have found this stick, give it back\r
    to the people whose names the folders have. Nothing is lost if you cannot: they still\r
    have everything, and can make the parcels again.\r

    """
}
