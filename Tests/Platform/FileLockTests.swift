import SatchelPlatform
import Testing

@Suite("Locks")
struct FileLockTests {
  let scratch: Scratch
  init() throws { scratch = try Scratch() }

  private func take() throws(PlatformError) {
    let lock = try FileLock(path: scratch("lock"), files: scratch.files)
    _ = lock.path
  }

  @Test("a lock has one holder, is free again when its value ends, and its file is for its owner only")
  func oneHolder() throws {
    do {
      let lock = try FileLock(path: scratch("lock"), files: scratch.files)
      let error = #expect(throws: PlatformError.self) { try take() }
      #expect(error == .locked(path: lock.path))
    }
    try take()
    try take()
    #expect(try scratch.files.permissions(scratch("lock")) == 0o600)
  }

  @Test("a holder leaves a number for the next one, shorter or longer than the one before, and other text is ignored")
  func leftNumbers() throws {
    for number in [Int64.max, 7, 0, 1_769_846_709_000] {
      do {
        let lock = try FileLock(path: scratch("lock"), files: scratch.files)
        try lock.leave(number)
      }
      let lock = try FileLock(path: scratch("lock"), files: scratch.files)
      let left = try lock.left()
      #expect(left == number)
    }
    for words in ["", "soon", "12 o'clock"] {
      try scratch.files.replace(scratch("lock"), mode: 0o600, contents: Array(words.utf8))
      let lock = try FileLock(path: scratch("lock"), files: scratch.files)
      let left = try lock.left()
      #expect(left == nil)
    }
  }

  @Test("a lock whose folder is missing is no busy lock")
  func missingFolder() throws {
    let error = #expect(throws: PlatformError.self) {
      _ = try scratch.files.openLocked(scratch("no/lock"))
    }
    #expect(error == .missing(path: scratch("no/lock")))
  }
}
