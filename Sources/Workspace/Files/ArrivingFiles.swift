import SatchelBundle
import SatchelPlatform
import SatchelValues

/// Files that come piece by piece, for example from a pipe or a browser. They are in a separate folder in the inbox,
/// and the folder is deleted with this value. As long as this value exists, a lock keeps other commands from deleting
/// the folder.
public struct ArrivingFiles: ~Copyable {
  static let prefix = HostFileSystem.temporaryPrefix + "arriving-"

  private let place: String
  private let files: any FileSystem
  private let lock: FileLock
  private let limit = BundleLimits().totalBytes
  /// The file that is arriving now.
  private var open: (fd: Int32, bytes: Int64)?

  public init(in folder: WorkspaceFolder, platform: Platform) throws {
    let unique = Hexadecimal.text(of: platform.random.bytes(8))
    let place = Paths.join(folder.inbox, Self.prefix + unique)
    try platform.files.makeDirectory(place, mode: 0o700)
    let lock = try FileLock(path: Self.lock(of: place), files: platform.files)
    files = platform.files
    self.place = place
    self.lock = lock
  }

  deinit {
    if let open { files.close(open.fd) }
    try? files.removeTree(place)
  }

  private static func lock(of place: String) -> String { Paths.join(place, "lock") }

  /// Ends the previous file, and begins a new file.
  /// - Parameter name: the file's name, for people; each name is used once.
  /// - Returns: the file's path.
  public mutating func begin(_ name: String) throws -> String {
    end()
    let path = Paths.join(place, name)
    let made = try files.createTemporary(in: place, mode: 0o600)
    open = (made.fd, 0)
    try files.rename(made.path, to: path)
    return path
  }

  /// Appends bytes to the newest file.
  public mutating func append(_ bytes: [UInt8]) throws {
    guard let (fd, before) = open else { return }
    let total = before + Int64(bytes.count)
    guard total <= limit else { throw BundleError.tooLarge("The file that arrived", limit: limit) }
    try files.write(fd, bytes)
    open = (fd, total)
  }

  /// Ends the newest file.
  public mutating func end() {
    if let open { files.close(open.fd) }
    open = nil
  }

  /// Writes a file from the pieces that `read` returns, until `read` returns an empty piece. Returns the file's path.
  public mutating func take(_ name: String, _ read: () throws -> [UInt8]) throws -> String {
    let path = try begin(name)
    while true {
      let bytes = try read()
      if bytes.isEmpty { break }
      try append(bytes)
    }
    end()
    return path
  }

  /// Whether another process still uses the folder at `place`.
  static func isHeld(_ place: String, _ files: any FileSystem) throws -> Bool {
    guard Paths.name(of: place).hasPrefix(prefix) else { return false }
    do {
      _ = try FileLock(path: lock(of: place), files: files)
      return false
    } catch PlatformError.locked { return true }
  }
}
