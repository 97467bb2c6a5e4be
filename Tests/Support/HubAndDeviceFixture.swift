import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelWorkspace

/// A hub and one device. The device is enrolled and has no rows yet.
struct HubAndDeviceFixture: Story {
  let ground: WorkspaceFixture
  let hub: HubWorkspace
  let device: DeviceWorkspace

  /// Golden bundles depend on the order in which the calls here draw random numbers.
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

  /// The names of the replicas, and a dataset of one table without rules.
  struct Setting {
    let hub: String
    let device: String
    let user: String
    let dataset: String
    let table: String
    let schema: String
  }

  init(_ setting: Setting, random: any RandomSource, clock: SetClock) throws {
    let definition = #"{ "dataset": "\#(setting.dataset)", "version": 1, "tables": { "\#(setting.table)": {} } }"#
    try self.init(
      on: WorkspaceFixture(random: random, clock: clock), hub: setting.hub, device: setting.device, user: setting.user,
      definition: Array(definition.utf8), schema: setting.schema)
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

/// A story of a hub and one device, with golden bundles.
protocol PairStory: GoldenStory {
  static var setting: HubAndDeviceFixture.Setting { get }
  var pair: HubAndDeviceFixture { get }

  init(pair: HubAndDeviceFixture)
}

extension PairStory {
  var ground: WorkspaceFixture { pair.ground }

  init(random: any RandomSource, clock: SetClock) throws {
    self.init(pair: try HubAndDeviceFixture(Self.setting, random: random, clock: clock))
  }
}
