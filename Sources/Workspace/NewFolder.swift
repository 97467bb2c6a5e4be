import SatchelPlatform

/// A folder that is made aside and gets its name when it is whole. What is left of one whose maker was killed goes when
/// the next one is made beside it.
public struct NewFolder: ~Copyable {
  private static let prefix = HostFileSystem.temporaryPrefix + "making-"

  private let place: String
  private let target: String
  private let files: any FileSystem
  private let lock: FileLock
  /// Where to make it. What else is put beside it goes in the end.
  public let path: String

  /// Throws `PlatformError.locked` where somebody is making the same folder just now.
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

  // Nothing can be done about a folder that does not go; the next one that is made beside it tries again.
  deinit { try? files.removeTree(place) }

  /// Gives the folder its name. An empty one of that name makes room. Where it fails, nothing is there that was not
  /// before.
  public func publish() throws(PlatformError) {
    if try files.kind(target) != nil { try files.remove(target) }
    do throws(PlatformError) { try files.rename(path, to: target) } catch {
      takeBack()
      throw error
    }
  }

  /// Takes the name back where it was given, and only syncing that failed. A second failure must not hide the first.
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
