import SatchelPlatform

/// Finds the sticks that appeared since the last look at a folder.
struct AppearingSticks {
  private struct Sight: Hashable {
    let path: String
    /// The identity of the mount. nil if the path is a folder that contains SATCHEL.
    let mount: String?
  }

  private let folder: String
  private let platform: Platform
  private var seen: Set<Sight> = []

  init(in folder: String, _ platform: Platform) {
    self.folder = folder
    self.platform = platform
  }

  /// The paths of the sticks that were absent at the last look. A stick that was pulled out and put in again between
  /// two looks is new, if it was mounted again.
  mutating func appeared() throws -> [String] {
    let now = try look()
    defer { seen = Set(now) }
    return now.filter { !seen.contains($0) }.map(\.path)
  }

  /// Lets a stick that is still plugged in appear again at the next look.
  mutating func forget(_ path: String) { seen = seen.filter { $0.path != path } }

  private func look() throws -> [Sight] {
    guard try platform.isFolder(folder) else { return [] }
    let here = Paths.absolute(folder, currentDirectory: try platform.files.currentDirectory())
    let mounts = try platform.files.mounts()
    let inside = try platform.files.list(folder).filter { !$0.hasPrefix(".") }.map { Paths.join(folder, $0) }
      .filter { (try? platform.files.kind($0)) != .link }
    let own = [Sight(path: folder, mount: nil)].filter { isCarried($0.path) }
    return own
      + inside.compactMap { path in
        let place = Paths.join(here, Paths.name(of: path))
        // If several mounts have one path, the last mount is visible.
        if let mount = mounts.last(where: { $0.path == place }) { return Sight(path: path, mount: mount.id) }
        return Paths.name(of: path) != StickLayout.folderName && isCarried(path) ? Sight(path: path, mount: nil) : nil
      }
  }

  /// Whether `sync` has used this path. A path that cannot be read does not count, such as a stick that is being pulled
  /// out.
  private func isCarried(_ path: String) -> Bool { (try? StickLayout(path).isUsed(platform.files)) == true }
}
