import SatchelPlatform
import SatchelValues

/// Where things lie in a workspace: a folder that holds one replica.
public struct WorkspaceFolder: Sendable {
  public let root: String

  public init(_ root: String) { self.root = root }

  public var configuration: String { path("satchel.json") }
  public var keys: String { path("keys") }
  public var formerKeys: String { path("keys/former") }
  /// Written here, to be carried.
  public var outbox: String { path("bundles/outbox") }
  /// Kept for re-delivery.
  public var sent: String { path("bundles/sent") }
  /// Dropped here, to be imported.
  public var inbox: String { path("bundles/inbox") }
  /// Of a newer version of the dataset than the hub's: they wait until it has that.
  public var waiting: String { path("bundles/inbox/waiting") }
  /// Verified, and waiting to be applied.
  public var staged: String { path("bundles/staged") }
  /// Refused, with a reason beside each.
  public var quarantine: String { path("bundles/quarantine") }
  /// What was imported here, and what a device sent: what was known last can be put together from it.
  public var archive: String { path("bundles/archive") }
  /// At a hub: bundles of its own of the time that it lost, which devices brought.
  public var lost: String { path("bundles/archive/lost") }
  /// The files that rows name, in columns that the dataset marks.
  public var attached: String { path("files") }
  public var lock: String { path(".satchel.lock") }

  public func path(_ name: String) -> String { Paths.join(root, name) }

  /// Whether a file lies where it is ours to move: in the inbox, or waiting there.
  public func isForUs(_ file: String) -> Bool { [inbox, waiting].contains { Paths.parent(of: file) == $0 } }

  /// A key's file: of whom, and which half of what.
  public func key(_ name: String, _ ending: String) -> String { Paths.join(keys, "\(name).\(ending)") }

  /// Where a bundle that was made here lies: in the outbox, or among those that need no carrying any more.
  public func place(ofOutgoing name: String, _ files: any FileSystem) throws -> String {
    let kept = Paths.join(sent, name)
    let waiting = Paths.join(outbox, name)
    return try files.kind(waiting) == nil && files.kind(kept) != nil ? kept : waiting
  }

  /// Runs `body` while no other command of ours works on this workspace. What a command that was killed left lying half
  /// done goes first, unless nothing is to be changed. After long work the next command gives apps their turn: until
  /// when, stands in the lock's file.
  public func locked<T: ~Copyable>(_ platform: Platform, _ ending: Ending, _ body: () throws -> T) throws -> T {
    let lock = try FileLock(path: lock, files: platform.files)
    let begin = Turns.begin(after: try? lock.left(), platform.clock)
    try refuseLinks(platform.files)
    if ending == .keep { try sweep(platform.files) }
    defer {
      // Where this cannot be written, an app waits a little longer.
      if let until = Turns.end(ofWorkSince: begin, platform.clock) { try? lock.leave(until) }
    }
    return try withExtendedLifetime(lock, body)
  }

  /// Takes away what a command that was killed left lying half done.
  public func sweep(_ files: any FileSystem) throws {
    for path in try leftovers(files) { try files.removeTree(path) }
  }

  /// What a command that was killed left lying half done.
  func leftovers(_ files: any FileSystem) throws -> [String] {
    try [root, keys, formerKeys, outbox, sent, inbox, waiting, staged, quarantine, archive, lost, attached].flatMap {
      place in
      try files.kind(place) == .directory
        ? files.list(place).filter { $0.hasPrefix(HostFileSystem.temporaryPrefix) }
          .map { Paths.join(place, $0) }.filter { try !ArrivingFiles.isHeld($0, files) } : []
    }
  }

  /// Those for bundles that every workspace has.
  var bundles: [String] { [outbox, sent, inbox, quarantine, archive] }

  func missingFolders(_ files: any FileSystem) throws -> [String] { try bundles.filter { try files.kind($0) == nil } }
}

/// Which side of the stick a workspace is on.
public enum Role: String, Sendable {
  case device, hub
}
