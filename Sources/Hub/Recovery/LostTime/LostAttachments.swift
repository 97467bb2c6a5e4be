import SatchelBundle
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The attached files that the hub sent in the lost time, in the collected bundles.
///
/// Devices deliver their own files again, but not the files that the office added.
final class LostAttachments {
  private let hub: HubWorkspace
  private let store: HubStore
  /// The files that rows name, and that no newer bundle has brought back. nil: they are not looked up yet.
  private var wanted: Set<AttachmentPath>?
  private(set) var count = 0
  /// The files that are kept beside others.
  private(set) var beside: [ArrivingAttachments.Arrival] = []

  init(_ hub: HubWorkspace, _ store: HubStore) { (self.hub, self.store) = (hub, store) }

  /// Whether the dataset has files.
  var areAny: Bool { NamedAttachments(store.tables).areAny }

  /// Puts the files of a bundle in place. All rows of the lost time are merged before, and the newest bundle comes
  /// first. A file that is here stays, because it may be newer. Another content is kept beside it.
  func bringBack(from bundle: borrowing VerifiedBundle) throws {
    let paths = Set(try bundle.attachments().filter(\.isFile).map(\.path))
    if paths.isEmpty { return }
    let wanted = try self.wanted ?? named()
    let arriving = try ArrivingAttachments(
      bundle, in: hub.folder, platform: hub.platform, runMode: hub.runMode
    ) { line, _ in wanted.contains(line.path) ? .keepBoth : .ignore }
    try arriving.put()
    count += arriving.newCount
    beside += arriving.beside.filter(\.isNew)
    self.wanted = wanted.subtracting(paths)
  }

  private func named() throws -> Set<AttachmentPath> {
    var paths: Set<AttachmentPath> = []
    try NamedAttachments(store.tables).each(in: store.database) { _, value in
      if let path = AttachmentPath(value) { paths.insert(path) }
    }
    return paths
  }
}
