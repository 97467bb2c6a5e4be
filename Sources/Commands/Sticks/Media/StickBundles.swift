import SatchelBundle
import SatchelPlatform
import SatchelWorkspace

/// The files on the stick for one replica.
struct StickBundles {
  /// The paths of the bundles. The bundles of one sender are in the order of their numbers.
  var bundles: [String] = []
  /// Errors for links, devices and similar things in place of a bundle or a folder. None of these is opened.
  var refused: [PlatformError] = []
  /// The number of files without the name of a bundle.
  var strange = 0
  /// The number of bundles for another replica with the same name, such as the hub of another office.
  var forNamesakes = 0

  /// Runs `body`. If `body` meets a link in a path, the error is added to `refused`.
  mutating func refusing(_ body: (inout StickBundles) throws -> Void) throws {
    do { try body(&self) } catch let error as PlatformError {
      guard case .link = error else { throw error }
      refused.append(error)
    }
  }
}

extension Stick {
  /// The bundles for this replica in the stick's folder, and the bundles that `--to` put beside this folder.
  ///
  /// A hub's own bundles that devices bring back come first. They show which primary keys rows had when devices wrote
  /// about these rows.
  func bundles() throws -> StickBundles {
    let name = replica.name
    var found = StickBundles()
    for mine in layout.inboxes(of: name, dataset: replica.dataset) {
      try found.refusing { found in
        guard try hasFolder(mine) else { return }
        for sender in try files.list(mine) {
          try found.refusing { try look(into: Paths.join(mine, sender), &$0) }
        }
      }
    }
    let returned = found.bundles.filter { path in
      StickLayout.senders(of: Paths.parent(of: path)).contains { Paths.name(of: path).hasPart("-\(name)-\($0)-") }
    }
    let isReturned = Set(returned)
    found.bundles = returned + found.bundles.filter { !isReturned.contains($0) } + (try bundlesBeside())
    return found
  }

  /// Whether a path is in the stick's folder.
  func holds(_ path: String) -> Bool { path.utf8.starts(with: "\(layout.root)/".utf8) }

  /// The bundles for this replica that a person put beside the stick's folder. They stay there, because the person may
  /// keep bundles in that place.
  private func bundlesBeside() throws -> [String] {
    let (name, folder) = (replica.name, layout.folder)
    let named = try files.list(folder).filter { isBundleName($0) && BundleName.endsFor(name, $0) }
    return try ordered(named, in: folder).filter { path in
      guard try files.kind(path) == .file else { return false }
      // Another replica's name may end like this replica's name. If the bundle is encrypted for that replica, it cannot
      // be read here. If the file's name fits only this replica, the file is imported, and so refused with its reason.
      guard let manifest = manifest(of: path) else {
        return BundleName.fitsOnly(name, Paths.name(of: path), dataset: replica.dataset)
      }
      return manifest.to.name == name
    }
  }

  private func look(into folder: String, _ found: inout StickBundles) throws {
    guard try hasFolder(folder) else { return }
    let names = try files.list(folder).filter { $0.hasSuffix(".satchel") && !isAside($0) }
    found.strange += names.count { !isBundleName($0) }
    for path in ordered(names.filter(isBundleName), in: folder) {
      switch try files.kind(path) {
      case .file where isForNamesake(path): found.forNamesakes += 1
      case .file: found.bundles.append(path)
      case .link: found.refused.append(.link(path: path))
      case .directory: found.refused.append(.isADirectory(path: path))
      case .other: found.refused.append(.notAFile(path: path))
      case nil: continue
      }
    }
  }

  /// Whether a bundle says that it is for another replica, which has the same name as this replica.
  private func isForNamesake(_ path: String) -> Bool {
    // A request for enrolment is left out, because its device made it before it knew the hub.
    guard let manifest = manifest(of: path), manifest.kind != .enrolment else { return false }
    return manifest.to.name == replica.name && !isOfThisReplica(manifest)
  }

  /// The number of bundles on the stick that are neither from this replica nor for it.
  func countOfOthers() throws -> Int {
    guard try hasFolder(layout.root) else { return 0 }
    return try folders(in: layout.root).reduce(0) { count, folder in
      // `folder` belongs to a dataset. In the layout of earlier releases, it belongs to a receiver.
      let isOfDataset = Paths.name(of: folder) == replica.dataset
      return try count + others(to: folder) + folders(in: folder).reduce(0) { try $0 + others(to: $1, in: isOfDataset) }
    }
  }

  /// The number of bundles for one receiver that are not from or for this replica.
  /// - Parameter isOfDataset: whether the folder belongs to this replica's dataset, as far as is known.
  private func others(to receiver: String, in isOfDataset: Bool = true) throws -> Int {
    func isOwn(_ folder: String) -> Bool { isOfDataset && Paths.name(of: folder) == replica.name }
    if isOwn(receiver) { return 0 }
    return try folders(in: receiver).filter { !isOwn($0) }.reduce(0) { count, sender in
      try count + files.list(sender).count { $0.hasSuffix(".satchel") && !isAside($0) }
    }
  }

  func folders(in folder: String) throws -> [String] {
    try files.list(folder).map { Paths.join(folder, $0) }.filter { try files.kind($0) == .directory }
  }
}
