import SatchelPlatform

/// A folder for one test. Its deinitialiser deletes it.
final class Scratch {
  let path: String
  let files = HostFileSystem()

  init() throws {
    path = "/tmp/satchel-test-" + SystemRandom().bytes(8).map { String($0, radix: 16) }.joined()
    try files.makeDirectory(path, mode: 0o700)
  }

  deinit { try? files.removeTree(path) }

  func callAsFunction(_ name: String) -> String { Paths.join(path, name) }

  func names() throws -> [String] { try files.list(path) }

  func put(_ name: String, _ text: String, mode: UInt32 = 0o644) throws {
    try files.replace(self(name), mode: mode, contents: Array(text.utf8))
  }

  func text(_ name: String) throws -> String {
    String(decoding: try files.read(self(name), limit: 1 << 20), as: UTF8.self)
  }
}
