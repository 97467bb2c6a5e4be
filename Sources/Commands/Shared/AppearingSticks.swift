import SatchelPlatform

/// Notices which sticks have come since the last look.
struct AppearingSticks {
  private struct Sight: Hashable {
    let path: String
    /// What is mounted there; nil: it is a folder with SATCHEL in it.
    let mount: String?
  }

  private let folder: String
  private let platform: Platform
  private var seen: Set<Sight> = []

  init(in folder: String, _ platform: Platform) {
    self.folder = folder
    self.platform = platform
  }

  /// The sticks that were not there at the last look, by their paths. A stick that was taken out and put in again
  /// between two looks is a new one, where it was mounted anew.
  mutating func appeared() throws -> [String] {
    let now = try look()
    defer { seen = Set(now) }
    return now.filter { !seen.contains($0) }.map(\.path)
  }

  /// Has a stick that is in appear once more at the next look.
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
        // Of several mounts at one place the last one is what is seen.
        if let mount = mounts.last(where: { $0.path == place }) { return Sight(path: path, mount: mount.id) }
        return Paths.name(of: path) != Stick.folderName && isCarried(path) ? Sight(path: path, mount: nil) : nil
      }
  }

  /// Whether `sync` has been there. What cannot be looked at, such as a stick that is just being pulled out, is none. A
  /// link of that name is for `sync` to refuse, which says so.
  private func isCarried(_ path: String) -> Bool {
    [.directory, .link].contains(try? platform.files.kind(Paths.join(path, Stick.folderName)))
  }
}
