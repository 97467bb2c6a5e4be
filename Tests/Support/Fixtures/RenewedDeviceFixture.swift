import SatchelBundle
import SatchelCrypto
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelWorkspace

/// A hub that is restored from a backup, and a device that has a new name since. The hub has lost an export of the
/// device. The device signs this export again, under its new name.
struct RenewedDeviceFixture: PairStory {
  static let setting = HubAndDeviceFixture.Setting(
    hub: "dock", device: "tug", user: "kim", dataset: "ropes", table: "coils",
    schema: "CREATE TABLE coils (id TEXT PRIMARY KEY, metres REAL); INSERT INTO coils VALUES ('hemp', 40.5)")

  let pair: HubAndDeviceFixture

  /// The lost export, signed again.
  func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    _ = try pair.device.importBundle(pair.emit("first"))
    _ = try pair.hub.backup(to: folder("backup.satchel"))
    try write("INSERT INTO coils VALUES ('wire', 120); DELETE FROM coils WHERE id = 'hemp'", in: pair.device.folder)
    _ = try pair.hub.importBundle(pair.export("lost"))
    _ = try pair.device.importBundle(pair.emit("received"))
    tick()
    let root = folder("restored")
    _ = try HubRestore(platform: platform).restore(
      folder("backup.satchel"), into: root, keys: .folder(pair.hub.folder.keys), fingerprint: nil)
    let hub = try HubWorkspace.open(root, platform: platform)
    _ = try hub.revoke("tug")
    let renewed = try pair.device.renew(name: "barge")
    try enrol(renewed, at: hub)
    tick()
    _ = try renewed.importBundle(hub.emit(to: "barge").file)
    let name = try platform.files.list(renewed.folder.outbox).filter { $0.hasSuffix("-1.satchel") }
    guard name.count == 1 else { throw ToolFailure("the lost export was not signed again: \(name)") }
    return [
      ("changes-original", Paths.join(renewed.folder.outbox, name[0]), try renewed.keys.ownKey())
    ]
  }

  /// The former device is revoked, so its key proves nothing. The operator says that the request is true.
  private func enrol(_ device: DeviceWorkspace, at hub: HubWorkspace) throws {
    let path = folder("request.satchel")
    _ = try device.writeRequest(to: path)
    let request = try hub.readRequest(path)
    _ = try hub.enrol(
      request.manifest.from.id, name: "barge", user: "kim", key: request.enrolment.key,
      recipient: request.manifest.recipient, incarnation: request.enrolment.incarnation,
      continuing: request.enrolment.continues, trusting: .named("tug"))
  }
}
