/// Rules for the paths below some folders: no link is followed there, or the modes of new files are limited.
///
/// A rule applies to each path that begins with the path of its folder, relative or absolute. The system itself
/// resolves `..`, so a path with `..` can leave the folder.
public struct FolderRules: Sendable {
  /// The absolute paths of the folders below which no link is followed. If `names` is not empty, only these names in
  /// the folder are confined.
  private var confined: [(root: String, names: [String])] = []
  /// The absolute paths of the folders below which modes are limited. `mode` has all rights that a file there may
  /// have.
  private var limits: [(root: String, mode: UInt32)] = []
  /// The absolute path of the process's current folder.
  private let here: String

  /// - Parameter here: the absolute path of the process's current folder.
  public init(here: String = "/") { self.here = here }

  fileprivate mutating func confine(below root: String, _ names: [String]) { confined.append((absolute(root), names)) }

  fileprivate mutating func limit(below root: String, to mode: UInt32) {
    let root = absolute(root)
    limits.removeAll { $0.root.utf8.elementsEqual(root.utf8) }
    limits.append((root, mode))
  }

  /// The confined folder above a path, with the names from this folder to the path; nil if links may be followed.
  public func confinedNames(of path: String) -> (root: String, names: [String])? {
    if confined.isEmpty { return nil }
    let path = absolute(path)
    var found: (root: String, names: [String])?
    for rule in confined where isBelow(rule.root, path) {
      // If one confined folder is inside another, the outer folder counts.
      if let found, found.root.utf8.count <= rule.root.utf8.count { continue }
      let below = names(of: path, below: rule.root)
      if rule.names.isEmpty || rule.names.contains(below[0]) { found = (rule.root, below) }
    }
    return found
  }

  /// The mode for a new file: `mode` without the rights that the rules forbid.
  public func mode(_ mode: UInt32, ofFile path: String) -> UInt32 { mode & (most(at: path) | 0o600) }

  /// The mode for a new folder. Users who may not read its files may not enter the folder either.
  public func mode(_ mode: UInt32, ofFolder path: String) -> UInt32 {
    let most = most(at: path)
    return mode & (most | (most & 0o444) >> 2 | 0o700)
  }

  private func most(at path: String) -> UInt32 {
    if limits.isEmpty { return 0o7777 }
    let path = absolute(path)
    return limits.filter { isBelow($0.root, path) || $0.root.utf8.elementsEqual(path.utf8) }
      .reduce(0o7777) { $0 & $1.mode }
  }

  private func absolute(_ path: String) -> String { Paths.absolute(path, currentDirectory: here) }

  private func isBelow(_ root: String, _ path: String) -> Bool {
    if root == "/" { return path != "/" }
    let rest = path.utf8.dropFirst(root.utf8.count)
    return path.utf8.starts(with: root.utf8) && rest.first == UInt8(ascii: "/")
  }

  private func names(of path: String, below root: String) -> [String] {
    path.utf8.dropFirst(root.utf8.count).split(separator: UInt8(ascii: "/")).map {
      String(Substring($0))
    }
  }
}

extension FileSystem {
  /// The same file system with one more rule: below `root` no link is followed, in no part of a path. A person has
  /// chosen `root` itself, so links on the way to it are followed.
  /// - Parameter names: if not empty, the rule applies only to these names in `root` and everything below them.
  public func confined(below root: String, names: [String] = []) -> any FileSystem {
    var files: any FileSystem = self
    files.rules = begun()
    files.rules.confine(below: root, names)
    return files
  }

  /// The same file system with one more rule: new files at or below `root` get no more rights than `mode`.
  /// - Parameter mode: all rights that a file may have. Users who may read the files may also enter their folders.
  public func limitingModes(below root: String, to mode: UInt32) -> any FileSystem {
    var files: any FileSystem = self
    files.rules = begun()
    files.rules.limit(below: root, to: mode)
    return files
  }

  private func begun() -> FolderRules {
    // If the current folder is unknown, the system cannot resolve relative paths either. So any value is right.
    rules.isBegun ? rules : FolderRules(here: (try? currentDirectory()) ?? "/")
  }
}

extension FolderRules {
  fileprivate var isBegun: Bool { !confined.isEmpty || !limits.isEmpty }
}

extension Platform {
  /// The same platform, with files that follow no link below `root`.
  public func confined(below root: String) -> Platform {
    var platform = self
    platform.files = files.confined(below: root)
    return platform
  }
}
