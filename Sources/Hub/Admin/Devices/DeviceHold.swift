import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues

/// An operator's decision that nothing of a device is merged for now.
public struct DeviceHold: Sendable, Equatable {
  /// In milliseconds since 1970.
  public let since: Int64
  /// The reason, in the operator's words. nil if the operator gave none.
  public let note: String?

  /// The note in parentheses, after a space. Empty if there is none.
  public var noteWords: String { note.map { " (\($0))" } ?? "" }
}

extension HubWorkspace {
  /// Puts a device on hold. Its bundles are still verified, but they wait here and are not merged. The hub makes
  /// bundles for the device as before. If the device is on hold already, only the note changes.
  /// - Parameter note: the reason, for people. nil: the present note stays, if there is one.
  public func hold(_ name: String, note: String?) throws -> EnrolledDevice {
    let now = platform.clock.milliseconds()
    return try changing { store in
      guard var device = try store.device(named: name) else { throw Self.noDevice(name) }
      try device.refuseRevoked()
      device.hold = DeviceHold(since: device.hold?.since ?? now, note: note ?? device.hold?.note)
      try store.save(device)
      return device
    }
  }

  /// Ends the hold of a device. The next import merges the bundles that wait.
  public func release(_ name: String) throws -> EnrolledDevice {
    try changing { store in
      guard var device = try store.device(named: name) else { throw Self.noDevice(name) }
      guard device.hold != nil else { throw WorkspaceError(.notOnHold, "The device \(name) is not on hold.") }
      device.hold = nil
      try store.save(device)
      return device
    }
  }

  /// Throws a `Refusal` if the bundle's device is on hold, and the bundle then waits here. Does not throw for a bundle
  /// that was merged already, because it changes nothing.
  func refuseOnHold(_ manifest: Manifest, _ digest: Digest, _ store: HubStore) throws {
    guard let device = try store.device(manifest.from.id), let hold = device.hold,
      try !isTaken(manifest, digest, store)
    else { return }
    throw Refusal(
      .onHold, "The device \(device.name) is on hold\(hold.noteWords), so its bundles wait.",
      hint: "To merge what came from it: satchel-hub device release \(device.name)", keeping: .waiting)
  }
}

extension EnrolledDevice {
  /// Throws a `WorkspaceError` if the device is on hold. Commands that merge the device's bundles call this first.
  func refuseOnHold() throws {
    if hold == nil { return }
    throw WorkspaceError(
      .onHold, "The device \(name) is on hold, so nothing of it is merged.",
      hint: "First release it: satchel-hub device release \(name)")
  }
}
