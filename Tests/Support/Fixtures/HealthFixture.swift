import SatchelCrypto
import SatchelDevice
import SatchelHub
import SatchelPlatform

/// A device that reports its health after its doctor has run.
struct HealthFixture: PairStory {
  static let setting = HubAndDeviceFixture.Setting(
    hub: "kiln", device: "barrow", user: "ira", dataset: "pots", table: "glazes",
    schema: "CREATE TABLE glazes (id TEXT PRIMARY KEY, degrees REAL); INSERT INTO glazes VALUES ('ash', 1260.5)")

  let pair: HubAndDeviceFixture

  /// An export that the device makes after its doctor found nothing.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    let device = pair.device
    _ = try device.importBundle(pair.emit("first"))
    try write("INSERT INTO glazes VALUES ('salt', 1300)", in: device.folder)
    try device.record(device.examine())
    return [("changes-health", try pair.export("health"), try device.keys.ownKey())]
  }
}
