import SatchelPlatform

/// The rules about links for every file system. The machine's files and the simulated ones pass the same checks.
public struct LinkContract {
  private let files: any FileSystem
  private let root: String
  private let link: (_ path: String, _ target: String) throws -> Void

  /// - Parameters:
  ///   - root: an empty folder.
  ///   - link: makes a symbolic link.
  public init(
    _ files: any FileSystem, in root: String, link: @escaping (_ path: String, _ target: String) throws -> Void
  ) {
    (self.files, self.root, self.link) = (files, root, link)
  }

  private func path(_ name: String) -> String { Paths.join(root, name) }

  /// A folder `stick` with links to a folder `beyond` and to a file in it.
  private func prepare() throws {
    for name in ["stick/SATCHEL/hub", "beyond/tablet"] { try files.makeDirectory(path(name), mode: 0o755) }
    try files.replace(path("beyond/tablet/kept"), mode: 0o644, contents: [1, 2, 3])
    try link(path("stick/SATCHEL/away"), path("beyond"))
    try link(path("stick/SATCHEL/hub/file"), path("beyond/tablet/kept"))
    try link(path("stick/SATCHEL/hub/nowhere"), path("beyond/new"))
    try link(path("way"), path("stick"))
  }

  /// The path of the link that a call refuses, or the words of another error. Empty if the call succeeds.
  private func answer(_ body: () throws -> Void) -> String {
    do { try body() } catch PlatformError.link(let path) {
      return String(path.dropFirst(root.utf8.count + 1))
    } catch { return "\(error)" }
    return ""
  }

  /// The calls that break the rules. Empty if no call does.
  public func broken() throws -> [String] {
    try prepare()
    let confined = files.confined(below: path("stick"))
    var broken: [String] = []
    func expect(_ call: String, _ expected: String, _ body: () throws -> Void) {
      let found = answer(body)
      if found != expected { broken.append("\(call): \(found), and not \(expected)") }
    }
    let (away, file) = ("stick/SATCHEL/away", "stick/SATCHEL/hub/file")
    let beyond = path("\(away)/tablet/kept")
    expect("kind", away) { _ = try confined.kind(beyond) }
    expect("size", away) { _ = try confined.size(beyond) }
    expect("size of a link", file) { _ = try confined.size(path(file)) }
    expect("modified", file) { _ = try confined.modified(path(file)) }
    expect("permissions", file) { _ = try confined.permissions(path(file)) }
    expect("list", away) { _ = try confined.list(path(away)) }
    expect("open", away) { confined.close(try confined.open(beyond)) }
    expect("open a link", file) { confined.close(try confined.open(path(file))) }
    expect("write", away) { try confined.replace(path("\(away)/tablet/new"), mode: 0o644, contents: [9]) }
    expect("lock", "stick/SATCHEL/hub/nowhere") {
      confined.close(try confined.openLocked(path("stick/SATCHEL/hub/nowhere")))
    }
    expect("lock without rules", "stick/SATCHEL/hub/nowhere") {
      files.close(try files.openLocked(path("stick/SATCHEL/hub/nowhere")))
    }
    expect("make a folder", away) { try confined.makeDirectory(path("\(away)/new/folder"), mode: 0o755) }
    expect("move away", away) { try confined.rename(beyond, to: path("stick/taken")) }
    expect("move there", away) { try confined.rename(path("stick/SATCHEL/hub"), to: path("\(away)/hub")) }
    expect("sync", away) { try confined.syncDirectory(path(away)) }
    expect("restrict", away) { try confined.restrict(beyond, to: 0o600) }
    expect("remove", away) { try confined.remove(beyond) }
    expect("a link that has the name is replaced", "") {
      try confined.replace(path(file), mode: 0o644, contents: [7])
    }
    expect("a link is removed with its folder", "") {
      try link(path("stick/SATCHEL/hub/again"), path("beyond"))
      try confined.removeTree(path("stick/SATCHEL/hub"))
    }
    if try confined.kind(path(away)) != .link { broken.append("a link's own kind") }
    // A person names the root of the confined files, perhaps by a link. Without the rules, links are followed.
    let named = files.confined(below: path("way"))
    expect("the root", "") { _ = try named.list(path("way")) }
    expect("below the root", "way/SATCHEL/away") { _ = try named.list(path("way/SATCHEL/away")) }
    expect("without rules", "") { _ = try files.list(path("\(away)/tablet")) }
    let kept = try files.read(path("beyond/tablet/kept"), limit: 9)
    if try files.list(path("beyond")) != ["tablet"] || files.list(path("beyond/tablet")) != ["kept"]
      || kept != [1, 2, 3]
    {
      broken.append("something beyond the link was changed")
    }
    return broken
  }
}
