import SatchelCrypto
import SatchelPlatform

/// A hub and a device whose apps make the same primary keys.
struct NewKeyFixture: GoldenStory {
  private let pair: HubAndDeviceFixture
  var ground: WorkspaceFixture { pair.ground }

  private static let definition = """
    { "dataset": "keys", "version": 1,
      "tables": {
        "camps": { "keys": "rekey" }, "reviews": { "keys": "rekey" },
        "visits": { "keys": "blocks", "block": 100 } } }

    """

  private static let schema = """
    CREATE TABLE camps (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE reviews (id INTEGER PRIMARY KEY, camp INTEGER REFERENCES camps (id), words TEXT);
    CREATE TABLE visits (id INTEGER PRIMARY KEY AUTOINCREMENT, camp INTEGER REFERENCES camps (id));
    INSERT INTO camps VALUES (1, 'Oak');
    """

  init(random: any RandomSource, clock: SetClock) throws {
    pair = try HubAndDeviceFixture(
      on: WorkspaceFixture(random: random, clock: clock), hub: "office", device: "phone", user: "ben",
      definition: Array(Self.definition.utf8),
      schema: Self.schema)
  }

  /// Bundles about primary keys: a full bundle that gives key blocks, an export that reports the device's new keys, and
  /// the hub's bundles that report new keys.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    let (hubKey, deviceKey) = (try pair.hub.keys.ownKey(), try pair.device.keys.ownKey())
    _ = try pair.device.importBundle(pair.emit("first"))
    // The hub and the device each make a camp 2 with a review 1. The device then imports a bundle that the hub made
    // before it received the device's export.
    try write("INSERT INTO camps VALUES (2, 'Elm'); INSERT INTO reviews VALUES (1, 2, 'tall')", in: pair.hub.folder)
    let late = try pair.emit("late")
    try write(
      """
      INSERT INTO camps VALUES (2, 'Ash'); INSERT INTO reviews VALUES (1, 2, 'wide'); INSERT INTO visits (camp) \
      VALUES (2)
      """,
      in: pair.device.folder)
    try write("INSERT INTO camps VALUES (3, 'Yew')", in: pair.hub.folder)
    _ = try pair.hub.importBundle(pair.export("early"))
    _ = try pair.device.importBundle(late)
    try write("UPDATE camps SET name = 'Old Ash' WHERE name = 'Ash'", in: pair.device.folder)
    let changes = try pair.export("changes")
    _ = try pair.hub.importBundle(changes)
    try write("INSERT INTO visits (camp) VALUES (1)", in: pair.hub.folder)
    let delta = try pair.emit("delta")
    let full = try pair.emit("full", full: true)
    return [
      ("changes-keys", changes, deviceKey), ("scope-delta-keys", delta, hubKey), ("scope-full-keys", full, hubKey),
    ]
  }
}
