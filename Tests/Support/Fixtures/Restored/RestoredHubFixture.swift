import SatchelCrypto
import SatchelHub
import SatchelPlatform

/// A hub that is restored from a backup. Its device brings an emission of the lost time. Then the hub and the device
/// compare their rows.
struct RestoredHubFixture: GoldenStory {
  private let pair: HubAndDeviceFixture
  var ground: WorkspaceFixture { pair.ground }

  init(random: any RandomSource, clock: SetClock) throws {
    try self.init(random: random, clock: clock, hub: "quay")
  }

  init(random: any RandomSource, clock: SetClock, hub: String) throws {
    pair = try HubAndDeviceFixture(
      on: WorkspaceFixture(random: random, clock: clock), hub: hub, device: "launch", user: "pia",
      definition: Array(#"{ "dataset": "tides", "version": 1, "prove": "always", "tables": { "marks": {} } }"#.utf8),
      schema: """
        CREATE TABLE marks (id INTEGER PRIMARY KEY, name TEXT, height REAL);
        INSERT INTO marks VALUES (1, 'Pier', 3.5), (2, 'Lock', -0.5), (3, 'Mole', NULL);
        """)
  }

  /// The first emission of the new epoch, and the export that brings the lost emission. Then the hub's question about
  /// rows that differ, the device's answer, and an export after the device's app renamed a column.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    let device = pair.device
    _ = try device.importBundle(pair.emit("first"))
    _ = try pair.hub.backup(to: folder("backup.satchel"))
    try write("INSERT INTO marks VALUES (4, 'Weir', 7)", in: pair.hub.folder)
    let lost = try pair.emit("lost")
    _ = try device.importBundle(lost)
    let hub = try restored()
    func emit(_ name: String) throws -> String {
      tick()
      return try copy(hub.emit(to: "launch").file, as: name)
    }
    let full = try emit("full")
    _ = try device.importBundle(full)
    try write("UPDATE marks SET height = 3.75 WHERE id = 1", in: device.folder)
    let brings = try pair.export("brings")
    _ = try hub.importBundle(brings)
    _ = try hub.importBundle(lost)
    try writeUnseen("UPDATE marks SET name = 'Sluice' WHERE id = 2", in: device.folder)
    try write("UPDATE marks SET height = 5 WHERE id = 3", in: device.folder)
    _ = try hub.importBundle(pair.export("differs"))
    _ = try hub.compare("launch")
    let question = try emit("question")
    _ = try device.importBundle(question)
    let answer = try pair.export("answer")
    let rename = "ALTER TABLE marks RENAME COLUMN height TO metres; UPDATE marks SET metres = 4 WHERE id = 1"
    try write(rename, in: device.folder)
    _ = try device.repair()
    let renamed = try pair.export("renamed")
    let (hubKey, deviceKey) = (try hub.keys.ownKey(), try device.keys.ownKey())
    return [
      ("scope-full-former", full, hubKey), ("changes-brings", brings, deviceKey),
      ("scope-delta-compare", question, hubKey), ("changes-answers", answer, deviceKey),
      ("changes-renamed", renamed, deviceKey),
    ]
  }

  private func restored() throws -> HubWorkspace {
    tick()
    let root = folder("restored")
    _ = try HubRestore(platform: platform).restore(
      folder("backup.satchel"), into: root, keys: .folder(pair.hub.folder.keys), fingerprint: nil)
    return try HubWorkspace.open(root, platform: platform)
  }
}
