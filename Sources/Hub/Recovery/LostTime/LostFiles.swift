import SatchelBundle
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The files in `bundles/archive/lost`: emissions of this hub that devices brought back, and that are not merged yet. A
/// device brings each emission once, so there may be no other copy.
extension HubWorkspace {
  func lostPath(_ file: String) -> String { Paths.join(folder.lost, file) }

  /// Reads a collected emission. Throws `BundleError.unknownKey` if its signing key was lost after the hub collected
  /// it, because then its author is unknown. Throws another error if the file is missing or damaged.
  func believedLost(_ file: String, _ store: HubStore) throws -> VerifiedBundle {
    try reader.read(lostPath(file), trust: .keys(believedOwnKeys(store)), staging: folder.inbox)
  }

  /// Returns the collected emissions that are not merged and whose file is missing or damaged. Reads every file.
  func unreadableLost(_ store: HubStore) throws -> [LostEmission] { try inspectLost(store).unreadable }

  /// Reads the files of all collected emissions that are not merged. Returns the emissions whose file is missing or
  /// damaged, and the latest version of the dataset in the other files. The version is 0 if there are no other files.
  func inspectLost(_ store: HubStore) throws -> (unreadable: [LostEmission], version: Int64) {
    let keys = try ownKeys()
    var version: Int64 = 0
    let unreadable = try store.lostEmissionsToMerge().filter { emission in
      guard let file = emission.file else { return false }
      do {
        let bundle = try reader.read(lostPath(file), trust: .keys(keys), staging: folder.inbox)
        version = max(version, bundle.manifest.version)
        return bundle.digest != emission.link.digest
      } catch BundleError.unknownKey {
        // The signing key was lost after the emission was collected. The file exists, but the hub does not trust it.
        return false
      } catch is BundleError { return true } catch PlatformError.missing { return true }
    }
    return (unreadable, version)
  }

  /// Returns the collected emissions whose file is missing.
  func missingLost(_ store: HubStore) throws -> [LostEmission] {
    try store.lostEmissionsToMerge().filter { emission in
      try emission.file.map { try platform.files.kind(lostPath($0)) == nil } ?? false
    }
  }

  /// Removes the records of emissions whose files are missing, if the devices still bring these emissions. Backups from
  /// earlier releases lack these files. The caller holds the transaction in which a new epoch begins.
  func forgetMissingLost(_ store: HubStore) throws {
    for emission in try missingLost(store) { try store.forgetUntold(emission.link) }
  }

  /// Returns the findings of `audit` about the files in `bundles/archive/lost`.
  func lostFindings(_ store: HubStore) throws -> [Finding] {
    try unreadableLost(store).map { emission in
      let device = try store.device(emission.device)?.name ?? emission.device.text
      return Finding(
        .audit,
        """
        bundles/archive/lost/\(emission.file ?? "") is missing or damaged: its changes from the lost time cannot be \
        merged.
        """,
        hint:
          """
          The device \(device) may have it, as its bundle \(emission.link.number) in bundles/archive or \
          bundles/archive/former: satchel-hub import FILE puts it back. To continue without it: satchel-hub restore \
          --finish
          """
      )
    }
  }
}
