import CSQLite

/// SQLite's handle of an open file. It has SQLite's own part, and the file of this world.
struct Handle {
  var base: sqlite3_file
  var file: Unmanaged<OpenDatabaseFile>?

  static func give(_ file: OpenDatabaseFile, to pointer: UnsafeMutablePointer<sqlite3_file>) {
    let handle = Handle(base: sqlite3_file(pMethods: methods), file: .passRetained(file))
    UnsafeMutableRawPointer(pointer).bindMemory(to: Handle.self, capacity: 1).initialize(to: handle)
  }

  private static func file(_ pointer: UnsafeMutablePointer<sqlite3_file>?) -> OpenDatabaseFile? {
    pointer.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: Handle.self).pointee.file?.takeUnretainedValue() }
      ?? nil
  }

  private static func close(_ pointer: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
    guard let pointer else { return SQLITE_OK }
    let handle = UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: Handle.self)
    handle.pointee.file?.takeUnretainedValue().close()
    handle.pointee.file?.release()
    handle.pointee.file = nil
    pointer.pointee.pMethods = nil
    return SQLITE_OK
  }

  // This table is written once, and then SQLite only reads it.
  nonisolated(unsafe) private static let methods: UnsafePointer<sqlite3_io_methods> = {
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    var all = sqlite3_io_methods()
    all.iVersion = 2
    all.xClose = { Handle.close($0) }
    all.xRead = { pointer, buffer, count, offset in
      Handle.file(pointer)?.read(UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)), at: Int(offset))
        ?? SQLITE_IOERR
    }
    all.xWrite = { pointer, buffer, count, offset in
      Handle.file(pointer)?.write(UnsafeRawBufferPointer(start: buffer, count: Int(count)), at: Int(offset))
        ?? SQLITE_IOERR
    }
    all.xTruncate = { pointer, count in Handle.file(pointer)?.truncate(to: Int(count)) ?? SQLITE_IOERR }
    all.xSync = { pointer, _ in Handle.file(pointer)?.sync() ?? SQLITE_IOERR }
    all.xFileSize = { pointer, out in
      out?.pointee = Int64(Handle.file(pointer)?.inode.bytes.count ?? 0)
      return SQLITE_OK
    }
    all.xLock = { pointer, level in Handle.file(pointer)?.lock(level) ?? SQLITE_IOERR }
    all.xUnlock = { pointer, level in Handle.file(pointer)?.unlock(level) ?? SQLITE_IOERR }
    all.xCheckReservedLock = { pointer, out in
      out?.pointee = Handle.file(pointer)?.isReserved == true ? 1 : 0
      return SQLITE_OK
    }
    all.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
    all.xSectorSize = { _ in 4096 }
    // A promise that SQLite assumes of every disk: a write changes no byte beside it, even if the power fails.
    all.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
    all.xShmMap = { pointer, number, size, extends, out in
      guard let found = Handle.file(pointer)?.region(Int(number), size: Int(size), extends: extends != 0) else {
        return SQLITE_IOERR
      }
      out?.pointee = found.region.map { UnsafeMutableRawPointer($0) }
      return found.code
    }
    all.xShmLock = { pointer, first, count, flags in
      Handle.file(pointer)?.lockShared(Int(first)..<Int(first + count), flags) ?? SQLITE_IOERR
    }
    all.xShmBarrier = { _ in }
    all.xShmUnmap = { pointer, _ in
      Handle.file(pointer)?.leaveShared()
      return SQLITE_OK
    }
    methods.initialize(to: all)
    return UnsafePointer(methods)
  }()
}
