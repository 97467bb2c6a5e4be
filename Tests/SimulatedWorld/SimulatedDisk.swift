import CSQLite
import Glibc
import SatchelPlatform

/// SQLite's VFS for the files of simulated worlds. It passes every other path on to the machine's own files.
///
/// The interface of a VFS: https://www.sqlite.org/c3ref/vfs.html
enum SimulatedDisk {
  /// Makes this VFS SQLite's default in this process.
  static func register() { _ = registered }

  private static let registered: Int32 = {
    // `Database` makes this call too. The call must come before SQLite's first use in the process.
    _ = satchel_config_memstatus(0)
    guard let base = sqlite3_vfs_find(nil) else { return SQLITE_ERROR }
    let disk = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    disk.initialize(to: base.pointee)
    disk.pointee.szOsFile = max(base.pointee.szOsFile, Int32(MemoryLayout<Handle>.size))
    disk.pointee.pNext = nil
    disk.pointee.zName = name
    let shared = UnsafeMutablePointer<sqlite3_vfs>(base)
    machine = shared
    disk.pointee.xOpen = { _, path, file, flags, out in SimulatedDisk.open(path, file, flags, out) }
    disk.pointee.xDelete = { _, path, syncs in SimulatedDisk.delete(path, syncs) }
    disk.pointee.xAccess = { _, path, flags, out in SimulatedDisk.access(path, flags, out) }
    disk.pointee.xFullPathname = { _, path, count, out in SimulatedDisk.fullPathname(path, count, out) }
    return sqlite3_vfs_register(disk, 1)
  }()

  // Written once, before SQLite knows this VFS.
  nonisolated(unsafe) private static var machine: UnsafeMutablePointer<sqlite3_vfs>?
  nonisolated(unsafe) private static let name = UnsafePointer(strdup("satchel-simulated"))

  private static func text(_ path: UnsafePointer<CChar>?) -> String { path.map { String(cString: $0) } ?? "" }

  private static func open(
    _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
    _ out: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    let name = text(path)
    guard let file else { return SQLITE_CANTOPEN }
    guard let world = SimulatedWorld.world(of: name) else {
      return machine?.pointee.xOpen(machine, path, file, flags, out) ?? SQLITE_CANTOPEN
    }
    file.pointee.pMethods = nil
    do throws(Failure) {
      guard let opened = try openSimulated(name, flags, in: world) else { return SQLITE_CANTOPEN }
      Handle.give(opened, to: file)
      out?.pointee = flags
      return SQLITE_OK
    } catch {
      return error == .noSpace ? SQLITE_FULL : SQLITE_CANTOPEN
    }
  }

  private static func openSimulated(_ path: String, _ flags: Int32, in world: SimulatedWorld) throws(Failure)
    -> OpenDatabaseFile?
  {
    try world.look(at: path)
    guard let folder = world.parent(of: path) else { return nil }
    let inode: Inode
    if let known = world.find(path) {
      if known.isFolder || (flags & SQLITE_OPEN_EXCLUSIVE) != 0 { return nil }
      inode = known
    } else {
      guard (flags & SQLITE_OPEN_CREATE) != 0 else { return nil }
      try world.step(at: path)
      inode = Inode(isFolder: false, mode: 0o644)
      world.change([(folder, Paths.name(of: path), inode)])
    }
    let opened = OpenDatabaseFile(inode, path: path, world: world, flags: flags)
    // As in SQLite on Unix, the first sync of a journal also puts the journal's name on the medium. The sync of a
    // database does not.
    let journals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL
    if (flags & journals) != 0, (flags & SQLITE_OPEN_CREATE) != 0 { opened.unsyncedFolder = folder }
    return opened
  }

  private static func delete(_ path: UnsafePointer<CChar>?, _ syncs: Int32) -> Int32 {
    let name = text(path)
    guard let world = SimulatedWorld.world(of: name) else {
      return machine?.pointee.xDelete(machine, path, syncs) ?? SQLITE_IOERR
    }
    guard let folder = world.parent(of: name), world.find(name) != nil else { return IOError.deleteMissing }
    do throws(Failure) {
      try world.step(at: name)
      world.change([(folder, Paths.name(of: name), nil)])
      if syncs != 0 {
        try world.step(at: name)
        world.syncNames(of: folder)
      }
      return SQLITE_OK
    } catch {
      return IOError.delete
    }
  }

  private static func access(_ path: UnsafePointer<CChar>?, _ flags: Int32, _ out: UnsafeMutablePointer<Int32>?)
    -> Int32
  {
    let name = text(path)
    guard let world = SimulatedWorld.world(of: name) else {
      return machine?.pointee.xAccess(machine, path, flags, out) ?? SQLITE_IOERR
    }
    do throws(Failure) { try world.look(at: name) } catch { return IOError.access }
    let inode = world.find(name)
    // SQLite treats an empty journal as missing.
    out?.pointee =
      inode != nil && !(flags == SQLITE_ACCESS_EXISTS && inode?.isFolder == false && inode?.bytes.isEmpty == true)
      ? 1 : 0
    return SQLITE_OK
  }

  private static func fullPathname(_ path: UnsafePointer<CChar>?, _ count: Int32, _ out: UnsafeMutablePointer<CChar>?)
    -> Int32
  {
    let name = text(path)
    guard SimulatedWorld.world(of: name) != nil, let path, let out else {
      return machine?.pointee.xFullPathname(machine, path, count, out) ?? SQLITE_CANTOPEN
    }
    guard name.utf8.count < Int(count) else { return SQLITE_CANTOPEN }
    strcpy(out, path)
    return SQLITE_OK
  }
}
