import SatchelBundle
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace
import TestSupport

/// A hub that is lost with all of its backups.
extension Season {
  /// Opens a new hub. It begins with empty tables, and the devices bring their rows.
  func openNewHub() throws {
    for device in devices where try device.app()?.version() != rules.version { try deliver(try emit(to: device)) }
    // A hub that was put back, or that waits for a device, may be unable to bring a device up to date.
    guard try devices.allSatisfy({ try $0.app()?.version() == rules.version }) else { return }
    try remember()
    try seeToClock()
    let schema = try admin().database.all(
      "SELECT sql FROM sqlite_schema WHERE name IN ('sites', 'visits', 'counters') AND type = 'table' ORDER BY name"
    ) { $0.text(0) }
    closeAll()
    openings += 1
    let root = hub.folder.root
    try files.removeTree(root)
    try files.makeDirectory(root, mode: 0o755)
    try make(root + "/field.sqlite", schema)
    hub = try HubWorkspace.create(
      root, definition: Array(rules.definition.utf8), database: root + "/field.sqlite",
      platform: Platform(files: files, clock: hubClock, random: SeededRandom(seed ^ UInt64(openings) << 48)))
    say("the hub is lost, and a new one takes its place")
    epochOfNewHub = try effective.contains(.newHub) ? nil : hub.status().epoch
    tookEffect(.newHub)
    forgetFormerHub()
    try restoreRights()
    for device in devices {
      device.copy = nil
      let former = device.workspace.configuration.id.text
      device.workspace = try device.workspace.leaveHub(name: nil).workspace
      overwritten.rename(former, to: device.workspace.configuration.id.text)
      try hub.admit(device.workspace, user: user(of: device.index))
      // The device gets this bundle before the new hub changes to another version.
      try deliver(emit(to: device))
      // The workspace is opened again, so that it has the device's new identity.
      device.closeApp()
      let platform = Platform(
        files: files, clock: PassingClock(time),
        random: SeededRandom(seed ^ UInt64(openings) ^ UInt64(device.index + 1) << 32))
      device.workspace = try DeviceWorkspace.open(device.workspace.folder.root, platform: platform)
    }
  }

  /// Records the values that the new hub may lack. Only the lost hub and its copy had the values that others overwrote.
  /// Decided conflicts are not brought to the new hub. Neither are changes that a thief acknowledged, because the
  /// exports with them are put aside.
  private func remember() throws {
    remembered.formUnion(try admin().logged().union(loggedByCopy))
    for device in devices where misled.contains(device.name) { remembered.formUnion(device.duty.values) }
    let decided = try devices.flatMap { try $0.workspace.conflicts([.settled, .resolved]) }
    for conflict in try hub.conflicts(ConflictState.allCases) + decided {
      for case .text(let bytes) in (conflict.record.deviceValues ?? []).map(\.value) {
        remembered.insert(String(decoding: bytes, as: UTF8.self))
      }
    }
  }

  /// Checks that no policy decides between counters or sets that devices bring to a new hub. Nothing shows which parts
  /// of them are the same. So a value would be lost, and no person would be asked. In a later epoch, stamps decide
  /// about them.
  func checkCountersOfNewHub() throws {
    guard let epoch = epochOfNewHub, try hub.status().epoch == epoch else { return }
    let found = try hub.conflicts([.settled]) + devices.flatMap { try $0.workspace.conflicts([.settled]) }
    for record in found.map(\.record) where record.table.text == "counters" && record.kind == .insertInsert {
      for theirs in record.hubValues ?? [] {
        guard let own = record.deviceValues?.first(where: { $0.name == theirs.name }), own.value != theirs.value else {
          continue
        }
        throw Wrong("a policy decided about \(theirs.name) of \(Self.row(of: record)), which two devices brought")
      }
    }
  }

  private func forgetFormerHub() {
    (backup, hubCopy) = (nil, nil)
    (mail, everMade, contents) = ([], [], [:])
    presence = .afterRestore
    bringsFalse = bringsFalse || hasNewKey
    // Devices that still have a deleted row bring it to the new hub.
    deleters = [:]
    (isHubInDoubt, hasNewKey) = (false, false)
    tally.loseHub()
  }
}
