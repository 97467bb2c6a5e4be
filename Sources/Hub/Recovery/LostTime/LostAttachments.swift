import SatchelBundle
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The attached files in the emissions that the hub made in the lost time.
///
/// Devices deliver their own files again. Files that the office added are only in these emissions.
final class LostAttachments {
  private let hub: HubWorkspace
  private let store: HubStore
  /// The files that rows name and that no newer emission has brought back. nil before the first look-up.
  private var wanted: Set<AttachmentPath>?
  private(set) var count = 0
  /// The files that are kept beside other files.
  private(set) var beside: [ArrivingAttachments.Arrival] = []

  init(_ hub: HubWorkspace, _ store: HubStore) { (self.hub, self.store) = (hub, store) }

  /// Whether the dataset has columns that name files.
  var areAny: Bool { NamedAttachments(store.tables).areAny }

  /// Puts the files of an emission in place. The caller has merged all rows of the lost time, and passes the newest
  /// emission first. A file that exists stays, because it may be newer. If the contents differ, both files stay.
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
