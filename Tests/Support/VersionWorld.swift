import SatchelBundle
import SatchelCrypto
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelWorkspace

/// A hub whose dataset went through three versions, and a device that knows the first.
public final class VersionWorld {
  public let folder: TemporaryFolder
  public let platform: Platform
  private let clock: SetClock
  private let hub: HubWorkspace
  private let device: DeviceWorkspace

  private static func definition(_ version: Int) -> [UInt8] {
    Array(#"{ "dataset": "versions", "version": \#(version), "tables": { "camps": {} } }"#.utf8)
  }

  public init(random: any RandomSource = SeededRandom(3), clock: SetClock = SetClock()) throws {
    self.clock = clock
    folder = try TemporaryFolder()
    platform = Platform(files: HostFileSystem(), clock: clock, random: random)
    let root = try folder.folder("lodge")
    let database = Paths.join(root, "data.sqlite")
    try Database(path: database, mode: .create).execute(
      "CREATE TABLE camps (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO camps VALUES (1, 'Oak'), (2, 'Elm')")
    hub = try HubWorkspace.create(
      root, definition: Self.definition(1), database: database, name: "lodge", platform: platform)
    _ = try hub.addUser("liv", attributes: [])
    device = try DeviceWorkspace.create(folder("raft"), dataset: "versions", name: "raft", platform: platform)
    try hub.admit(device, user: "liv")
  }

  private func emit(full: Bool = false) throws -> String {
    clock.advance(by: 1000)
    return try hub.emit(to: "raft", full: full).file
  }

  /// Bundles that bring a device over two versions: a delta and a full one.
  public func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    _ = try device.importBundle(copy(emit(), as: "first"))
    clock.advance(by: 1000)
    _ = try hub.importBundle(device.export().file)
    _ = try hub.applyDataset(
      Self.definition(2),
      migration: Array(
        "ALTER TABLE camps ADD COLUMN \"h\u{f6}he\" REAL;\nUPDATE camps SET \"h\u{f6}he\" = 3.5 WHERE id = 2;\n".utf8))
    _ = try hub.applyDataset(Self.definition(3), migration: Array("ALTER TABLE camps RENAME COLUMN name TO title;".utf8))
    let delta = try copy(emit(), as: "delta")
    let full = try copy(emit(full: true), as: "full")
    let key = try hub.keys.ownKey()
    return [("scope-delta-migrations", delta, key), ("scope-full-migrations", full, key)]
  }

  /// Carries a bundle out of its workspace, in which its file will move on.
  private func copy(_ path: String, as name: String) throws -> String {
    try platform.files.copy(path, to: folder("\(name).satchel"), mode: 0o644)
    return folder("\(name).satchel")
  }
}
