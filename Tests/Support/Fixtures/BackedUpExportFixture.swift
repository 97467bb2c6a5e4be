import SatchelCrypto
import SatchelDevice
import SatchelPlatform

/// A hub makes a backup. Its next bundle says which of the device's exports the backup contains.
struct BackedUpExportFixture: PairStory {
  static let setting = HubAndDeviceFixture.Setting(
    hub: "vault", device: "runner", user: "ida", dataset: "wells", table: "wells",
    schema: """
      CREATE TABLE wells (id INTEGER PRIMARY KEY, depth REAL);
      INSERT INTO wells VALUES (1, 12.5), (2, 8);
      """)

  let pair: HubAndDeviceFixture

  /// The hub has merged two exports. Its backup contains the first one.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    let device = pair.device
    _ = try device.importBundle(pair.emit("first"))
    try write("UPDATE wells SET depth = 13 WHERE id = 1", in: device.folder)
    _ = try pair.hub.importBundle(pair.export("before"))
    _ = try pair.hub.backup(to: folder("backup.satchel"))
    tick()
    try write("UPDATE wells SET depth = 9 WHERE id = 2", in: device.folder)
    _ = try pair.hub.importBundle(pair.export("after"))
    return [("scope-delta-backed-up", try pair.emit("news"), try pair.hub.keys.ownKey())]
  }
}
