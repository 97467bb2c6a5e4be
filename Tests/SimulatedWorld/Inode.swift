/// A file or a folder in memory, with the unsynced changes that a power cut could undo.
final class Inode {
  /// An unsynced change of a file's bytes, with the data to undo it and to repeat it.
  struct Change {
    let offset: Int
    let old: [UInt8]
    /// nil: the file was cut off at `offset`.
    let new: [UInt8]?
    let oldCount: Int
  }

  let isFolder: Bool
  /// The target of a symbolic link, absolute; nil: it is no link.
  let target: String?
  var mode: UInt32
  var bytes: [UInt8] = []
  /// The number of writes to this file. Callers see it as the time of the last change.
  private(set) var writes: Int64 = 0
  var unsynced: [Change] = []
  var entries: [String: Inode] = [:]

  /// Whether a program holds this file as a lock file.
  var isLocked = false
  let databaseLock = DatabaseLock()
  let shared = SharedMemory()

  init(isFolder: Bool, mode: UInt32, target: String? = nil) {
    self.isFolder = isFolder
    self.mode = mode
    self.target = target
  }

  func write(_ new: UnsafeRawBufferPointer, at offset: Int) {
    let end = offset + new.count
    let kept = min(bytes.count, end)
    unsynced.append(
      Change(
        offset: offset, old: offset < kept ? Array(bytes[offset..<kept]) : [], new: Array(new), oldCount: bytes.count))
    put(new, at: offset)
    writes += 1
  }

  func truncate(to count: Int) {
    if count >= bytes.count { return }
    unsynced.append(Change(offset: count, old: Array(bytes[count...]), new: nil, oldCount: bytes.count))
    bytes.removeLast(bytes.count - count)
  }

  private func put(_ new: UnsafeRawBufferPointer, at offset: Int) {
    let end = offset + new.count
    if bytes.count < end { bytes.append(contentsOf: repeatElement(0, count: end - bytes.count)) }
    bytes.withUnsafeMutableBytes { all in
      if let start = all.baseAddress, let source = new.baseAddress {
        (start + offset).copyMemory(from: source, byteCount: new.count)
      }
    }
  }

  func sync() { unsynced = [] }

  /// Simulates a power cut. Afterwards, each unsynced change is there, missing, or only its first sectors are there.
  ///
  /// - Parameter survives: returns, for a change of this many sectors, how many of them reached the medium.
  func losePower(_ survives: (_ sectors: Int) -> Int) {
    let changes = unsynced
    for change in changes.reversed() { undo(change) }
    for change in changes {
      guard let new = change.new else {
        if survives(1) == 1, change.offset < bytes.count { bytes.removeLast(bytes.count - change.offset) }
        continue
      }
      let reached = survives((new.count + Self.sector - 1) / Self.sector) * Self.sector
      if reached > 0 {
        new.withUnsafeBytes { put(UnsafeRawBufferPointer(rebasing: $0.prefix(reached)), at: change.offset) }
      }
    }
    unsynced = []
  }

  private static let sector = 512

  private func undo(_ change: Change) {
    if bytes.count > change.oldCount { bytes.removeLast(bytes.count - change.oldCount) }
    if bytes.count < change.oldCount {
      bytes.append(contentsOf: repeatElement(0, count: change.oldCount - bytes.count))
    }
    change.old.withUnsafeBytes { put($0, at: change.offset) }
  }

  /// A copy of this file or folder, with everything below it. The copy has no unsynced changes and no locks.
  func copy() -> Inode {
    let copy = Inode(isFolder: isFolder, mode: mode, target: target)
    copy.bytes = bytes
    for (name, entry) in entries { copy.entries[name] = entry.copy() }
    return copy
  }
}

/// SQLite's five levels of locking on one file: https://www.sqlite.org/lockingv3.html
final class DatabaseLock {
  var readers = 0
  /// The holder of the lock above SHARED; there is at most one.
  var writer: ObjectIdentifier?
  /// Whether the writer waits for readers to end. New readers then get no lock.
  var isPending = false
}

/// The shared memory of connections in write-ahead mode, and its eight locks.
final class SharedMemory {
  var regions: [UnsafeMutableRawPointer] = []
  var readers = [Int](repeating: 0, count: 8)
  var writers = [ObjectIdentifier?](repeating: nil, count: 8)
  var users = 0

  /// Ends the use by one connection. The last connection frees the memory.
  func leave() {
    users -= 1
    if users > 0 { return }
    for region in regions { region.deallocate() }
    regions = []
  }
}
