import SatchelCrypto
import SatchelPlatform

/// A hub that compares its device's rows with its own. With each line, the hub sends the versions that the row may have
/// on the device.
struct ProvedRowsFixture: GoldenStory {
  private let pair: HubAndDeviceFixture
  var ground: WorkspaceFixture { pair.ground }

  init(random: any RandomSource, clock: SetClock) throws {
    pair = try HubAndDeviceFixture(
      on: WorkspaceFixture(random: random, clock: clock), hub: "abbey", device: "skiff", user: "una",
      definition: Array(#"{ "dataset": "proofs", "version": 1, "prove": "always", "tables": { "wells": {} } }"#.utf8),
      schema: """
        CREATE TABLE wells (id INTEGER PRIMARY KEY, name TEXT, depth REAL);
        INSERT INTO wells VALUES (1, 'Oak', 3.5), (2, 'Elm', -0.0), (3, 'Fir', NULL), (4, 'Ash', 7);
        """)
  }

  /// An export with digests of the rows, and a delta with the versions of rows that the hub expects.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    _ = try pair.device.importBundle(pair.emit("first"))
    try write("UPDATE wells SET depth = 4.25 WHERE id = 1; DELETE FROM wells WHERE id = 4", in: pair.device.folder)
    let changes = try pair.export("changes")
    _ = try pair.hub.importBundle(changes)
    try write(
      """
      UPDATE wells SET name = 'Old Oak' WHERE id = 1;
      DELETE FROM wells WHERE id = 2;
      INSERT INTO wells VALUES (5, 'Yew', 1e999);
      """, in: pair.hub.folder)
    let delta = try pair.emit("delta")
    return [
      ("changes-state", changes, try pair.device.keys.ownKey()),
      ("scope-delta-unseen", delta, try pair.hub.keys.ownKey()),
    ]
  }
}
