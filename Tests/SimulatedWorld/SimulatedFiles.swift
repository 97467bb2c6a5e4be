import Glibc
import SatchelPlatform

/// The files of a simulated world. Operations with several steps use the same code as on the machine's own files.
public struct SimulatedFiles: FileSystem {
  private let world: SimulatedWorld
  public var rules = FolderRules()

  public init(_ world: SimulatedWorld) { self.world = world }

  // MARK: Looking

  public func kind(_ path: String) throws(PlatformError) -> FileKind? {
    try look("stat", path)
    return world.findName(path).map { $0.target != nil ? .link : $0.isFolder ? .directory : .file }
  }

  public func size(_ path: String) throws(PlatformError) -> Int64 { Int64(try found("stat", path).bytes.count) }
  public func modified(_ path: String) throws(PlatformError) -> Int64 { try found("stat", path).writes }
  public func permissions(_ path: String) throws(PlatformError) -> UInt32 { try found("stat", path).mode }
  public func freeBytes(_ path: String) throws(PlatformError) -> Int64 { world.freeBytes }
  public func totalBytes(_ path: String) throws(PlatformError) -> Int64 { 1 << 40 }
  public func currentDirectory() throws(PlatformError) -> String { world.root }
  public func resolved(_ path: String) throws(PlatformError) -> String {
    Paths.absolute(path, currentDirectory: world.root)
  }

  public func list(_ directory: String) throws(PlatformError) -> [String] {
    let folder = try found("list", directory)
    if !folder.isFolder { throw .notADirectory(path: directory) }
    return folder.entries.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  // MARK: Open files

  public func open(_ path: String) throws(PlatformError) -> Int32 {
    let inode = try found("open", path)
    if inode.isFolder { throw .isADirectory(path: path) }
    return world.newDescriptor(OpenFile(inode, path: path))
  }

  public func createTemporary(
    in directory: String, for label: String, mode: UInt32
  ) throws(PlatformError) -> (path: String, fd: Int32) {
    let path = Paths.join(directory, Self.temporaryName(for: label) + world.newName())
    try look("create", path)
    try step("create", directory)
    guard let folder = world.find(directory) else { throw .missing(path: directory) }
    let inode = Inode(isFolder: false, mode: rules.mode(mode, ofFile: path))
    world.change([(folder, Paths.name(of: path), inode)])
    return (path, world.newDescriptor(OpenFile(inode, path: path)))
  }

  public func openLocked(_ path: String) throws(PlatformError) -> Int32 {
    try look("open", path)
    guard let folder = world.parent(of: path) else { throw .missing(path: path) }
    let inode: Inode
    if let known = world.findName(path) {
      if known.target != nil { throw .link(path: path) }
      if known.isFolder { throw .isADirectory(path: path) }
      inode = known
    } else {
      try step("open", path)
      inode = Inode(isFolder: false, mode: 0o600)
      world.change([(folder, Paths.name(of: path), inode)])
    }
    if inode.isLocked { throw .locked(path: path) }
    inode.isLocked = true
    return world.newDescriptor(OpenFile(inode, path: path, isLock: true))
  }

  public func read(_ fd: Int32, into buffer: inout [UInt8]) throws(PlatformError) -> Int {
    let file = try file(fd)
    try look("read", file.path)
    let bytes = file.inode.bytes.dropFirst(file.position).prefix(buffer.count)
    buffer.replaceSubrange(0..<bytes.count, with: bytes)
    file.position += bytes.count
    return bytes.count
  }

  public func seek(_ fd: Int32, to offset: Int64) throws(PlatformError) { try file(fd).position = Int(offset) }

  public func write(_ fd: Int32, _ bytes: [UInt8]) throws(PlatformError) {
    let file = try file(fd)
    try step("write", file.path)
    bytes.withUnsafeBytes { file.inode.write($0, at: file.position) }
    file.position += bytes.count
  }

  public func sync(_ fd: Int32) throws(PlatformError) {
    let file = try file(fd)
    try step("fsync", file.path)
    file.inode.sync()
  }

  public func reserve(_ bytes: Int64, for fd: Int32) throws(PlatformError) -> Bool { false }

  public func dropCache(of fd: Int32) {}

  public func close(_ fd: Int32) {
    guard let file = world.open.removeValue(forKey: fd) else { return }
    if file.isLock { file.inode.isLocked = false }
  }

  // MARK: Names

  public func makeOneDirectory(_ path: String, mode: UInt32) throws(PlatformError) {
    try look("make the folder", path)
    if world.findName(path) != nil { throw .exists(path: path) }
    guard let folder = world.parent(of: path) else { throw .missing(path: path) }
    try step("make the folder", path)
    world.change([(folder, Paths.name(of: path), Inode(isFolder: true, mode: rules.mode(mode, ofFolder: path)))])
  }

  public func syncDirectory(_ path: String) throws(PlatformError) {
    let folder = try found("fsync", path)
    try step("fsync", path)
    world.syncNames(of: folder)
  }

  public func move(_ from: String, to path: String) throws(PlatformError) {
    try look("rename", path)
    let inode = try named("rename", from)
    guard let source = world.parent(of: from), let target = world.parent(of: path) else { throw .missing(path: path) }
    if world.findName(path)?.isFolder == true, !inode.isFolder { throw .isADirectory(path: path) }
    try step("rename", path)
    world.change([(source, Paths.name(of: from), nil), (target, Paths.name(of: path), inode)])
  }

  public func restrict(_ path: String, to mode: UInt32) throws(PlatformError) {
    let inode = try found("chmod", path)
    try step("chmod", path)
    inode.mode = mode
  }

  public func remove(_ path: String) throws(PlatformError) {
    let inode = try named("remove", path)
    if !inode.entries.isEmpty { throw .other(operation: "remove", path: path, errno: ENOTEMPTY) }
    guard let folder = world.parent(of: path) else { throw .missing(path: path) }
    try step("remove", path)
    world.change([(folder, Paths.name(of: path), nil)])
  }

  // MARK: lookup and failures

  private func found(_ operation: String, _ path: String) throws(PlatformError) -> Inode {
    try look(operation, path)
    if rules.confinedNames(of: path) != nil, world.findName(path)?.target != nil { throw .link(path: path) }
    guard let inode = world.find(path) else { throw .missing(path: path) }
    return inode
  }

  /// The file or link with this name.
  private func named(_ operation: String, _ path: String) throws(PlatformError) -> Inode {
    try look(operation, path)
    guard let inode = world.findName(path) else { throw .missing(path: path) }
    return inode
  }

  /// Throws if a link is on the way to a path below a confined folder.
  private func refuseLinks(on path: String) throws(PlatformError) {
    guard let (root, names) = rules.confinedNames(of: path) else { return }
    if let link = world.firstLink(below: root, along: names.dropLast()) { throw .link(path: link) }
  }

  private func file(_ fd: Int32) throws(PlatformError) -> OpenFile {
    guard let file = world.open[fd] else { throw .other(operation: "use", path: "descriptor \(fd)", errno: EBADF) }
    return file
  }

  private func look(_ operation: String, _ path: String) throws(PlatformError) {
    do throws(Failure) { try world.look(at: path) } catch { throw Self.error(error, operation, path) }
    try refuseLinks(on: path)
  }

  private func step(_ operation: String, _ path: String) throws(PlatformError) {
    do throws(Failure) { try world.step(at: path) } catch { throw Self.error(error, operation, path) }
  }

  private static func error(_ failure: Failure, _ operation: String, _ path: String) -> PlatformError {
    failure == .noSpace ? .noSpace(path: path) : .other(operation: operation, path: path, errno: EIO)
  }
}
