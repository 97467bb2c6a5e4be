import SatchelBundle
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The files in `bundles/archive/lost`: bundles from this hub that devices brought back and that are not merged yet. A
/// device brings each bundle once, so there may be no other copy.
extension HubWorkspace {
  func lostPath(_ file: String) -> String { Paths.join(folder.lost, file) }

  /// Reads a collected bundle. Throws `BundleError.unknownKey` if the signing key was lost after the bundle was
  /// collected, because then its author is unknown. Throws another error if the file is missing or damaged.
  func believedLost(_ file: String, _ store: HubStore) throws -> VerifiedBundle {
    try reader.read(lostPath(file), trust: .keys(believedOwnKeys(store)), staging: folder.inbox)
  }

  /// Returns the collected bundles that are not merged and whose file is missing or damaged. Reads every file.
  func unreadableLost(_ store: HubStore) throws -> [LostEmission] { try inspectLost(store).unreadable }

  /// Reads the file of every collected bundle that is not merged. Returns the bundles whose file is missing or damaged,
  /// and the latest version of the dataset in the others; 0 if there are none.
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
        // The signing key was lost since then. The file exists, but it is not trusted.
        return false
      } catch is BundleError { return true } catch PlatformError.missing { return true }
    }
    return (unreadable, version)
  }

  /// Returns the collected bundles whose file is missing.
  func missingLost(_ store: HubStore) throws -> [LostEmission] {
    try store.lostEmissionsToMerge().filter { emission in
      try emission.file.map { try platform.files.kind(lostPath($0)) == nil } ?? false
    }
  }

  /// Removes the records of bundles whose files are missing, if the devices still bring these bundles. Earlier releases
  /// left these files out of backups. The caller holds the transaction in which a new epoch begins.
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
