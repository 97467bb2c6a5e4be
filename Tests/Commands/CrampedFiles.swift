import SatchelPlatform

/// The machine's files, on a disk of which the system says that it is nearly full.
struct CrampedFiles: FileSystem {
  let free: Int64
  private let host = HostFileSystem()

  init(free: Int64) { self.free = free }

  func freeBytes(_ path: String) throws(PlatformError) -> Int64 { free }

  func kind(_ path: String) throws(PlatformError) -> FileKind? { try host.kind(path) }
  func size(_ path: String) throws(PlatformError) -> Int64 { try host.size(path) }
  func modified(_ path: String) throws(PlatformError) -> Int64 { try host.modified(path) }
  func permissions(_ path: String) throws(PlatformError) -> UInt32 { try host.permissions(path) }
  func list(_ directory: String) throws(PlatformError) -> [String] { try host.list(directory) }
  func currentDirectory() throws(PlatformError) -> String { try host.currentDirectory() }
  func open(_ path: String) throws(PlatformError) -> Int32 { try host.open(path) }
  func createTemporary(
    in directory: String, for label: String, mode: UInt32
  ) throws(PlatformError) -> (path: String, fd: Int32) {
    try host.createTemporary(in: directory, for: label, mode: mode)
  }
  func openLocked(_ path: String) throws(PlatformError) -> Int32 { try host.openLocked(path) }
  func read(_ fd: Int32, into buffer: inout [UInt8]) throws(PlatformError) -> Int { try host.read(fd, into: &buffer) }
  func seek(_ fd: Int32, to offset: Int64) throws(PlatformError) { try host.seek(fd, to: offset) }
  func write(_ fd: Int32, _ bytes: [UInt8]) throws(PlatformError) { try host.write(fd, bytes) }
  func sync(_ fd: Int32) throws(PlatformError) { try host.sync(fd) }
  func close(_ fd: Int32) { host.close(fd) }
  func makeOneDirectory(_ path: String, mode: UInt32) throws(PlatformError) { try host.makeOneDirectory(path, mode: mode) }
  func syncDirectory(_ path: String) throws(PlatformError) { try host.syncDirectory(path) }
  func move(_ from: String, to path: String) throws(PlatformError) { try host.move(from, to: path) }
  func remove(_ path: String) throws(PlatformError) { try host.remove(path) }
}
