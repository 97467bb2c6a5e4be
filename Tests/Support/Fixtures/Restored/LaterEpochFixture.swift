import SatchelCrypto
import SatchelDevice
import SatchelHub

/// A device in the second epoch of its hub.
struct LaterEpochFixture: PairStory {
  static let setting = HubAndDeviceFixture.Setting(
    hub: "lodge", device: "canoe", user: "leo", dataset: "lakes", table: "lakes",
    schema: "CREATE TABLE lakes (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO lakes VALUES (1, 'Upper Lake')")

  let pair: HubAndDeviceFixture

  /// The device's export, which names the hub's first epoch.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    _ = try pair.device.importBundle(pair.emit("first"))
    tick()
    _ = try pair.hub.restoreInPlace()
    _ = try pair.device.importBundle(pair.emit("second"))
    try write("UPDATE lakes SET name = 'Lower Lake' WHERE id = 1", in: pair.device.folder)
    return [("changes-former", try pair.export("export"), try pair.device.keys.ownKey())]
  }
}
