import SatchelBundle
import SatchelCapture
import SatchelValues
import SatchelWorkspace

/// Which files from devices may have the names that rows use.
///
/// A path is only a text, and a device can write any path beside its file. So the row that named a file first decides:
/// the file has the name only if its sender may change this row, or wrote the name into it. Other files are kept beside
/// the name. A row that copies the name later changes nothing.
final class FileNameRights {
  private let store: HubStore
  private var scopes: [String: ScopeStore] = [:]

  init(_ store: HubStore) { self.store = store }

  /// How many of the rows that named a file first are the sender's: rows that the sender may change, or into which the
  /// sender wrote the name. There is one such row, unless the log does not show which row was first.
  enum Share { case all, some, none }

  typealias NamingRows = [AttachmentPath: Set<NamedAttachments.NamingRow>]

  /// Beyond this number of rows that name one file, all of them count alike.
  private static let mostCompared = 1000

  /// The rows that named these files first. The marked columns are read once for all files.
  func firstRows(naming paths: Set<AttachmentPath>) throws -> NamingRows {
    let rows = try NamedAttachments(store.tables).rows(naming: paths, in: store.database)
    return try Dictionary(uniqueKeysWithValues: rows.map { ($0.key, try first(among: $0.value, naming: $0.key)) })
  }

  /// The rows of a set that have named a file for the longest time, as far as the log knows.
  private func first(
    among rows: Set<NamedAttachments.NamingRow>, naming path: AttachmentPath
  ) throws -> Set<NamedAttachments.NamingRow> {
    if rows.count == 1 || rows.count > Self.mostCompared { return rows }
    var since: [NamedAttachments.NamingRow: Cursor] = [:]
    for row in rows {
      guard let place = store.place(of: row.table) else { continue }
      since[row] = try entry(naming: path, in: row.key, place)?.cursor ?? .zero
    }
    let earliest = since.values.min()
    return Set(since.filter { $0.value == earliest }.keys)
  }

  /// The newest entry of the log that wrote a file's name into a row. nil if the log has none.
  private func entry(naming path: AttachmentPath, in key: RowKey, _ place: Int) throws -> LogEntry? {
    var found: LogEntry?
    try store.eachChange(of: store.past(of: key, in: place)) { entry in
      guard try entry.set?.contains(where: { $0.value == .string(path.text) }) == true else { return .more }
      found = entry
      return .enough
    }
    return found
  }

  /// - Parameter rows: the rows that named the file at `path` first; at least one.
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
    guard let entry = try entry(naming: path, in: key, place), let author = entry.device else { return false }
    return histories.contains(author) || entry.user == device.user
  }

  private func scope(of user: String) throws -> ScopeStore {
    if let known = scopes[user] { return known }
    let made = ScopeStore(store, user: try store.user(user) ?? User(name: user, attributes: []))
    scopes[user] = made
    return made
  }
}
