import SatchelBundle
import SatchelPlatform
import SatchelWorkspace

/// The past of a device, as the files of its workspace show it without a database.
extension DeviceWorkspace {
  /// Whether this device had data before: a bundle from the hub is in the archive, or an export of this device is in
  /// `bundles`. A device that continues the work of a former identity had a database too.
  func hasHistory() throws -> Bool {
    if configuration.predecessor != nil { return true }
    return try BundleArchive(folder, platform.files).hasAny() || newestOwnExport() != nil
  }

  /// The manifest of the newest export of this device whose file is here and not damaged. nil if there is none.
  func newestOwnExport() throws -> Manifest? {
    let keys = try ownKeys()
    let prefix = "\(configuration.dataset)-\(configuration.name)-"
    for path in try BundleArchive(folder, platform.files).outgoing(toAnyone: prefix) {
      if let manifest = try reader.manifestIfSound(of: path, trust: .keys(keys)), manifest.kind == .changes,
        manifest.from.id == configuration.id
      {
        return manifest
      }
    }
    return nil
  }
}
