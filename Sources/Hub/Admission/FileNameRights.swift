import SatchelBundle
import SatchelCapture
import SatchelValues
import SatchelWorkspace

/// Which files from devices may have the names that rows use.
///
/// A path is only a text, and a device can write any path beside its file. So the rows that name a file decide: the
/// file has the name only if its sender may change all of these rows, or wrote the name into them. Other files are kept
/// beside the name.
final class FileNameRights {
  private let store: HubStore
  private var scopes: [String: ScopeStore] = [:]

  init(_ store: HubStore) { self.store = store }

  /// How many of the rows that name a file are the sender's: rows that the sender may change, or into which the sender
  /// wrote the name.
  enum Share { case all, some, none }

  typealias NamingRows = [AttachmentPath: Set<NamedAttachments.NamingRow>]

  /// The rows that name these files. The marked columns are read once for all files.
  func rows(naming paths: Set<AttachmentPath>) throws -> NamingRows {
    try NamedAttachments(store.tables).rows(naming: paths, in: store.database)
  }

  /// - Parameter rows: rows that name the file at `path`; at least one.
  func share(
    of device: EnrolledDevice, in rows: Set<NamedAttachments.NamingRow>, naming path: AttachmentPath
  ) throws -> Share {
    var (own, foreign) = (false, false)
    for row in rows {
      if try isOwn(row, of: device, naming: path) { own = true } else { foreign = true }
      if own && foreign { return .some }
    }
    return own ? .all : .none
  }

  private func isOwn(
    _ row: NamedAttachments.NamingRow, of device: EnrolledDevice, naming path: AttachmentPath
  ) throws -> Bool {
    guard let place = store.place(of: row.table) else { return false }
    if !device.isReadOnly, try scope(of: device.user).mayWrite(row.key, in: place) { return true }
    return try wrote(path, into: row.key, in: place, device)
  }

  /// Whether the device or its user wrote the name into the row, as far as the log knows. The user may have given the
  /// row to another user since, also in the same bundle.
  private func wrote(
    _ path: AttachmentPath, into key: RowKey, in place: Int, _ device: EnrolledDevice
  ) throws -> Bool {
    let histories = [device.id, device.continues].compactMap { $0?.text }
    var isOwn = false
    try store.eachChange(of: store.past(of: key, in: place)) { entry in
      guard try entry.set?.contains(where: { $0.value == .string(path.text) }) == true else { return .more }
      isOwn = entry.device.map { histories.contains($0) || entry.user == device.user } ?? false
      return .enough
    }
    return isOwn
  }

  private func scope(of user: String) throws -> ScopeStore {
    if let known = scopes[user] { return known }
    let made = ScopeStore(store, user: try store.user(user) ?? User(name: user, attributes: []))
    scopes[user] = made
    return made
  }
}
