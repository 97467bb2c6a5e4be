import Glibc
import SatchelPlatform
import TestSupport
import Testing

@Suite("Folders below which no link is followed, and whose files are closed to others")
struct ConfinedFilesTests {
  let scratch: Scratch
  init() throws { scratch = try Scratch() }

  @Test("no call follows a link below a confined folder, neither on the way nor at the end of a path")
  func links() throws {
    let contract = LinkContract(scratch.files, in: scratch.path) { path, target in
      #expect(symlink(target, path) == 0)
    }
    #expect(try contract.broken() == [])
  }

  @Test("a link that appears between the check and the call is not followed either")
  func swapped() throws {
    let files = scratch.files.confined(below: scratch("stick"))
    try files.makeDirectory(scratch("stick/hub"), mode: 0o755)
    try files.makeDirectory(scratch("beyond"), mode: 0o755)
    try files.replace(scratch("stick/hub/x"), mode: 0o644, contents: [1])
    try scratch.put("beyond/x", "secret")
    #expect(try files.kind(scratch("stick/hub/x")) == .file)
    try scratch.files.rename(scratch("stick/hub"), to: scratch("stick/aside"))
    #expect(symlink(scratch("beyond"), scratch("stick/hub")) == 0)
    #expect(throws: PlatformError.link(path: scratch("stick/hub"))) { try files.open(scratch("stick/hub/x")) }
  }

  @Test("what is no file is not opened: a pipe is refused as a lock file too")
  func pipes() throws {
    #expect(mkfifo(scratch("pipe"), 0o600) == 0)
    for files in [scratch.files as any FileSystem, scratch.files.confined(below: scratch.path)] {
      #expect(throws: PlatformError.notAFile(path: scratch("pipe"))) { try files.open(scratch("pipe")) }
      #expect(throws: PlatformError.notAFile(path: scratch("pipe"))) { try files.openLocked(scratch("pipe")) }
    }
  }

  @Test("the rule holds however a path is written, and for the names that it is for")
  func names() throws {
    try scratch.files.makeDirectory(scratch("w"), mode: 0o755)
    #expect(symlink("/", scratch("w/bundles")) == 0)
    #expect(symlink("/", scratch("w/data")) == 0)
    let files = scratch.files.confined(below: scratch("w/."), names: ["bundles"])
    #expect(throws: PlatformError.self) { try files.list(scratch(".//w/./bundles")) }
    #expect(throws: PlatformError.self) { try files.list(scratch("w/bundles/tmp")) }
    #expect(try !files.list(scratch("w/data")).isEmpty)
  }

  @Test("nothing below a limited folder is made with more rights, and folders are entered by who may read files")
  func modes() throws {
    for (limit, file, folder) in [(0o600, 0o600, 0o700), (0o640, 0o640, 0o750), (0o666, 0o644, 0o755)]
      as [(
        UInt32, UInt32, UInt32
      )]
    {
      let root = scratch("limit-\(limit)")
      let files = scratch.files.limitingModes(below: root, to: limit)
      try files.makeDirectory(root + "/a/b", mode: 0o755)
      try files.replace(root + "/a/b/c", mode: 0o644, contents: [])
      let made = try files.createTemporary(in: root, mode: 0o644)
      defer { files.close(made.fd) }
      #expect(try files.permissions(root) == folder && files.permissions(root + "/a/b") == folder)
      #expect(try files.permissions(root + "/a/b/c") == file && files.permissions(made.path) == file)
    }
    try scratch.put("beside", "x", mode: 0o644)
    #expect(try scratch.files.permissions(scratch("beside")) == 0o644)
  }
}
