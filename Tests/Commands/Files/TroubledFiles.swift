import Glibc
import SatchelPlatform
import Synchronization

/// The machine's file system, with faults that a test requests.
struct TroubledFiles: FileSystem {
  /// The free space in bytes that every disk reports; nil: the true free space.
  var free: Int64?
  /// The bytes that each stick can hold, by the stick's folder. Other folders have the space of their disk.
  var sticks: [String: Int64] = [:]
  /// Makes one changing call fail; nil: no call fails.
  var fault: Fault?
  /// Records which folders were synced and which files were renamed; nil: nothing is recorded.
  var record: Record?
  /// A stick that gives other bytes when a file is opened again; nil: there is none.
  var fickle: Fickle?
  /// A medium that does not keep what was written; nil: there is none.
  var forgetful: Forgetful?
  /// Another program that writes while Satchel writes files; nil: there is none.
  var intruder: Intruder?
  /// A medium whose reported size may be false; nil: there is none.
  var fake: FakeStick?
  /// For a path, the path of the file that is read in its place. For example, a test replaces the kernel's list of
  /// mounts.
  var instead: [String: String] = [:]
  private var host = HostFileSystem()

  init(free: Int64? = nil, fault: Fault? = nil, record: Record? = nil, fickle: Fickle? = nil) {
    (self.free, self.fault, self.record, self.fickle) = (free, fault, record, fickle)
  }

  var rules: FolderRules {
    get { host.rules }
    set { host.rules = newValue }
  }

  /// The recorded calls, in their order. A call is `sync` and a folder, or `name` and a path.
  final class Record: Sendable {
    private let all = Mutex<[String]>([])

    var calls: [String] { all.withLock { $0 } }
    fileprivate func add(_ call: String) { all.withLock { $0.append(call) } }
  }

  /// A stick that contains a small computer. From the n-th opening of a bundle on, it gives other bytes.
  final class Fickle: Sendable {
    private let folder: String
    private let other: String
    private let number: Int
    private let opened = Mutex<[String: Int]>([:])

    /// - Parameters:
    ///   - folder: the stick's folder.
    ///   - other: the file whose bytes the stick gives instead.
    init(in folder: String, other: String, from number: Int) {
      (self.folder, self.other, self.number) = (folder, other, number)
    }

    /// How often the most opened file was opened.
    var most: Int { opened.withLock { $0.values.max() ?? 0 } }

    fileprivate func path(_ path: String) -> String {
      guard path.hasPrefix(folder), path.hasSuffix(".satchel") else { return path }
      let count = opened.withLock { opened in
        opened[path, default: 0] += 1
        return opened[path] ?? 0
      }
      return count < number ? path : other
    }
  }

  /// A stick that is smaller than it reports: a file that was written to it loses its first byte.
  final class Forgetful: Sendable {
    private let folder: String
    private let files = Mutex<[Int32: String]>([:])

    init(_ folder: String) { self.folder = folder }

    fileprivate func note(_ fd: Int32, _ path: String) {
      if path.hasPrefix(folder) { files.withLock { $0[fd] = path } }
    }

    fileprivate func dropCache(of fd: Int32) {
      guard let path = files.withLock({ $0.removeValue(forKey: fd) }), let file = fopen(path, "r+") else { return }
      fputc(0, file)
      fclose(file)
    }
  }

  /// Another program. It works once, just before the first file is written into a folder.
  final class Intruder: Sendable {
    private let folder: String
    private let work: Mutex<(@Sendable () -> Void)?>

    init(in folder: String, _ work: @escaping @Sendable () -> Void) {
      self.folder = folder
      self.work = Mutex(work)
    }

    fileprivate func step(_ folder: String) {
      guard folder == self.folder else { return }
      let work = work.withLock { work in
        defer { work = nil }
        return work
      }
      work?()
    }
  }

  /// Makes the n-th changing call fail, as a failing disk does.
  final class Fault: Sendable {
    private let left: Mutex<Int>

    init(at number: Int) { left = Mutex(number) }

    /// Whether so many changing calls were made that one failed.
    var wasReached: Bool { left.withLock { $0 <= 0 } }

