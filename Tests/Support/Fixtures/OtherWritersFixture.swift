import SatchelCrypto
import SatchelDevice
import SatchelPlatform

/// A hub that does not know which of its last emissions the device has. The hub states which columns others wrote, and
/// which of these emissions lack the last write.
struct OtherWritersFixture: PairStory {
  static let setting = HubAndDeviceFixture.Setting(
    hub: "lighthouse", device: "gig", user: "kay", dataset: "wells", table: "wells",
    schema: """
      CREATE TABLE wells (id INTEGER PRIMARY KEY, depth REAL, water TEXT);
      INSERT INTO wells VALUES (1, 12.5, 'clear'), (2, 8, 'brown');
      """)

  let pair: HubAndDeviceFixture

  /// The second emission contains the first of two writes. The device may have the second emission, or only the first.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    let signer = try pair.hub.keys.ownKey()
    _ = try pair.device.importBundle(pair.emit("first"))
    _ = try pair.hub.importBundle(pair.export("thanks"))
    try write("UPDATE wells SET depth = 13 WHERE id = 1", in: pair.hub.folder)
    _ = try pair.emit("lost")
    try write("UPDATE wells SET water = 'brown' WHERE id = 1", in: pair.hub.folder)
    let delta = try pair.emit("news")
    return [
      ("scope-delta-others", delta, signer), ("scope-full-others", try pair.emit("whole", full: true), signer),
    ]
  }
}
