import SatchelCrypto
import SatchelPlatform

/// Files that rows name. The hub and the device each make a new version of one file, and the device loses another file.
struct RewrittenFileFixture: GoldenStory {
  private let world: AttachedFixture
  var ground: WorkspaceFixture { world.ground }

  init(random: any RandomSource, clock: SetClock) throws {
    world = try AttachedFixture(on: WorkspaceFixture(random: random, clock: clock), hub: "glade", device: "lens")
  }

  /// Bundles of both directions with rewritten files, and with the request for the missing file.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    let (hub, device) = (world.pair.hub, world.pair.device)
    _ = try device.importBundle(world.bundles()[2].path)
    try world.put("new/ash.jpg", "ash, edited", in: device.folder)
    try platform.files.remove(Paths.join(device.folder.attached, "leaf.png"))
    let changes = try world.pair.export("changes-versions")
    _ = try hub.importBundle(changes)
    try world.put("new/ash again.jpg", "ash, by the hub", in: hub.folder)
    return [
      ("changes-versions", changes, try device.keys.ownKey()),
      ("scope-delta-versions", try world.pair.emit("scope-versions"), try hub.keys.ownKey()),
    ]
  }
}
