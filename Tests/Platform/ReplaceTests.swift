import Glibc
import SatchelPlatform
import Testing

@Suite("Writing aside")
struct ReplaceTests {
  let scratch: Scratch
  init() throws { scratch = try Scratch() }

  @Test("a file is made, then replaced, with exactly the mode asked for")
  func replaces() throws {
    try scratch.put("a", "one", mode: 0o600)
    #expect(try scratch.files.permissions(scratch("a")) == 0o600)
    try scratch.put("a", "two", mode: 0o666)
    #expect(try scratch.text("a") == "two")
    #expect(try scratch.files.permissions(scratch("a")) == 0o666)
    #expect(try scratch.names() == ["a"])
  }

  @Test("a reader that has the old file open goes on reading it whole")
  func keepsOldForReaders() throws {
    try scratch.put("a", "old and long")
    let fd = try scratch.files.open(scratch("a"))
    defer { scratch.files.close(fd) }
    try scratch.put("a", "new")
    var buffer = [UInt8](repeating: 0, count: 100)
    let count = try scratch.files.read(fd, into: &buffer)
    #expect(String(decoding: buffer[..<count], as: UTF8.self) == "old and long")
  }

  @Test("a copy for a person takes away what was left of the same copy by a process that was killed, and nothing else")
  func delivers() throws {
    try scratch.put("a", "one")
    for killed in ["bundle", "bundle", "bundle-2"] {
      scratch.files.close(try scratch.files.createTemporary(in: scratch(""), for: killed, mode: 0o600).fd)
    }
    try scratch.put(".satchel-bundle-notes", "somebody's")
    try scratch.files.deliver(scratch("a"), to: scratch("bundle"), mode: 0o644)
    #expect(try scratch.text("bundle") == "one")
    let left = try scratch.names().filter { !["a", "bundle", ".satchel-bundle-notes"].contains($0) }
    #expect(left.count == 1 && left.allSatisfy { $0.hasPrefix(".satchel-bundle-2-") }, "\(left)")
  }

  @Test("a folder that is missing is what the error names")
  func missingFolder() throws {
    let error = #expect(throws: PlatformError.self) { try scratch.put("no/a", "x") }
    #expect(error == .missing(path: scratch("no")))
  }

  @Test("a file where a folder should be is what the error names")
  func fileAsFolder() throws {
    try scratch.put("f", "kept")
    let error = #expect(throws: PlatformError.self) { try scratch.put("f/a", "x") }
    #expect(error == .notADirectory(path: scratch("f")))
    #expect(try scratch.text("f") == "kept")
  }

  @Test("a name too long leaves nothing aside")
  func longName() throws {
    let name = String(repeating: "n", count: 300)
    let error = #expect(throws: PlatformError.self) { try scratch.put(name, "x") }
    #expect(error == .other(operation: "rename", path: scratch(name), errno: ENAMETOOLONG))
    #expect(try scratch.names() == [])
  }

  @Test("a folder in the place of the file stays, and nothing is left aside")
  func folderInPlace() throws {
    try scratch.files.makeDirectory(scratch("d"), mode: 0o700)
    let error = #expect(throws: PlatformError.self) { try scratch.put("d", "x") }
    #expect(error == .isADirectory(path: scratch("d")))
    #expect(try scratch.names() == ["d"])
  }

  @Test("when filling fails, the old file stays, nothing is left aside, and the error is about the file meant")
  func fillFails() throws {
    try scratch.put("a", "old")
    let error = #expect(throws: PlatformError.self) {
      try scratch.files.replace(scratch("a"), mode: 0o644) { fd throws(PlatformError) in
        try scratch.files.write(fd, [1, 2, 3])
        let aside = try scratch.files.list(scratch.path).first { $0.hasPrefix(".satchel-") } ?? ""
        throw .noSpace(path: scratch(aside))
      }
    }
    #expect(error == .noSpace(path: scratch("a")))
    #expect(try scratch.text("a") == "old")
    #expect(try scratch.names() == ["a"])
  }

  @Test("a full medium is reported as such")
  func fullMedium() throws {
    let fd = Glibc.open("/dev/full", O_WRONLY)
    defer { scratch.files.close(fd) }
    let error = #expect(throws: PlatformError.self) { try scratch.files.write(fd, [1]) }
    #expect(error == .noSpace(path: "/dev/full"))
    #expect(error?.hint != nil)
  }

  @Test("a copy of 3 MiB and a bit is the same, and its mode is the one asked for")
  func copies() throws {
    let contents = SystemRandom().bytes(3 << 20 | 17)
    try scratch.files.replace(scratch("a"), mode: 0o644, contents: contents)
    try scratch.files.copy(scratch("a"), to: scratch("b"), mode: 0o640)
    #expect(try scratch.files.read(scratch("b"), limit: contents.count) == contents)
    #expect(try scratch.files.permissions(scratch("b")) == 0o640)
    #expect(try scratch.names() == ["a", "b"])
  }

  @Test("a copy of nothing names the source and makes no file")
  func copiesNothing() throws {
    let error = #expect(throws: PlatformError.self) {
      try scratch.files.copy(scratch("no"), to: scratch("b"), mode: 0o644)
    }
    #expect(error == .missing(path: scratch("no")))
    #expect(try scratch.names() == [])
  }
}
