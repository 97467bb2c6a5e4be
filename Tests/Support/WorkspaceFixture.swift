import SatchelCrypto
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelWorkspace

/// A folder for workspaces, with a clock and random numbers that are the same in every run.
public struct WorkspaceFixture {
  public let folder: TemporaryFolder
  public let clock: SetClock
  public let platform: Platform

  public init(random: any RandomSource, clock: SetClock) throws {
    self.clock = clock
    folder = try TemporaryFolder()
    platform = Platform(files: HostFileSystem(), clock: clock, random: random)
  }

  /// Makes a hub over a new database in a folder of this name.
  public func hub(_ name: String, called: String? = nil, definition: [UInt8], schema: String) throws -> HubWorkspace {
    let root = try folder.folder(name)
    let database = Paths.join(root, "data.sqlite")
    try Database(path: database, mode: .create).execute(schema)
    return try HubWorkspace.create(
      root, definition: definition, database: database, name: called ?? name, platform: platform)
  }
}

/// A small history of a hub, in a folder of its own.
public protocol Story {
  var ground: WorkspaceFixture { get }
}

extension Story {
  public var folder: TemporaryFolder { ground.folder }
  public var clock: SetClock { ground.clock }
  public var platform: Platform { ground.platform }

  /// Advances the clock by one second.
  public func tick() { clock.advance(by: 1000) }

  /// Writes like an app without Satchel.
  public func write(_ sql: String, in folder: WorkspaceFolder) throws {
    tick()
    try Database(path: folder.path("data.sqlite"), mode: .readWrite).execute(sql)
  }

  /// Writes like an app while capture is off.
  func writeUnseen(_ sql: String, in folder: WorkspaceFolder) throws {
    let database = try Database(path: folder.path("data.sqlite"), mode: .readWrite)
    try database.withoutTriggers { try database.execute(sql) }
  }

  /// Copies a bundle out of its workspace, because a later command moves the bundle's file there.
  public func copy(_ path: String, as name: String) throws -> String {
    try platform.files.copy(path, to: folder("\(name).satchel"), mode: 0o644)
    return folder("\(name).satchel")
  }
}

/// A story with golden bundles.
protocol GoldenStory: Story {
  init(random: any RandomSource, clock: SetClock) throws

  func bundles() throws -> [(name: String, path: String, signer: PublicKey)]
}
