import SatchelBundle
import SatchelPlatform
import SatchelValues

/// A file that comes piece by piece, such as by a pipe: it is kept in the inbox, in a folder of its own, which goes when this does. Commands that
/// clear away what others left behind let it be as long as it is held.
public struct ArrivingFile: ~Copyable {
  static let prefix = HostFileSystem.temporaryPrefix + "arriving-"

  private let place: String
  private let files: any FileSystem
  private let lock: FileLock
  public let path: String

  /// - Parameter name: of the file, for people.
  public init(named name: String, in folder: WorkspaceFolder, platform: Platform) throws {
    let unique = Hexadecimal.text(of: platform.random.bytes(8))
    let place = Paths.join(folder.inbox, Self.prefix + unique)
    try platform.files.makeDirectory(place, mode: 0o700)
    let lock = try FileLock(path: Self.lock(of: place), files: platform.files)
    files = platform.files
    self.place = place
    self.lock = lock
    path = Paths.join(place, name)
  }

  deinit { try? files.removeTree(place) }

  private static func lock(of place: String) -> String { Paths.join(place, "lock") }

  /// Takes the bytes that `read` gives, to the first time that it gives none.
  public func take(_ read: () throws -> [UInt8]) throws {
    let limit = BundleLimits().totalBytes
    let made = try files.createTemporary(in: place, mode: 0o600)
    defer { files.close(made.fd) }
    var total: Int64 = 0
    while true {
      let bytes = try read()
      if bytes.isEmpty { break }
      total += Int64(bytes.count)
      guard total <= limit else { throw BundleError.tooLarge("What arrived", limit: limit) }
      try files.write(made.fd, bytes)
    }
    try files.rename(made.path, to: path)
  }

  /// Whether somebody still holds what lies at `place`.
  static func isHeld(_ place: String, _ files: any FileSystem) throws -> Bool {
    guard Paths.name(of: place).hasPrefix(prefix) else { return false }
    do {
      _ = try FileLock(path: lock(of: place), files: files)
      return false
    } catch PlatformError.locked { return true }
  }
}
