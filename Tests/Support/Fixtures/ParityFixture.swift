import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues

/// A device whose export is cut into volumes, with a parity volume that replaces any one lost volume.
struct ParityFixture: PairStory {
  static let setting = HubAndDeviceFixture.Setting(
    hub: "pass", device: "mule", user: "uma", dataset: "loads", table: "loads",
    schema: "CREATE TABLE loads (id TEXT PRIMARY KEY, photo BLOB); INSERT INTO loads VALUES ('first', x'00');")

  let pair: HubAndDeviceFixture

  /// A whole export, and its volumes.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    _ = try pair.device.importBundle(pair.emit("first"))
    // Random bytes cannot be compressed, so the number of volumes is the same in every run.
    let photo = Hexadecimal.text(of: SeededRandom(5).bytes(36 << 10))
    try write("INSERT INTO loads VALUES ('second', x'\(photo)')", in: pair.device.folder)
    tick()
    let export = try pair.device.export()
    let key = try pair.device.keys.ownKey()
    let whole = try copy(export.file, as: "changes")
    let volumes = try pair.device.cut(export, size: 64 << 10, parity: .volumes(1), into: folder.folder("volumes"))
    let names = (1..<volumes.count).map { "changes-parity-\($0)" } + ["changes-parity-p1"]
    return [("changes-parity", whole, key)] + zip(names, volumes).map { ($0, $1, key) }
  }
}
