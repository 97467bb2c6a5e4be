import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelWorkspace

/// A hub and one device, which is enrolled and has no rows yet.
struct HubAndDeviceFixture: Story {
  let ground: WorkspaceFixture
  let hub: HubWorkspace
  let device: DeviceWorkspace

  /// The random numbers here are drawn in an order that golden bundles depend on.
  init(
    on ground: WorkspaceFixture, hub hubName: String, device deviceName: String, user: String, definition: [UInt8],
    schema: String
  ) throws {
    self.ground = ground
    hub = try ground.hub(hubName, definition: definition, schema: schema)
    _ = try hub.addUser(user, attributes: [])
    device = try DeviceWorkspace.create(
      ground.folder(deviceName), dataset: hub.configuration.dataset, name: deviceName, platform: ground.platform)
    try hub.admit(device, user: user)
  }

  /// The same on new ground, with a dataset of one table without rules.
  init(
    random: any RandomSource, clock: SetClock, hub: String, device: String, user: String, dataset: String,
    table: String, schema: String
  ) throws {
    try self.init(
      on: WorkspaceFixture(random: random, clock: clock), hub: hub, device: device, user: user,
      definition: Array(#"{ "dataset": "\#(dataset)", "version": 1, "tables": { "\#(table)": {} } }"#.utf8),
      schema: schema)
  }

  /// A bundle from the hub, copied out of its workspace.
  func emit(_ name: String, full: Bool = false, encryption: Encryption = .asTheDatasetSays) throws -> String {
    tick()
    return try copy(hub.emit(to: device.configuration.name, full: full, encryption: encryption).file, as: name)
  }

  /// A bundle from the device, copied out of its workspace.
  func export(_ name: String) throws -> String {
    tick()
    return try copy(device.export().file, as: name)
  }
}
