import SatchelCrypto
import SatchelPlatform

/// A device and an office that write the same rows, so that the changes of the device meet every kind of conflict.
struct ConflictKindsFixture: GoldenStory {
  private let pair: HubAndDeviceFixture
  var ground: WorkspaceFixture { pair.ground }

  private static let definition = """
    { "dataset": "gardens", "version": 1,
      "tables": {
        "beds": { "visible": "keeper IN (:user, 'all')", "write": "keeper = :user" },
        "plants": { "parents": ["beds"] } } }

    """

  private static let schema = """
    CREATE TABLE beds (id TEXT PRIMARY KEY, name TEXT UNIQUE, keeper TEXT NOT NULL, remark TEXT);
    CREATE TABLE plants (id TEXT PRIMARY KEY, bed TEXT NOT NULL REFERENCES beds (id), kind TEXT);
    INSERT INTO beds VALUES
      ('b1', 'East', 'ida', NULL), ('b2', 'West', 'ida', NULL), ('b3', 'Pond', 'ida', 'wet'), ('b4', 'Wall', 'ida', ''),
      ('b5', 'Gate', 'all', NULL), ('b6', 'Yard', 'ida', 'dry');
    """

  init(random: any RandomSource, clock: SetClock) throws {
    pair = try HubAndDeviceFixture(
      on: WorkspaceFixture(random: random, clock: clock), hub: "manor", device: "trowel", user: "ida",
      definition: Array(Self.definition.utf8), schema: Self.schema)
  }

  /// The hub's lines about one conflict of each kind that its merge can find.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    _ = try pair.device.importBundle(pair.emit("first"))
    try write(
      """
      DELETE FROM beds WHERE id = 'b1';
      INSERT INTO plants VALUES ('p1', 'b2', 'fern');
      UPDATE beds SET remark = 'deep' WHERE id = 'b3';
      UPDATE beds SET remark = 'warm' WHERE id = 'b4';
      UPDATE beds SET remark = 'open' WHERE id = 'b5';
      UPDATE beds SET remark = 'swept' WHERE id = 'b6';
      INSERT INTO beds VALUES ('b7', 'Hill', 'ida', 'new'), ('b8', 'Lane', 'ida', NULL);
      """, in: pair.device.folder)
    try write(
      """
      UPDATE beds SET remark = 'sunny' WHERE id = 'b1';
      DELETE FROM beds WHERE id IN ('b2', 'b4');
      UPDATE beds SET keeper = 'eve' WHERE id = 'b3';
      UPDATE beds SET remark = 'paved' WHERE id = 'b6';
      INSERT INTO beds VALUES ('b7', 'Field', 'ida', 'old'), ('b9', 'Lane', 'ida', 'narrow');
      """, in: pair.hub.folder)
    _ = try pair.hub.importBundle(pair.export("changes"))
    return [("scope-delta-conflicts", try pair.emit("conflicts"), try pair.hub.keys.ownKey())]
  }
}
