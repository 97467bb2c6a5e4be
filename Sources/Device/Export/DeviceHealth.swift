import SatchelBundle
import SatchelPlatform
import SatchelWorkspace

extension DeviceWorkspace {
  /// This device's health, for people at the hub. nil if a value cannot be read from the system. An export does not
  /// fail because of that.
  func health() -> Manifest.Changes.Health? {
    let files = platform.files
    guard let free = try? files.freeBytes(Paths.parent(of: databasePath)), let database = try? files.size(databasePath),
      let quarantined = try? Quarantine.count(folder, files: files)
    else { return nil }
    return .init(
      satchel: satchelVersion, free: min(max(free, 0), Self.mostFree), database: database,
      quarantined: Int64(quarantined), doctor: (try? DoctorRecord(in: folder, files))?.doctor)
  }

  /// The most free space that a bundle can name. Some network disks name more.
  private static let mostFree: Int64 = 1 << 52
}
