import SatchelBundle
import SatchelCapture
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Refuses a bundle if the hub's time in it is far ahead of all times that a device knows. One of the two clocks is
/// wrong.
///
/// After an import, the device's stamps continue from the hub's stamps, and never go back. So a person must first look
/// at the clocks. A confirmed fingerprint of the hub's key does not replace this, because it says nothing about the
/// clocks.
private enum TimeJump {
  /// How far a hub's time may be ahead of the newest time that a device knows, in milliseconds. A hub may be out of use
  /// for that long.
  static let longest: Int64 = 180 * 86_400_000
  /// 2025, before Satchel's first release, in milliseconds since 1970. A clock that shows an earlier time is not set,
  /// for example because its battery is empty. Such a clock shows nothing about the hub's clock.
  static let earliest: Int64 = 1_735_689_600_000

  /// Throws a `Refusal` if the time of a bundle is too far ahead.
  /// - Parameter newest: the newest stamp that the device knows.
  static func refuse(_ manifest: Manifest, after newest: @autoclosure () throws -> Stamp, _ clock: any WallClock) throws
  {
    let now = clock.milliseconds()
    guard manifest.stamp.milliseconds - now > longest, try manifest.stamp.milliseconds - newest().milliseconds > longest
    else { return }
    throw Refusal(
      .clock,
      """
      The hub's clock showed \(clock.localText(milliseconds: manifest.stamp.milliseconds)) when it made this file, and \
      this device's shows \(clock.localText(milliseconds: now)).
      """,
      hint:
        """
        Look at this device's clock, set it if it is wrong, and import the file again. If it is right, the hub's is \
        wrong: do not use the file, and inform the hub's operator.
        """
    )
  }
}

extension DeviceSession {
  /// Throws a `Refusal` if the hub's time in a bundle is far ahead of this device's clock and of all stamps that this
  /// device has seen.
  func refuseTimeJump(of manifest: Manifest) throws {
    // In a rebuild, this device accepts a bundle that it had accepted before it lost the database.
    if isRebuilt { return }
    try TimeJump.refuse(manifest, after: Capture.newestStamp(in: database), platform.clock)
  }
}

extension DeviceWorkspace {
  /// Throws a `Refusal` if the hub's time in a first bundle is far ahead of this device's clock. If the device had a
  /// database before, the times of the archived bundles count too.
  func refuseTimeJump(ofFirst manifest: Manifest) throws {
    guard platform.clock.milliseconds() >= TimeJump.earliest else { return }
    let archived = try ArchivedEmissions(self).emissions.lazy.map(\.manifest.stamp)
    try TimeJump.refuse(manifest, after: archived.max() ?? .zero, platform.clock)
  }
}
