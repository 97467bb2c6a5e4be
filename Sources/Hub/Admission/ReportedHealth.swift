import SatchelBundle
import SatchelPlatform

extension DeviceHealth {
  /// The statement of a device about itself, as the hub keeps it for people. No decision depends on it.
  ///
  /// The format limits the numbers and texts. The times are by the device's clock: a later time than the hub's own time
  /// counts as the hub's own time. Otherwise the statement would look new for as long as that clock was ahead.
  /// - Parameters:
  ///   - created: the time of the bundle, in the text of its manifest.
  ///   - now: the time of the import, in milliseconds since 1970.
  public init(_ reported: Manifest.Changes.Health, created: String, at now: Int64) {
    func believed(_ time: String) -> Int64 { min(UTCTime.milliseconds(of: time) ?? now, now) }
    self.init(
      at: believed(created), satchel: reported.satchel, freeBytes: reported.free, databaseBytes: reported.database,
      quarantined: reported.quarantined,
      doctor: reported.doctor.map { Doctor(at: believed($0.at), result: $0.result) })
  }
}
