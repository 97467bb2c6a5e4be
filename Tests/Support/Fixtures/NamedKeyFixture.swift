import SatchelCrypto
import SatchelPlatform

/// A hub and a device with tables whose rows UNIQUE columns name. The INTEGER PRIMARY KEY is local on each side.
struct NamedKeyFixture: GoldenStory {
  private let pair: HubAndDeviceFixture
  var ground: WorkspaceFixture { pair.ground }

  private static let definition = """
    { "dataset": "names", "version": 1,
      "tables": { "trees": { "key": ["uuid"] }, "visits": { "key": ["tree", "day"] } } }

    """

  private static let schema = """
    CREATE TABLE trees (fid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, uuid TEXT NOT NULL UNIQUE, kind TEXT);
    CREATE TABLE visits (
      day TEXT NOT NULL, fid INTEGER PRIMARY KEY, tree TEXT NOT NULL REFERENCES trees (uuid), words TEXT,
      UNIQUE (tree, day));
    INSERT INTO trees VALUES (40, 'b1f0', 'oak'), (30, '07ce', 'elm'), (20, '5d2a', 'ash');
    INSERT INTO visits VALUES ('2026-05-01', 9, 'b1f0', 'in leaf'), ('2026-04-01', 11, 'b1f0', NULL);
    """

  init(random: any RandomSource, clock: SetClock) throws {
    pair = try HubAndDeviceFixture(
      on: WorkspaceFixture(random: random, clock: clock), hub: "arboretum", device: "stylus", user: "ida",
      definition: Array(Self.definition.utf8),
      schema: Self.schema)
  }

  /// A full bundle, a device's changes of each kind, and the hub's changes of each kind.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    let (hubKey, deviceKey) = (try pair.hub.keys.ownKey(), try pair.device.keys.ownKey())
    let full = try pair.emit("full")
    _ = try pair.device.importBundle(full)
    try write(
      """
      UPDATE trees SET fid = fid + 100; UPDATE trees SET kind = 'rowan' WHERE uuid = '5d2a';
      INSERT INTO trees (uuid, kind) VALUES ('e611', 'yew'); DELETE FROM visits WHERE day = '2026-04-01';
      UPDATE visits SET day = '2026-05-02', words = 'in full leaf'
      """, in: pair.device.folder)
    let changes = try pair.export("changes")
    _ = try pair.hub.importBundle(changes)
    try write(
      """
      UPDATE trees SET fid = -fid, kind = 'Elm' WHERE uuid = '07ce'; DELETE FROM visits; DELETE FROM trees WHERE uuid \
      = 'b1f0'
      """,
      in: pair.hub.folder)
    return [
      ("scope-full-names", full, hubKey), ("changes-names", changes, deviceKey),
      ("scope-delta-names", try pair.emit("delta"), hubKey),
    ]
  }
}
