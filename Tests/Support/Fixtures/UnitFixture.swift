import SatchelCrypto
import SatchelPlatform

/// A device moves a stock from one place to another. These changes are one unit, in the bundle and in the resulting
/// conflict.
struct UnitFixture: GoldenStory {
  private let pair: HubAndDeviceFixture
  var ground: WorkspaceFixture { pair.ground }

  init(random: any RandomSource, clock: SetClock) throws {
    pair = try HubAndDeviceFixture(
      on: WorkspaceFixture(random: random, clock: clock), hub: "weir", device: "cart", user: "ida",
      definition: Array(
        """
        { "dataset": "stocks", "version": 1,
          "tables": { "stock": { "unit": "transaction", "columns": { "quantity": "sum" } } } }
        """.utf8),
      schema: """
        CREATE TABLE stock (id INTEGER PRIMARY KEY, place TEXT, quantity INTEGER CHECK (quantity >= 0));
        INSERT INTO stock VALUES (1, 'depot', 10), (2, 'clinic', 0), (3, 'store', 4);
        """)
  }

  /// An export with a unit and a single change, and a delta about a unit that could not be applied.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    _ = try pair.device.importBundle(pair.emit("first"))
    try write(
      """
      INSERT INTO satchel_unit DEFAULT VALUES;
      UPDATE stock SET quantity = quantity - 8 WHERE id = 1;
      UPDATE stock SET quantity = quantity + 8 WHERE id = 2;
      INSERT INTO satchel_unit DEFAULT VALUES;
      UPDATE stock SET place = 'old store' WHERE id = 3;
      """, in: pair.device.folder)
    let changes = try pair.export("changes")
    try write("UPDATE stock SET quantity = quantity - 5 WHERE id = 1", in: pair.hub.folder)
    _ = try pair.hub.importBundle(changes)
    let delta = try pair.emit("delta")
    return [
      ("changes-units", changes, try pair.device.keys.ownKey()),
      ("scope-delta-units", delta, try pair.hub.keys.ownKey()),
    ]
  }
}
