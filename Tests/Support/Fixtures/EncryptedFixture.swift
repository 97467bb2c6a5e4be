import SatchelCrypto
import SatchelDevice
import SatchelPlatform
import SatchelValues

/// A hub and a device that change their keys and encrypt their bundles.
struct EncryptedFixture: GoldenStory {
  private let pair: HubAndDeviceFixture
  var ground: WorkspaceFixture { pair.ground }

  /// The device's age identity, which opens the encrypted bundles.
  var identity: String { pair.device.folder.key("own", "identity") }

  private static let definition = """
    { "dataset": "sealed", "version": 1, "tables": { "depots": {} } }

    """

  private static let schema = """
    CREATE TABLE depots (id TEXT PRIMARY KEY, food INTEGER, photo BLOB);
    INSERT INTO depots VALUES ('south', 12, x'00');
    """

  init(random: any RandomSource, clock: SetClock) throws {
    pair = try HubAndDeviceFixture(
      on: WorkspaceFixture(random: random, clock: clock), hub: "base", device: "sled", user: "kim",
      definition: Array(Self.definition.utf8),
      schema: Self.schema)
  }

  /// Encrypted bundles of both directions, volumes, and bundles about new and revoked keys.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    let (hubKey, deviceKey) = (try pair.hub.keys.ownKey(), try pair.device.keys.ownKey())
    let full = try pair.emit("full", encryption: .always)
    _ = try pair.device.importBundle(full)
    // Random bytes cannot be compressed, so the number of volumes is the same in every run.
    let photo = Hexadecimal.text(of: SeededRandom(4).bytes(36 << 10))
    try write("INSERT INTO depots VALUES ('north', 7, x'\(photo)')", in: pair.device.folder)
    tick()
    let export = try pair.device.export(encryption: .always)
    let volumes = try pair.device.cut(export, size: 64 << 10, into: folder.folder("volumes"))
    let changes = try copy(export.file, as: "changes")
    _ = try pair.hub.importBundle(changes)

    let lost = try DeviceWorkspace.create(folder("drone"), dataset: "sealed", name: "drone", platform: platform)
    try pair.hub.admit(lost, user: "kim")
    _ = try pair.hub.revoke("drone")
    _ = try pair.hub.rotateKeys()
    let told = try pair.emit("told", full: true)
    _ = try pair.device.importBundle(told)
    _ = try pair.device.rotateKeys()
    let rotation = try pair.export("rotation")
    return [
      ("scope-full-encrypted", full, hubKey), ("changes-encrypted", changes, deviceKey),
      ("scope-full-new-keys", told, hubKey),
      ("changes-new-keys", rotation, deviceKey),
    ] + volumes.enumerated().map { ("volume-\($0 + 1)", $1, deviceKey) }
  }
}
