import SatchelPlatform

/// A folder that is made under a temporary name and gets its final name when it is complete. If its process is
/// killed, the next `NewFolder` in the same parent folder removes the remains.
public struct NewFolder: ~Copyable {
  private static let prefix = HostFileSystem.temporaryPrefix + "making-"

  private let place: String
  private let target: String
  private let files: any FileSystem
  private let lock: FileLock
  /// The path at which the caller makes the folder. Other files in the temporary folder are removed at the end.
  public let path: String

  /// Throws `PlatformError.locked` if another process is making the same folder now.
  public init(for target: String, platform: Platform) throws {
    let files = platform.files
    let parent = Paths.parent(of: target)
    try files.makeDirectory(parent, mode: 0o755)
    for name in try files.list(parent) where name.hasPrefix(Self.prefix) {
      try Self.removeUnlessHeld(Paths.join(parent, name), files)
    }
    let place = Paths.join(parent, Self.prefix + Paths.name(of: target))
    try files.makeDirectory(place, mode: 0o700)
    let lock = try FileLock(path: Self.lock(of: place), files: files)
    self.target = target
    self.files = files
    self.lock = lock
    self.place = place
    path = Paths.join(place, "whole")
  }

  // An error here is ignored: the next `NewFolder` in the same parent folder tries again to remove the folder.
  deinit { try? files.removeTree(place) }

  /// Gives the folder its final name, in place of an empty folder with that name. If this fails, the new folder is
  /// removed.
  public func publish() throws(PlatformError) {
    if try files.kind(target) != nil { try files.remove(target) }
    do throws(PlatformError) { try files.rename(path, to: target) } catch {
      takeBack()
      throw error
    }
  }

  /// Undoes the rename if the rename was done but its sync failed. An error here is ignored, so that the caller gets
  /// the first error.
  private func takeBack() {
    do throws(PlatformError) {
      if try files.kind(path) == nil { try files.rename(target, to: path) }
    } catch {}
  }

  private static func lock(of place: String) -> String { Paths.join(place, "lock") }

  private static func removeUnlessHeld(_ place: String, _ files: any FileSystem) throws {
    do {
      _ = try FileLock(path: lock(of: place), files: files)
    } catch PlatformError.locked { return }
    try files.removeTree(place)
  }
}
