import SatchelCrypto
import SatchelPlatform
import SatchelWorkspace

/// A hub and a device whose rows name files.
struct AttachedFixture: GoldenStory {
  let pair: HubAndDeviceFixture
  var ground: WorkspaceFixture { pair.ground }

  private static let definition = """
    { "dataset": "attached", "version": 1, "attachments": { "file": 1000, "bundle": 5000 },
      "tables": { "trees": { "attachments": ["photo", "leaf"] } } }

    """

  private static let schema = """
    CREATE TABLE trees (id INTEGER PRIMARY KEY, photo TEXT, leaf TEXT);
    INSERT INTO trees VALUES (1, 'old/oak.jpg', 'leaf.png'), (2, 'old/elm \u{e9}.jpg', NULL);
    """

  init(random: any RandomSource, clock: SetClock) throws {
    try self.init(on: WorkspaceFixture(random: random, clock: clock), hub: "grove", device: "camera")
  }

  init(on ground: WorkspaceFixture, hub: String, device: String) throws {
    pair = try HubAndDeviceFixture(
      on: ground, hub: hub, device: device, user: "ida", definition: Array(Self.definition.utf8), schema: Self.schema)
    try put("old/oak.jpg", "oak", in: pair.hub.folder)
    try put("old/elm \u{e9}.jpg", "elm", in: pair.hub.folder)
  }

  func put(_ path: String, _ content: String, in workspace: WorkspaceFolder) throws {
    let place = Paths.join(workspace.attached, path)
    try platform.files.makeDirectory(Paths.parent(of: place), mode: 0o755)
    try platform.files.replace(place, mode: 0o644, contents: Array(content.utf8))
  }

  /// Bundles of both directions with files, one content under two paths, and a receipt.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    let (hubKey, deviceKey) = (try pair.hub.keys.ownKey(), try pair.device.keys.ownKey())
    let full = try pair.emit("full")
    _ = try pair.device.importBundle(full)
    for path in ["new/ash.jpg", "new/ash again.jpg"] { try put(path, "ash", in: pair.device.folder) }
    try write("INSERT INTO trees VALUES (3, 'new/ash.jpg', 'new/ash again.jpg')", in: pair.device.folder)
    let changes = try pair.export("changes")
    _ = try pair.hub.importBundle(changes)
    // A row names this file, which comes to the hub only now.
    try put("leaf.png", "leaf", in: pair.hub.folder)
    let delta = try pair.emit("delta")
    return [
      ("scope-full-attachments", full, hubKey), ("changes-attachments", changes, deviceKey),
      ("scope-delta-attachments", delta, hubKey),
    ]
  }
}
