import CSQLite
import SatchelPlatform

/// A file of a simulated world that SQLite has open.
final class OpenDatabaseFile {
  let inode: Inode
  let path: String
  let world: SimulatedWorld
  /// The folder of this file, if the file is a journal whose name is not on the medium yet.
  var unsyncedFolder: Inode?
  private var level = SQLITE_LOCK_NONE
  private var hasShared = false
  private var sharedReads = Set<Int>()
  private var sharedWrites = Set<Int>()
  private let removesAtClose: Bool

  init(_ inode: Inode, path: String, world: SimulatedWorld, flags: Int32) {
    self.inode = inode
    self.path = path
    self.world = world
    removesAtClose = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0
  }

  /// Runs one step, and returns SQLite's code. If the step fails, the code is `code`, or SQLITE_FULL for a full disk.
  private func attempt(_ code: Int32, _ body: () throws(Failure) -> Void) -> Int32 {
    do throws(Failure) {
      try body()
      return SQLITE_OK
    } catch {
      return error == .noSpace ? SQLITE_FULL : code
    }
  }

  func close() {
    unlock(SQLITE_LOCK_NONE)
    leaveShared()
    if removesAtClose, let folder = world.parent(of: path) { world.change([(folder, Paths.name(of: path), nil)]) }
  }

  func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int32 {
    let code = attempt(IOError.read) { () throws(Failure) in try world.look(at: path) }
    if code != SQLITE_OK { return code }
    let there = max(0, min(buffer.count, inode.bytes.count - offset))
    if there > 0 {
      inode.bytes.withUnsafeBytes {
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + there]))
      }
    }
    if there == buffer.count { return SQLITE_OK }
    // SQLite requires zeros in the rest of the buffer.
    UnsafeMutableRawBufferPointer(rebasing: buffer[there...]).initializeMemory(as: UInt8.self, repeating: 0)
    return IOError.shortRead
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int32 {
    attempt(IOError.write) { () throws(Failure) in
      try world.step(at: path)
      inode.write(bytes, at: offset)
    }
  }

  func truncate(to count: Int) -> Int32 {
    attempt(IOError.truncate) { () throws(Failure) in
      try world.step(at: path)
      inode.truncate(to: count)
    }
  }

  func sync() -> Int32 {
    attempt(IOError.fsync) { () throws(Failure) in
      try world.step(at: path)
      inode.sync()
      if let folder = unsyncedFolder {
        try world.step(at: path)
        world.syncNames(of: folder)
        unsyncedFolder = nil
      }
    }
  }

  // MARK: locks

  private var isWriter: Bool { inode.databaseLock.writer == ObjectIdentifier(self) }

  func lock(_ wanted: Int32) -> Int32 {
    let lock = inode.databaseLock
    if level >= wanted { return SQLITE_OK }
    if level == SQLITE_LOCK_NONE {
      if lock.isPending { return SQLITE_BUSY }
      lock.readers += 1
      level = SQLITE_LOCK_SHARED
    }
    if wanted == SQLITE_LOCK_SHARED { return SQLITE_OK }
    if lock.writer != nil, !isWriter { return SQLITE_BUSY }
    lock.writer = ObjectIdentifier(self)
    if wanted == SQLITE_LOCK_RESERVED {
      level = wanted
      return SQLITE_OK
    }
    lock.isPending = true
    level = lock.readers > 1 ? SQLITE_LOCK_PENDING : SQLITE_LOCK_EXCLUSIVE
    return level == wanted ? SQLITE_OK : SQLITE_BUSY
  }

  @discardableResult
  func unlock(_ wanted: Int32) -> Int32 {
    let lock = inode.databaseLock
    if level <= wanted { return SQLITE_OK }
    if isWriter {
      lock.writer = nil
      lock.isPending = false
    }
    if wanted == SQLITE_LOCK_NONE { lock.readers -= 1 }
    level = wanted
    return SQLITE_OK
  }

  var isReserved: Bool { inode.databaseLock.writer != nil }

  // MARK: shared memory

  func region(_ number: Int, size: Int, extends: Bool) -> (code: Int32, region: UnsafeMutableRawPointer?) {
    let shared = inode.shared
    if !hasShared {
      hasShared = true
      shared.users += 1
    }
    while shared.regions.count <= number {
      if !extends { return (SQLITE_OK, nil) }
      let region = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
      region.initializeMemory(as: UInt8.self, repeating: 0, count: size)
      shared.regions.append(region)
    }
    return (SQLITE_OK, shared.regions[number])
  }

  func lockShared(_ slots: Range<Int>, _ flags: Int32) -> Int32 {
    let isExclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0
    if (flags & SQLITE_SHM_UNLOCK) != 0 {
      for slot in slots { release(slot) }
      return SQLITE_OK
    }
    let shared = inode.shared
    for slot in slots {
      let others = shared.readers[slot] - (sharedReads.contains(slot) ? 1 : 0)
      if shared.writers[slot] != nil, !sharedWrites.contains(slot) { return SQLITE_BUSY }
      if isExclusive, others > 0 { return SQLITE_BUSY }
    }
    for slot in slots {
      if isExclusive {
        shared.writers[slot] = ObjectIdentifier(self)
        sharedWrites.insert(slot)
      } else if sharedReads.insert(slot).inserted {
        shared.readers[slot] += 1
      }
    }
    return SQLITE_OK
  }

  private func release(_ slot: Int) {
    if sharedReads.remove(slot) != nil { inode.shared.readers[slot] -= 1 }
    if sharedWrites.remove(slot) != nil { inode.shared.writers[slot] = nil }
  }

  func leaveShared() {
    if !hasShared { return }
    for slot in 0..<8 { release(slot) }
    inode.shared.leave()
    hasShared = false
  }
}
