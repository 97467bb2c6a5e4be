import SatchelDevice
import SatchelHub
import SatchelPlatform

extension DeviceStatus {
  /// This device's health in the form in which the hub stores health.
  /// - Parameter now: the present time, in milliseconds since 1970.
  /// - Returns: nil if the health is not known.
  func health(at now: Int64) -> DeviceHealth? {
    health.map { DeviceHealth($0, created: UTCTime.text(milliseconds: now), at: now) }
  }
}
