import SatchelPlatform
import SatchelValues

/// A folder for what is not yet, or no longer, to be seen. It goes, with all that is in it, when it goes out of sight.
public struct StagingFolder: ~Copyable {
  public let path: String
  let files: any FileSystem

  /// Makes a folder with a name of its own inside `parent`.
  public init(in parent: String, platform: Platform) throws(PlatformError) {
    let unique = Hexadecimal.text(of: platform.random.bytes(8))
    let path = Paths.join(parent, ".satchel-\(unique)")
    try platform.files.makeDirectory(path, mode: 0o700)
    self.path = path
    files = platform.files
  }

  // Nothing can be done about a folder that does not go; `doctor` finds what is left behind.
  deinit { try? files.removeTree(path) }

  public func file(_ name: String) -> String { Paths.join(path, name) }
}
