import SatchelBundle
import SatchelPlatform
import SatchelWorkspace

extension DeviceWorkspace {
  /// This device's health, for people at the hub. nil: the system does not give a value. The export is then made
  /// without the health.
  func health() -> Manifest.Changes.Health? {
    let files = platform.files
    guard let free = try? files.freeBytes(Paths.parent(of: databasePath)), let database = try? files.size(databasePath),
      let quarantined = try? Quarantine.count(folder, files: files)
    else { return nil }
    return .init(
      satchel: satchelVersion, free: min(max(free, 0), Self.mostFree), database: database,
      quarantined: Int64(quarantined), doctor: (try? DoctorRecord(in: folder, files))?.doctor)
  }

  /// The most free space that a bundle can state. Some network disks report more.
  private static let mostFree: Int64 = 1 << 52
}
