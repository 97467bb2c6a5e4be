import SatchelBundle
import SatchelCrypto
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelWorkspace

/// A hub and a device whose rows name files.
public final class AttachedWorld {
  public let folder: TemporaryFolder
  public let platform: Platform
  private let clock: SetClock
  private let hub: HubWorkspace
  private let device: DeviceWorkspace

  private static let definition = """
    { "dataset": "attached", "version": 1, "attachments": { "file": 1000, "bundle": 5000 },
      "tables": { "trees": { "attachments": ["photo", "leaf"] } } }

    """

  private let names: (hub: String, device: String)

  public init(
    random: any RandomSource = SeededRandom(3), clock: SetClock = SetClock(),
    names: (hub: String, device: String) = ("grove", "camera")
  ) throws {
    self.clock = clock
    self.names = names
    folder = try TemporaryFolder()
    platform = Platform(files: HostFileSystem(), clock: clock, random: random)
    let root = try folder.folder(names.hub)
    let database = Paths.join(root, "data.sqlite")
    try Database(path: database, mode: .create).execute(
      """
      CREATE TABLE trees (id INTEGER PRIMARY KEY, photo TEXT, leaf TEXT);
      INSERT INTO trees VALUES (1, 'old/oak.jpg', 'leaf.png'), (2, 'old/elm \u{e9}.jpg', NULL);
      """)
    hub = try HubWorkspace.create(
      root, definition: Array(Self.definition.utf8), database: database, name: names.hub, platform: platform)
    _ = try hub.addUser("ida", attributes: [])
    device = try DeviceWorkspace.create(folder(names.device), dataset: "attached", name: names.device, platform: platform)
    try hub.admit(device, user: "ida")
    try put("old/oak.jpg", "oak", in: hub.folder)
    try put("old/elm \u{e9}.jpg", "elm", in: hub.folder)
  }

  private func put(_ path: String, _ content: String, in workspace: WorkspaceFolder) throws {
    let place = Paths.join(workspace.attached, path)
    try platform.files.makeDirectory(Paths.parent(of: place), mode: 0o755)
    try platform.files.replace(place, mode: 0o644, contents: Array(content.utf8))
  }

  /// Carries a bundle out of its workspace, in which its file will move on.
  private func copy(_ path: String, as name: String) throws -> String {
    try platform.files.copy(path, to: folder("\(name).satchel"), mode: 0o644)
    return folder("\(name).satchel")
  }

  private func emit() throws -> String {
    clock.advance(by: 1000)
    return try hub.emit(to: names.device).file
  }

  /// Bundles of both ways with files, one content under two paths, and word of what came.
  public func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    let (hubKey, deviceKey) = (try hub.keys.ownKey(), try device.keys.ownKey())
    let full = try copy(emit(), as: "full")
    _ = try device.importBundle(full)
    for path in ["new/ash.jpg", "new/ash again.jpg"] { try put(path, "ash", in: device.folder) }
    clock.advance(by: 1000)
    try Database(path: device.folder.path("data.sqlite"), mode: .readWrite).execute(
      "INSERT INTO trees VALUES (3, 'new/ash.jpg', 'new/ash again.jpg')")
    clock.advance(by: 1000)
    let changes = try copy(device.export().file, as: "changes")
    _ = try hub.importBundle(changes)
    // It turns up after its row has gone.
    try put("leaf.png", "leaf", in: hub.folder)
    let delta = try copy(emit(), as: "delta")
    return [
      ("scope-full-attachments", full, hubKey), ("changes-attachments", changes, deviceKey),
      ("scope-delta-attachments", delta, hubKey),
    ]
  }

  /// Bundles of both ways with files that were written anew, and with word of one that is gone and is to come again.
  public func versions() throws -> [(name: String, path: String, signer: PublicKey)] {
    let delta = try bundles()[2].path
    _ = try device.importBundle(delta)
    try put("new/ash.jpg", "ash, edited", in: device.folder)
    try platform.files.remove(Paths.join(device.folder.attached, "leaf.png"))
    clock.advance(by: 1000)
    let changes = try copy(device.export().file, as: "changes-versions")
    _ = try hub.importBundle(changes)
    try put("new/ash again.jpg", "ash, by the hub", in: hub.folder)
    return [
      ("changes-versions", changes, try device.keys.ownKey()),
      ("scope-delta-versions", try copy(emit(), as: "scope-versions"), try hub.keys.ownKey()),
    ]
  }
}
