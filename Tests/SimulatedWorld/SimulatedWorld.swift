import SatchelPlatform
import Synchronization
import TestSupport

/// The files of some computers and sticks, in memory, for programs and for SQLite: `/sim/<id>/hub`, `/sim/<id>/stick`,
/// ...
///
/// The world records which changes were synced. At any changing step, a fault can make the step fail, kill the process,
/// or cut the power. Only one thread may use a world.
public final class SimulatedWorld: @unchecked Sendable {
  /// The folder that holds everything.
  public let root: String
  /// The number of changing steps since the last fault was set.
  public private(set) var steps = 0

  private let id: String
  private var tree = Inode(isFolder: true, mode: 0o755)
  /// Added and removed names that a power cut could undo, oldest first. A power cut keeps or undoes all changes of one
  /// step together.
  private var unsyncedNames: [[NameChange]] = []
  private var fault: Fault?
  private var isFull = false
  private var isStickGone = false
  /// Whether the running program is dead: its calls have no effect.
  public private(set) var isDead = false
  /// Whether the fault that was set has happened.
  public private(set) var hasFailed = false
  private var random: SplitMix64
  private var names = 0
  /// The names along each path that was looked up. A season looks up few paths, but each of them very often.
  private var ways: [String: [String]] = [:]
  var open: [Int32: OpenFile] = [:]
  private var nextDescriptor: Int32 = 1 << 20

  struct NameChange {
    let folder: Inode
    let name: String
    let old: Inode?
    let new: Inode?
  }

  private static let count = Atomic<Int>(0)
  private static let worlds = Mutex<[String: SimulatedWorld]>([:])

  /// - Parameter seed: for the names of temporary files, and for the losses of a power cut.
  public init(seed: UInt64) {
    id = String(Self.count.add(1, ordering: .relaxed).newValue)
    root = "/sim/\(id)"
    random = SplitMix64(seed: seed)
    SimulatedDisk.register()
    Self.worlds.withLock { $0[id] = self }
  }

  /// Releases all files.
  public func end() { _ = Self.worlds.withLock { $0.removeValue(forKey: id) } }

  /// The world of a path; nil for the machine's own files.
  static func world(of path: String) -> SimulatedWorld? {
    guard path.utf8.starts(with: "/sim/".utf8) else { return nil }
    let id = path.utf8.dropFirst(5).prefix { $0 != UInt8(ascii: "/") }
    return worlds.withLock { $0[String(Substring(id))] }
  }

  // MARK: faults

  /// Sets the next failure, which happens once. nil: none.
  public func set(_ fault: Fault?) {
    self.fault = fault
    steps = 0
    hasFailed = false
    isFull = false
    isStickGone = false
  }

  /// Stops everything, and ends the running program. After a power cut, some of the unsynced changes are gone.
  public func restart() {
    let wasPowerCut = isDead && fault?.kind == .powerCut
    for file in open.values { file.inode.isLocked = false }
    open = [:]
    isDead = false
    set(nil)
    if wasPowerCut { losePower() }
  }

  /// Called before every changing step. Throws if the fault stops the step.
  func step(at path: String) throws(Failure) {
    try look(at: path)
    defer { steps += 1 }
    guard let fault else { return }
    if steps == fault.step {
      hasFailed = true
      switch fault.kind {
      case .killed, .powerCut:
        isDead = true
        throw .dead
      case .diskFull: isFull = true
      case .ioError: throw .failed
      case .stickPulledOut:
        isStickGone = true
        try look(at: path)
      }
    }
    if isFull { throw .noSpace }
  }

  /// Called before every read. Throws if the program is dead, or if the path is on a stick that is gone.
  func look(at path: String) throws(Failure) {
    if isDead { throw .dead }
    if isStickGone, path.hasPrefix(root + "/stick") { throw .failed }
  }

  /// Puts everything that was written onto its medium.
  public func settle() {
    unsyncedNames = []
    func settle(_ inode: Inode) {
      inode.sync()
      for entry in inode.entries.values { settle(entry) }
    }
    settle(tree)
  }

  var freeBytes: Int64 { isFull ? 0 : 1 << 40 }

  private func losePower() {
    // In each folder, the first changes of names may have reached the medium. After a change that is missing, none has.
    for changes in unsyncedNames.reversed() {
      for change in changes.reversed() { change.folder.entries[change.name] = change.old }
    }
    var stopped: [ObjectIdentifier: Bool] = [:]
    for changes in unsyncedNames {
      let folders = changes.map { ObjectIdentifier($0.folder) }
      if folders.contains(where: { stopped[$0] == true }) || random.once(in: 3) {
        for folder in folders { stopped[folder] = true }
      } else {
        for change in changes { change.folder.entries[change.name] = change.new }
      }
    }
    unsyncedNames = []
    losePower(tree)
  }

