import SatchelPlatform
import SatchelValues

/// A folder for temporary files. It is deleted with its content when this value ends.
public struct StagingFolder: ~Copyable {
  public let path: String
  let files: any FileSystem

  /// Makes a folder with a unique name in `parent`.
  public init(in parent: String, platform: Platform) throws(PlatformError) {
    let unique = Hexadecimal.text(of: platform.random.bytes(8))
    let path = Paths.join(parent, ".satchel-\(unique)")
    try platform.files.makeDirectory(path, mode: 0o700)
    self.path = path
    files = platform.files
  }

  // An error here is ignored: `doctor` finds a folder that is left.
  deinit { try? files.removeTree(path) }

  public func file(_ name: String) -> String { Paths.join(path, name) }
}
