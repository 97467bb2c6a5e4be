import SatchelCrypto
import SatchelPlatform

/// A hub and a device announce their next keys with a proof. A renamed device proves its former identity.
struct RotatedKeyFixture: PairStory {
  static let setting = HubAndDeviceFixture.Setting(
    hub: "mill", device: "raft", user: "ida", dataset: "locks", table: "gates",
    schema: "CREATE TABLE gates (id TEXT PRIMARY KEY, height REAL); INSERT INTO gates VALUES ('upper', 3.5)")

  let pair: HubAndDeviceFixture

  /// The announcements of new keys in both directions, and the request of the device under its second name.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    let (hubKey, deviceKey) = (try pair.hub.keys.ownKey(), try pair.device.keys.ownKey())
    _ = try pair.device.importBundle(pair.emit("first"))
    _ = try pair.hub.rotateKeys()
    _ = try pair.device.rotateKeys()
    try write("INSERT INTO gates VALUES ('lower', 2.25)", in: pair.device.folder)
    let changes = try pair.export("rotation")
    _ = try pair.hub.importBundle(changes)
    let delta = try pair.emit("announced")
    _ = try pair.device.importBundle(delta)
    let renewed = try pair.device.renew(name: "ferry")
    let request = folder("request.satchel")
    _ = try renewed.writeRequest(to: request)
    return [
      ("changes-proved-key", changes, deviceKey), ("scope-delta-proved-key", delta, hubKey),
      ("enrolment-proved", request, try renewed.keys.ownKey()),
    ]
  }
}
