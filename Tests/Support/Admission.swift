import SatchelDevice
import SatchelHub

extension HubWorkspace {
  /// Enrols a device that was made beside the hub, and gives it the hub's key. A person does so if both machines are at
  /// hand.
  public func admit(_ device: DeviceWorkspace, user: String) throws {
    guard let incarnation = device.configuration.incarnation else { throw ToolFailure("the device has no incarnation") }
    _ = try enrol(
      device.configuration.id, name: device.configuration.name, user: user, key: device.keys.ownKey(),
      recipient: device.keys.recipient(), incarnation: incarnation)
    try device.keys.trust(keys.ownKey(), as: "hub")
  }
}
