import Foundation
import SatchelPlatform

/// A temporary folder for histories. It is in memory if possible, so that tests do not wait for a disk. Its
/// deinitialiser deletes it.
final class HistoryFixture {
  private let files = HostFileSystem()
  private let root: String

  init() throws {
    let environment = ProcessInfo.processInfo.environment
    let parent = ["/dev/shm", environment["TMPDIR"], "/tmp"].compactMap(\.self).first { path in
      access(path, W_OK) == 0
    }
    let unique = SystemRandom().bytes(8).map { String($0, radix: 16) }.joined()
    root = Paths.join(parent ?? "/tmp", "satchel-protocol-\(unique)")
    try files.makeDirectory(root, mode: 0o700)
  }

  deinit { try? files.removeTree(root) }

  func path(of seed: UInt64) -> String { Paths.join(root, String(seed)) }
  func remove(_ path: String) { try? files.removeTree(path) }
}
