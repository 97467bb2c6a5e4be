import Foundation
import SatchelPlatform

/// A folder for a test. It is deleted with the test. It is in memory if the system has such a place, unless TMPDIR
/// names another place.
public final class TemporaryFolder {
  public let path: String
  public let files = HostFileSystem()

  public init() throws {
    let place = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/dev/shm"
    let parent = FileManager.default.isWritableFile(atPath: place) ? place : "/tmp"
    path = Paths.join(parent, "satchel-test-" + SystemRandom().identifier(NameOfFolder.self).text)
    try files.makeDirectory(path, mode: 0o700)
  }

  deinit { try? files.removeTree(path) }

  /// The path of `name` in this folder.
  public func callAsFunction(_ name: String) -> String { Paths.join(path, name) }

  public func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
    try Data(bytes).write(to: URL(filePath: self(name)))
  }

  public func read(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: self(name)))) }

  public func text(_ name: String) throws -> String { String(decoding: try read(name), as: UTF8.self) }

  /// Makes a folder in this one and returns its path.
  public func folder(_ name: String) throws -> String {
    try files.makeDirectory(self(name), mode: 0o755)
    return self(name)
  }
}
