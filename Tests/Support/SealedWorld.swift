import SatchelBundle
import SatchelCrypto
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A hub and a device that change their keys and keep strangers from reading along.
public final class SealedWorld {
  public let folder: TemporaryFolder
  public let platform: Platform
  private let clock: SetClock
  private let hub: HubWorkspace
  private let device: DeviceWorkspace

  /// The device's age identity, which opens what is encrypted here.
  public var identity: String { device.folder.key("own", "identity") }

  private static let definition = """
    { "dataset": "sealed", "version": 1, "tables": { "depots": {} } }

    """

  public init(random: any RandomSource = SeededRandom(3), clock: SetClock = SetClock()) throws {
    self.clock = clock
    folder = try TemporaryFolder()
    platform = Platform(files: HostFileSystem(), clock: clock, random: random)
    let root = try folder.folder("base")
    let database = Paths.join(root, "data.sqlite")
    try Database(path: database, mode: .create).execute(
      "CREATE TABLE depots (id TEXT PRIMARY KEY, food INTEGER, photo BLOB); INSERT INTO depots VALUES ('south', 12, x'00')")
    hub = try HubWorkspace.create(
      root, definition: Array(Self.definition.utf8), database: database, name: "base", platform: platform)
    _ = try hub.addUser("kim", attributes: [])
    device = try DeviceWorkspace.create(folder("sled"), dataset: "sealed", name: "sled", platform: platform)
    try hub.admit(device, user: "kim")
  }

  private func write(_ sql: String, in folder: WorkspaceFolder) throws {
    clock.advance(by: 1000)
    try Database(path: folder.path("data.sqlite"), mode: .readWrite).execute(sql)
  }

  private func emit(full: Bool = false, encryption: Encryption = .asTheDatasetSays) throws -> String {
    clock.advance(by: 1000)
    return try hub.emit(to: "sled", full: full, encryption: encryption).file
  }

  /// Carries a bundle out of its workspace, in which its file will move on.
  private func copy(_ path: String, as name: String) throws -> String {
    try platform.files.copy(path, to: folder("\(name).satchel"), mode: 0o644)
    return folder("\(name).satchel")
  }

  /// Encrypted bundles of both ways, volumes, and bundles that tell of new and of revoked keys.
  public func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    let (hubKey, deviceKey) = (try hub.keys.ownKey(), try device.keys.ownKey())
    let full = try copy(emit(encryption: .always), as: "full")
    _ = try device.importBundle(full)
    // What chance makes does not shrink: the volumes are as many in every run.
    let photo = Hexadecimal.text(of: SeededRandom(4).bytes(36 << 10))
    try write("INSERT INTO depots VALUES ('north', 7, x'\(photo)')", in: device.folder)
    clock.advance(by: 1000)
    let export = try device.export(encryption: .always)
    let volumes = try device.cut(export, size: 64 << 10, into: folder.folder("volumes"))
    let changes = try copy(export.file, as: "changes")
    _ = try hub.importBundle(changes)

    let lost = try DeviceWorkspace.create(folder("drone"), dataset: "sealed", name: "drone", platform: platform)
    try hub.admit(lost, user: "kim")
    _ = try hub.revoke("drone")
    _ = try hub.rotateKeys()
    let told = try copy(emit(full: true), as: "told")
    _ = try device.importBundle(told)
    _ = try device.rotateKeys()
    clock.advance(by: 1000)
    let rotation = try copy(device.export().file, as: "rotation")
    return [
      ("scope-full-encrypted", full, hubKey), ("changes-encrypted", changes, deviceKey), ("scope-full-new-keys", told, hubKey),
      ("changes-new-keys", rotation, deviceKey),
    ] + volumes.enumerated().map { ("volume-\($0 + 1)", $1, deviceKey) }
  }
}
