import SatchelPlatform
import SatchelValues

/// The paths in a workspace: a folder that holds one replica.
public struct WorkspaceFolder: Sendable {
  public let root: String

  public init(_ root: String) { self.root = root }

  public var configuration: String { path("satchel.json") }
  public var keys: String { path("keys") }
  public var formerKeys: String { path("keys/former") }
  /// Bundles that this replica made and that a person has to carry.
  public var outbox: String { path("bundles/outbox") }
  /// Bundles that may have to be sent again.
  public var sent: String { path("bundles/sent") }
  /// Bundles that people put here for import.
  public var inbox: String { path("bundles/inbox") }
  /// Bundles that cannot be imported yet, for example bundles of a newer dataset version than the hub has.
  public var waiting: String { path("bundles/inbox/waiting") }
  /// Verified bundles that wait to be applied.
  public var staged: String { path("bundles/staged") }
  /// Refused files, with a reason beside each.
  public var quarantine: String { path("bundles/quarantine") }
  /// Imported bundles and a device's exports. A lost database can be rebuilt from them.
  public var archive: String { path("bundles/archive") }
  /// Bundles that are no longer valid, and copies of former databases. People read them, and devices use them for
  /// recovery.
  public var former: String { path("bundles/archive/former") }
  /// At a hub: the bundles that the hub made in its lost time, and that devices brought back.
  public var lost: String { path("bundles/archive/lost") }
  /// Attached files. Rows name them in the columns that the dataset marks.
  public var attached: String { path("files") }
  /// The copy of a tablet's database, while a command works on it.
  public var dock: String { path("dock") }
  public var lock: String { path(".satchel.lock") }

  public func path(_ name: String) -> String { Paths.join(root, name) }

  /// Whether Satchel may move `file`: whether the file is in `inbox` or in `waiting`.
  public func isForUs(_ file: String) -> Bool { [inbox, waiting].contains { Paths.parent(of: file) == $0 } }

  /// The path of a file in `keys`.
  /// - Parameters:
  ///   - name: the name of the key's owner.
  ///   - runMode: the suffix of the file name.
  public func key(_ name: String, _ runMode: String) -> String { Paths.join(keys, "\(name).\(runMode)") }

  /// The path of a bundle that this replica made: in `sent` if the file is only there, otherwise in the outbox.
  public func place(ofOutgoing name: String, _ files: any FileSystem) throws -> String {
    let kept = Paths.join(sent, name)
    let waiting = Paths.join(outbox, name)
    return try files.kind(waiting) == nil && files.kind(kept) != nil ? kept : waiting
  }

  /// Runs `body` while no other command works on this workspace. Before that, the remains of a killed command are
  /// removed, unless this is a dry run.
  ///
  /// After long work, the next command waits until apps have had time to write. The lock's file holds the end of that
  /// pause.
  public func locked<T: ~Copyable>(_ platform: Platform, _ runMode: RunMode, _ body: () throws -> T) throws -> T {
    let lock = try FileLock(path: lock, files: platform.files)
    let begin = WriteLockPacing.begin(after: try? lock.left(), platform.clock)
    try refuseLinks(platform.files)
    if runMode == .commit { try sweep(platform.files) }
    defer {
      // If the end of the pause cannot be written, an app only waits a little longer for its write.
      if let until = WriteLockPacing.end(ofWorkSince: begin, platform.clock) { try? lock.leave(until) }
    }
    return try withExtendedLifetime(lock, body)
  }

  /// Removes the temporary files of a killed command.
  public func sweep(_ files: any FileSystem) throws {
    for path in try leftovers(files) { try files.removeTree(path) }
  }

  /// The paths of the temporary files that a killed command left.
  func leftovers(_ files: any FileSystem) throws -> [String] {
    try places.flatMap { place in
      try files.kind(place) == .directory
        ? files.list(place).filter { $0.hasPrefix(HostFileSystem.temporaryPrefix) }
          .map { Paths.join(place, $0) }.filter { try !ArrivingFiles.isHeld($0, files) } : []
    }
  }

  /// All folders into which commands write files.
  var places: [String] {
    [
      root, path("bundles"), keys, formerKeys, outbox, sent, inbox, waiting, staged, quarantine, archive, former, lost,
      attached,
    ]
  }

  /// The folders below `bundles/` that every workspace has.
  var bundles: [String] { [outbox, sent, inbox, quarantine, archive] }

  func missingFolders(_ files: any FileSystem) throws -> [String] { try bundles.filter { try files.kind($0) == nil } }
}

/// The side of a workspace: hub or device.
public enum Role: String, Sendable {
  case device, hub

  /// The name of the side's command-line tool.
  public var tool: String { self == .hub ? "satchel-hub" : "satchel" }
}
