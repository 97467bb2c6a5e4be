import SatchelBundle
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// An export that the hub refused, because it does not know the export's history.
struct ExportOfUnknownHistory {
  let refused: Quarantine.Refused
  let reason: Reason
  let device: EnrolledDevice
  let manifest: Manifest
  let changes: Manifest.Changes
}

/// A hub whose `keys/` may be older than the keys that its devices follow. Only the missing key could prove that.
extension HubWorkspace {
  /// Returns the refused exports whose history the hub does not know, and whose changes have not come since.
  func exportsOfUnknownHistory(_ store: HubStore) throws -> [ExportOfUnknownHistory] {
    let reasons = [Reason.unknownEmission, .otherEpoch]
    let refused = try Quarantine.list(folder, files: platform.files).filter { file in
      reasons.contains { $0.rawValue == file.reason }
    }
    if refused.isEmpty { return [] }
    let keys = try trustedKeys(store)
    return try refused.compactMap { refused in
      guard let reason = reasons.first(where: { $0.rawValue == refused.reason }),
        let manifest = try reader.manifestIfSound(of: Paths.join(folder.quarantine, refused.file), trust: .keys(keys)),
        case .changes(let changes) = manifest.body, let device = try store.device(manifest.from.id),
        device.state == .active, changes.sequence > device.merged
      else { return nil }
      return ExportOfUnknownHistory(
        refused: refused, reason: reason, device: device, manifest: manifest, changes: changes)
    }
  }

  /// Returns the names of the devices that may trust a newer key of this hub, which this hub lacks. Their refused
  /// exports name such a key, or no key here opens their files. Empty as soon as that key is in `keys/`, or is replaced
  /// as lost.
  func devicesWithNewerKey(_ store: HubStore) throws -> [String] {
    let found = try exportsOfUnknownHistory(store).filter {
      try HistoryCheck(self, store, $0.device, $0.changes, by: $0.manifest.user).followsNewerKey()
    }
    return try Set(found.map(\.device.name) + devicesWithUnopened(store).map(\.name)).sorted()
  }

  /// The next steps if a device sends a file that needs a key which this hub lacks.
  static let wayOutOfOlderKeys = OlderKeys.wayOut(
    "with the newest copy of its keys/ in place, import this again")
}

extension HubStatus {
  /// A text about devices that may trust a newer key of this hub. nil if there are none.
  public var wordsOfOlderKeys: String? {
    if devicesWithNewerKey.isEmpty { return nil }
    return """
      may be older than the keys that these devices follow: \(devicesWithNewerKey.joined(separator: ", ")). Their \
      files name a key that is not here, or are encrypted for one, and were not imported. Nothing proves more
      """
  }

  /// The next steps if devices may follow a newer key than this hub has.
  public static let wayOutOfOlderKeys = OlderKeys.wayOut(
    "put the newest copy of its keys/ in place, and sync again")
}

/// The keys of a hub whose `keys/` were replaced by an older copy.
enum OlderKeys {
  /// The next steps if devices may follow a newer key than this hub has.
  /// - Parameter step: the next step if there is a copy of the newer keys.
  static func wayOut(_ step: String) -> String {
    """
    If another copy of this hub is at work, continue with that copy. If this hub's files were put back from a copy: \
    \(step). If there is none: satchel-hub keys rotate --lost. Then the rows that this hub sent since that copy do not \
    come back
    """
  }

  /// The next step for a file that no key here opens, if the hub has its newest keys. A stranger may have made such a
  /// file, or it is for a lost identity.
  static let wayOutWithNewestKeys =
    """
    If this hub's files were not put back, take such a file off the stick: anybody can make one. The next bundle of \
    the device ends this
    """
}
