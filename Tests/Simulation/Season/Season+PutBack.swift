import SatchelHub
import SatchelValues
import SatchelWorkspace
import SimulatedWorld
import TestSupport

/// A device's whole folder is put back from a backup. Sticks that the device wrote before come at any later time.
extension Season {
  /// The first call backs the folder up. The next call puts the folder back from this backup. Before that, the device
  /// exports all its work. The stick with this export comes later, and is not lost.
  func putBackFolder(of device: FieldDevice) throws {
    guard try device.app() != nil, !presence.isRestored else { return }
    let root = device.workspace.folder.root
    guard let backup = device.backup else {
      try device.app()?.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      device.closeApp()
      let place = world.root + "/backup-of-\(device.name)"
      if try files.kind(place) != nil { try files.removeTree(place) }
      world.copy(root, to: place)
      world.settle()
      device.backup = place
      say("\(device.name) is backed up")
      return
    }
    guard let parcel = try export(device) else { return }
    lateSticks.append(parcel)
    say("\(device.name) is put back from its backup, and \(parcel.name) is on the way")
    device.closeApp()
    (device.backup, device.copy) = (nil, nil)
    try files.removeTree(root)
    world.copy(backup, to: root)
    world.settle()
    wasPutBack.insert(device.name)
    tookEffect(.restoredFolder)
    // A day passes, because the times of bundles show which history is the present one.
    time.pass(days: 1)
  }

  /// Carries one of the late sticks to the hub.
  func carryLateStick(_ random: inout SplitMix64) throws {
    if lateSticks.isEmpty { return }
    try carryLate(lateSticks.remove(at: random.below(lateSticks.count)))
  }

  private func carryLate(_ stick: Parcel) throws {
    isStickLate = true
    tookEffect(.lateStick)
    defer { isStickLate = false }
    try deliver(stick)
  }

  /// Carries all late sticks that are still on their way.
  func carryLateSticks() throws {
    while let stick = lateSticks.popLast() { try carryLate(stick) }
  }

  /// The number of the history to which a bundle belongs, unless a late stick brought the bundle. The clocks of the
  /// device and of an earlier copy may differ, so the times do not always show which history is the present one.
  private func presentHistory(with parcel: Parcel) throws -> Int? {
    if isStickLate { return nil }
    let bytes = try files.read(parcel.path, limit: 1 << 26)
    return try hub.fork(of: parcel.from).histories.firstIndex { history in
      try history.exports.contains { try files.read($0.path, limit: 1 << 26) == bytes }
    }.map { $0 + 1 }
  }

  /// Settles a device that was put back. The operator knows that there is only one device, and that its user meant the
  /// deletions.
  func settlePutBack(_ parcel: Parcel) throws {
    let name = parcel.from
    unsettled[name] = (parcel, isStickLate)
    func settle(_ brake: BrakeDecision) throws -> RestoredDevice {
      let number = try presentHistory(with: parcel)
      let restored = try operating { try hub.continueRestored(name, with: number, brake) }
      guard let restored else { throw Wrong("the hub refuses bundles of \(name), and finds one history") }
      return restored
    }
    var restored = try settle(.withHistory)
    if restored.left.contains(where: { $0.refusal.reason == "brake" }) {
      say("the hub asks about a bundle of \(name)")
      restored = try settle(.accept)
    }
    if let left = restored.left.first { throw Wrong("a stick of \(name) cannot be merged: \(left.refusal)") }
    unsettled[name] = nil
    noteNews()
    say("the operator lets \(name) continue with history \(restored.present + 1), \(restored.imports.count) merged")
  }

  /// Settles a device again, with the same stick, if a fault stopped the operator. Returns false if none did.
  func settleAgain(_ name: String) throws -> Bool {
    guard let (stick, isLate) = unsettled[name] else { return false }
    say("the operator settles \(name) again")
    isStickLate = isLate
    defer { isStickLate = false }
    try settlePutBack(stick)
    return true
  }
}
