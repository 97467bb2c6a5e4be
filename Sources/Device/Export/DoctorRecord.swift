import SatchelBundle
import SatchelJSON
import SatchelPlatform
import SatchelWorkspace

/// The record of the last run of the doctor on this device, in `doctor.json` beside the database. The record is not in
/// the database, because the database may be damaged.
struct DoctorRecord {
  let doctor: Manifest.Changes.Health.Doctor

  private static func path(_ folder: WorkspaceFolder) -> String { folder.path("doctor.json") }

  init(_ report: DoctorReport, at now: Int64) {
    let result: Manifest.Changes.Health.Doctor.Result =
      if !report.isWell { .faults } else if report.hasFoundNothing { .well } else { .repaired }
    doctor = .init(at: UTCTime.text(milliseconds: now), result: result)
  }

  /// nil: the doctor never ran here, or `doctor.json` is damaged.
  init?(in folder: WorkspaceFolder, _ files: any FileSystem) throws {
    guard let document = try folder.document(at: Self.path(folder), files),
      let at = document["at"]?.stringValue, UTCTime.isText(at),
      let result = document["result"]?.stringValue.flatMap({ Manifest.Changes.Health.Doctor.Result(rawValue: $0) })
    else { return nil }
    doctor = .init(at: at, result: result)
  }

  func write(to folder: WorkspaceFolder, _ files: any FileSystem) throws {
    let document: JSONValue = ["at": .string(doctor.at), "result": .string(doctor.result.rawValue)]
    try files.replace(Self.path(folder), mode: 0o644, contents: document.prettyBytes)
  }
}

extension DeviceWorkspace {
  /// Records the result of the doctor. The next export carries it to the hub. A dry run records nothing. Nothing is
  /// recorded either if no database has come yet, or if the database is on a tablet.
  public func record(_ report: DoctorReport) throws {
    guard runMode == .commit else { return }
    switch try databaseCondition() {
    case .there, .lost, .lostAfterLeaving: break
    case .initial, .away: return
    }
    let record = DoctorRecord(report, at: platform.clock.milliseconds())
    do {
      // This changes nothing else in the workspace, because the workspace may be damaged.
      try folder.locked(platform, .dryRun) { try record.write(to: folder, platform.files) }
    } catch PlatformError.noSpace, PlatformError.readOnly {
      // On a full or read-only disk, the findings matter more than their record.
    }
  }
}
