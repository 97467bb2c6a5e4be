import SatchelCrypto
import SatchelPlatform

/// A hub whose dataset has had three versions, and a device that has the first version.
struct VersionBundleFixture: GoldenStory {
  private let pair: HubAndDeviceFixture
  var ground: WorkspaceFixture { pair.ground }

  private static func definition(_ version: Int) -> [UInt8] {
    Array(#"{ "dataset": "versions", "version": \#(version), "tables": { "camps": {} } }"#.utf8)
  }

  init(random: any RandomSource, clock: SetClock) throws {
    pair = try HubAndDeviceFixture(
      on: WorkspaceFixture(random: random, clock: clock), hub: "lodge", device: "raft", user: "liv",
      definition: Self.definition(1),
      schema: "CREATE TABLE camps (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO camps VALUES (1, 'Oak'), (2, 'Elm')")
  }

  /// Bundles that bring a device over two versions: a delta and a full bundle.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    _ = try pair.device.importBundle(pair.emit("first"))
    tick()
    _ = try pair.hub.importBundle(pair.device.export().file)
    _ = try pair.hub.applyDataset(
      Self.definition(2),
      migration: Array(
        "ALTER TABLE camps ADD COLUMN \"h\u{f6}he\" REAL;\nUPDATE camps SET \"h\u{f6}he\" = 3.5 WHERE id = 2;\n".utf8))
    _ = try pair.hub.applyDataset(
      Self.definition(3), migration: Array("ALTER TABLE camps RENAME COLUMN name TO title;".utf8))
    let delta = try pair.emit("delta")
    let full = try pair.emit("full", full: true)
    let key = try pair.hub.keys.ownKey()
    return [("scope-delta-migrations", delta, key), ("scope-full-migrations", full, key)]
  }
}
