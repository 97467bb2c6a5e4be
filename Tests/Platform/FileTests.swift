import Glibc
import SatchelPlatform
import Testing

@Suite("Files and folders")
struct FileTests {
  let scratch: Scratch
  init() throws { scratch = try Scratch() }

  @Test("a file is read up to its limit and not a byte further")
  func limits() throws {
    try scratch.put("a", "12345")
    #expect(try scratch.files.read(scratch("a"), limit: 5).count == 5)
    let error = #expect(throws: PlatformError.self) { try scratch.files.read(scratch("a"), limit: 4) }
    #expect(error == .tooLarge(path: scratch("a"), limit: 4))
    #expect(try scratch.files.size(scratch("a")) == 5)
  }

  @Test("names come sorted by their bytes, two spellings of one letter apart")
  func lists() throws {
    let sorted = [".hidden", "B", "a", "ab", "e\u{301}", "z", "\u{e9}"]
    for name in sorted.reversed() { try scratch.put(name, "x") }
    let names = try scratch.names()
    #expect(names.map { Array($0.utf8) } == sorted.map { Array($0.utf8) })
  }

  @Test("kinds are reported without following a link")
  func kinds() throws {
    try scratch.put("a", "x")
    try scratch.files.makeDirectory(scratch("d"), mode: 0o700)
    #expect(symlink(scratch("d"), scratch("link")) == 0)
    #expect(try scratch.files.kind(scratch("a")) == .file)
    #expect(try scratch.files.kind(scratch("d")) == .directory)
    #expect(try scratch.files.kind(scratch("link")) == .link)
    #expect(mkfifo(scratch("pipe"), 0o600) == 0)
    #expect(try scratch.files.kind(scratch("pipe")) == .other)
    #expect(try scratch.files.kind(scratch("no")) == nil)
  }

  @Test("only files are opened: a folder is refused, and a pipe does not block")
  func opensFilesOnly() throws {
    #expect(mkfifo(scratch("pipe"), 0o600) == 0)
    let pipe = #expect(throws: PlatformError.self) { try scratch.files.open(scratch("pipe")) }
    #expect(pipe == .notAFile(path: scratch("pipe")))
    let folder = #expect(throws: PlatformError.self) { try scratch.files.open(scratch.path) }
    #expect(folder == .isADirectory(path: scratch.path))
  }

  @Test("a path with a zero byte is refused, not cut")
  func zeroByte() throws {
    try scratch.put("a", "x")
    #expect(throws: PlatformError.self) { try scratch.files.remove(scratch("a\0b")) }
    #expect(throws: PlatformError.self) { try scratch.files.rename(scratch("a"), to: scratch("b\0c")) }
    #expect(try scratch.names() == ["a"])
  }

  @Test("folders are made with their parents; an existing folder is allowed, a file in its place is not")
  func makesFolders() throws {
    try scratch.files.makeDirectory(scratch("a/b/c/"), mode: 0o700)
    try scratch.files.makeDirectory(scratch("a/b/c"), mode: 0o700)
    #expect(try scratch.files.kind(scratch("a/b/c")) == .directory)
    try scratch.put("f", "x")
    let error = #expect(throws: PlatformError.self) { try scratch.files.makeDirectory(scratch("f"), mode: 0o700) }
    #expect(error == .notADirectory(path: scratch("f")))
  }

  @Test("a tree is removed without following its links; a missing tree is allowed")
  func removesTrees() throws {
    try scratch.files.makeDirectory(scratch("out"), mode: 0o700)
    try scratch.put("out/kept", "x")
    try scratch.files.makeDirectory(scratch("tree/a/b"), mode: 0o700)
    try scratch.put("tree/a/f", "x")
    #expect(symlink(scratch("out"), scratch("tree/a/link")) == 0)
    try scratch.files.removeTree(scratch("tree"))
    try scratch.files.removeTree(scratch("tree"))
    #expect(try scratch.names() == ["out"])
    #expect(try scratch.text("out/kept") == "x")
  }

  @Test("a rename says which of its two names was wrong")
  func renames() throws {
    try scratch.put("a", "x")
    let source = #expect(throws: PlatformError.self) { try scratch.files.rename(scratch("no"), to: scratch("b")) }
    #expect(source == .missing(path: scratch("no")))
    let target = #expect(throws: PlatformError.self) { try scratch.files.rename(scratch("a"), to: scratch("no/b")) }
    #expect(target == .missing(path: scratch("no/b")))
    try scratch.files.rename(scratch("a"), to: scratch("b"))
    #expect(try scratch.names() == ["b"])
  }

  @Test("removing a missing file is an error")
  func removesMissing() throws {
    let error = #expect(throws: PlatformError.self) { try scratch.files.remove(scratch("no")) }
    #expect(error == .missing(path: scratch("no")))
  }
}