    fileprivate func step(_ operation: String, _ path: String) throws(PlatformError) {
      let isNow = left.withLock { left in
        left -= 1
        return left == 0
      }
      if isNow { throw .other(operation: operation, path: path, errno: EIO) }
    }
  }

  func freeBytes(_ path: String) throws(PlatformError) -> Int64 {
    if let free { return free }
    if let fake, fake.holds(path) { return fake.free }
    guard let size = sticks[path] else { return try host.freeBytes(path) }
    return try size - used(in: path)
  }

  func totalBytes(_ path: String) throws(PlatformError) -> Int64 {
    if let fake, fake.holds(path) { return fake.said }
    if let size = sticks[path] { return size }
    return try host.totalBytes(path)
  }

  private func used(in folder: String) throws(PlatformError) -> Int64 {
    var bytes: Int64 = 0
    for name in try host.list(folder) {
      let path = Paths.join(folder, name)
      bytes += try host.kind(path) == .directory ? used(in: path) : host.size(path)
    }
    return bytes
  }

  func createTemporary(
    in directory: String, for label: String, mode: UInt32
  ) throws(PlatformError) -> (path: String, fd: Int32) {
    try fault?.step("create", directory)
    intruder?.step(directory)
    let made = try host.createTemporary(in: directory, for: label, mode: mode)
    forgetful?.note(made.fd, made.path)
    fake?.note(made.fd, made.path)
    return made
  }
  func reserve(_ bytes: Int64, for fd: Int32) throws(PlatformError) -> Bool { fake?.reserve(bytes, for: fd) ?? false }
  func dropCache(of fd: Int32) {
    forgetful?.dropCache(of: fd)
    host.dropCache(of: fd)
  }
  func write(_ fd: Int32, _ bytes: [UInt8]) throws(PlatformError) {
    try fault?.step("write", "a file")
    if fake?.write(fd, bytes) == false { throw .noSpace(path: "a file") }
    try host.write(fd, bytes)
  }
  func sync(_ fd: Int32) throws(PlatformError) {
    try fault?.step("fsync", "a file")
    try host.sync(fd)
  }
  func makeOneDirectory(_ path: String, mode: UInt32) throws(PlatformError) {
    try fault?.step("mkdir", path)
    try host.makeOneDirectory(path, mode: mode)
  }
  func syncDirectory(_ path: String) throws(PlatformError) {
    try fault?.step("fsync", path)
    try host.syncDirectory(path)
    record?.add("sync \(path)")
  }
  func move(_ from: String, to path: String) throws(PlatformError) {
    try fault?.step("rename", path)
    try host.move(from, to: path)
    record?.add("name \(path)")
  }
  func remove(_ path: String) throws(PlatformError) {
    try fault?.step("remove", path)
    try host.remove(path)
  }

  func restrict(_ path: String, to mode: UInt32) throws(PlatformError) {
    try fault?.step("chmod", path)
    try host.restrict(path, to: mode)
  }

  func kind(_ path: String) throws(PlatformError) -> FileKind? { try host.kind(path) }
  func size(_ path: String) throws(PlatformError) -> Int64 { try host.size(path) }
  func modified(_ path: String) throws(PlatformError) -> Int64 { try host.modified(path) }
  func permissions(_ path: String) throws(PlatformError) -> UInt32 { try host.permissions(path) }
  func list(_ directory: String) throws(PlatformError) -> [String] { try host.list(directory) }
  func resolved(_ path: String) throws(PlatformError) -> String { try host.resolved(instead[path] ?? path) }
  func currentDirectory() throws(PlatformError) -> String { try host.currentDirectory() }
  func open(_ path: String) throws(PlatformError) -> Int32 {
    try host.open(instead[path] ?? fickle?.path(path) ?? path)
  }
  func openLocked(_ path: String) throws(PlatformError) -> Int32 { try host.openLocked(path) }
  func read(_ fd: Int32, into buffer: inout [UInt8]) throws(PlatformError) -> Int {
    let count = try host.read(fd, into: &buffer)
    fake?.read(fd, count, into: &buffer)
    return count
  }
  func seek(_ fd: Int32, to offset: Int64) throws(PlatformError) {
    try host.seek(fd, to: offset)
    fake?.seek(fd, to: offset)
  }
  func close(_ fd: Int32) {
    fake?.close(fd)
    host.close(fd)
  }
}