  private func losePower(_ inode: Inode) {
    let fate = random.below(3)
    inode.losePower { sectors in
      switch fate {
      case 0: 0
      case 1: sectors
      default: Int.random(in: 0...sectors, using: &random)
      }
    }
    for name in inode.entries.keys.sorted() { if let entry = inode.entries[name] { losePower(entry) } }
  }

  // MARK: names

  /// The target of a path, with links followed.
  func find(_ path: String) -> Inode? { find(path, depth: 0, followsLast: true) }

  /// The file or link with a name.
  func findName(_ path: String) -> Inode? { find(path, depth: 0, followsLast: path.hasSuffix("/.")) }

  private func find(_ path: String, depth: Int, followsLast: Bool) -> Inode? {
    let parts = way(of: path)
    var here = tree
    for (number, part) in parts.enumerated() {
      guard let next = here.entries[part] else { return nil }
      here = next
      let isLast = number == parts.count - 1
      guard let target = next.target, followsLast || !isLast else { continue }
      if depth > 40 { return nil }
      let rest = parts[(number + 1)...].joined(separator: "/")
      return find(Paths.join(target, rest), depth: depth + 1, followsLast: followsLast)
    }
    return here
  }

  /// The names along a path, from the world's root.
  private func way(of path: String) -> [String] {
    if let known = ways[path] { return known }
    // Bytes are split, not characters, because that is faster.
    let parts = path.utf8.split(separator: UInt8(ascii: "/")).dropFirst(2).filter { !$0.elementsEqual(".".utf8) }
    let names = parts.map { String(Substring($0)) }
    ways[path] = names
    return names
  }

  /// The path of the first symbolic link on the way from the folder `root` along `names`; nil: there is none.
  func firstLink(below root: String, along names: ArraySlice<String>) -> String? {
    guard var here = find(root) else { return nil }
    var way = root
    for name in names {
      guard let next = here.entries[name] else { return nil }
      way = Paths.join(way, name)
      if next.target != nil { return way }
      here = next
    }
    return nil
  }

  /// Puts a symbolic link at `path`.
  public func link(_ path: String, to target: String) {
    guard let folder = parent(of: path) else { return }
    folder.entries[Paths.name(of: path)] = Inode(isFolder: false, mode: 0o777, target: target)
  }

  func parent(of path: String) -> Inode? {
    guard let folder = find(Paths.parent(of: path)), folder.isFolder else { return nil }
    return folder
  }

  /// Changes names in one step.
  func change(_ changes: [(folder: Inode, name: String, new: Inode?)]) {
    unsyncedNames.append(
      changes.map { NameChange(folder: $0.folder, name: $0.name, old: $0.folder.entries[$0.name], new: $0.new) })
    for change in changes { change.folder.entries[change.name] = change.new }
  }

  func syncNames(of folder: Inode) { unsyncedNames.removeAll { $0.contains { $0.folder === folder } } }

  func newName() -> String {
    names += 1
    let digits = String(names, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  func newDescriptor(_ file: OpenFile) -> Int32 {
    nextDescriptor += 1
    open[nextDescriptor] = file
    return nextDescriptor
  }

  // MARK: copies

  /// Saves the present state of all files. No file may be open.
  public func snapshot() -> WorldSnapshot { WorldSnapshot(tree: tree.copy()) }

  /// Restores all files to a saved state.
  public func bringBack(_ snapshot: WorldSnapshot) {
    tree = snapshot.tree.copy()
    unsyncedNames = []
  }

  /// Copies a file or folder with everything in it, like `cp -a`.
  public func copy(_ from: String, to path: String) {
    guard let source = find(from), let folder = parent(of: path) else { return }
    folder.entries[Paths.name(of: path)] = source.copy()
  }

  /// Changes bytes of a file without a program of the world.
  public func damage(_ path: String, _ change: (inout [UInt8]) -> Void) {
    if let inode = find(path) { change(&inode.bytes) }
  }
}

/// All files of a world at one time.
public struct WorldSnapshot {
  let tree: Inode
}

/// A file that a program has open.
final class OpenFile {
  let inode: Inode
  let path: String
  let isLock: Bool
  var position = 0

  init(_ inode: Inode, path: String, isLock: Bool = false) {
    self.inode = inode
    self.path = path
    self.isLock = isLock
  }
}
