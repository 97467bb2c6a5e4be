import SatchelCrypto
import SatchelHub
import SatchelPlatform

/// A hub that is restored from a backup. Its device states which exports it made before.
struct FormerExportsFixture: PairStory {
  static let setting = HubAndDeviceFixture.Setting(
    hub: "wharf", device: "ferryman", user: "nia", dataset: "locks", table: "gates",
    schema: """
      CREATE TABLE gates (id INTEGER PRIMARY KEY, name TEXT);
      INSERT INTO gates VALUES (1, 'Upper'), (2, 'Lower');
      """)

  let pair: HubAndDeviceFixture

  /// The first export of the new epoch.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    let device = pair.device
    _ = try device.importBundle(pair.emit("first"))
    try write("UPDATE gates SET name = 'Upper gate' WHERE id = 1", in: device.folder)
    _ = try pair.hub.importBundle(pair.export("before"))
    _ = try pair.hub.backup(to: folder("backup.satchel"))
    tick()
    let root = folder("restored")
    _ = try HubRestore(platform: platform).restore(
      folder("backup.satchel"), into: root, keys: .folder(pair.hub.folder.keys), fingerprint: nil)
    let hub = try HubWorkspace.open(root, platform: platform)
    _ = try device.importBundle(copy(hub.emit(to: "ferryman").file, as: "full"))
    try write("UPDATE gates SET name = 'Lower gate' WHERE id = 2", in: device.folder)
    return [("changes-former-exports", try pair.export("after"), try device.keys.ownKey())]
  }
}
