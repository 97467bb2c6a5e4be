import SatchelBundle
import SatchelPlatform

extension DeviceHealth {
  /// The statement of a device about its health, as the hub shows it to people. No decision depends on it.
  ///
  /// The format limits the numbers and texts. The times are by the device's clock. A time after the hub's own time is
  /// replaced by the hub's own time. Otherwise the statement of a device whose clock is ahead would look new for too
  /// long.
  /// - Parameters:
  ///   - created: the time of the bundle, as the text in its manifest.
  ///   - now: the time of the import, in milliseconds since 1970.
  public init(_ reported: Manifest.Changes.Health, created: String, at now: Int64) {
    func believed(_ time: String) -> Int64 { min(UTCTime.milliseconds(of: time) ?? now, now) }
    self.init(
      at: believed(created), satchel: reported.satchel, freeBytes: reported.free, databaseBytes: reported.database,
      quarantined: reported.quarantined,
      doctor: reported.doctor.map { Doctor(at: believed($0.at), result: $0.result) })
  }
}
