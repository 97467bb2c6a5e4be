import SatchelBundle
import SatchelCapture
import SatchelValues
import SatchelWorkspace

/// Decides which files from devices may have the names that rows use.
///
/// A device can write any path beside its file. So the row that named a file first decides. The file gets the name only
/// if its sender may change this row, or wrote the name into the row. Any other file is kept beside the name. A row
/// that copies the name later changes nothing.
///
/// Instances remember their answers, because a name may have many rows and many files. While an instance is used, no
/// row may change.
final class FileNameRights {
  private typealias NamingRow = NamedAttachments.NamingRow

  private let store: HubStore
  private let scopes: UserScopes
  /// For each file, the rows that named it first. Empty if no row names the file.
  private var rows: [AttachmentPath: Set<NamingRow>] = [:]
  private var shares: [AttachmentPath: [ReplicaID: Share]] = [:]
  private var writable: [String: [NamingRow: Bool]] = [:]
  private var entries: [AttachmentPath: [NamingRow: LogEntry?]] = [:]

  init(_ store: HubStore) { (self.store, scopes) = (store, UserScopes(store)) }

  /// How many of the rows that named a file first belong to the sender. A row belongs to the sender if the sender may
  /// change it, or wrote the name into it. Usually one row was first. There are several if the log does not show which
  /// one was.
  enum Share { case all, some, none }

  /// If more rows than this number name one file, all of them count as first.
  private static let mostCompared = 1000

  /// The files among `paths` that rows name. Reads the columns for attachments once for all files.
  func named(among paths: Set<AttachmentPath>) throws -> Set<AttachmentPath> {
    let new = paths.filter { rows[$0] == nil }
    let found = try NamedAttachments(store.tables).rows(naming: new, in: store.database)
    for path in new { rows[path] = try first(among: found[path] ?? [], naming: path) }
    return paths.filter { rows[$0]?.isEmpty == false }
  }

  /// The rows that named a file first.
  func firstRows(naming path: AttachmentPath) throws -> Set<NamedAttachments.NamingRow> {
    _ = try named(among: [path])
    return rows[path] ?? []
  }

  /// The rows among these that named the file earliest, as far as the log shows.
  private func first(among rows: Set<NamingRow>, naming path: AttachmentPath) throws -> Set<NamingRow> {
    if rows.count < 2 || rows.count > Self.mostCompared { return rows }
    var since: [NamingRow: Cursor] = [:]
    for row in rows where store.place(of: row.table) != nil {
      since[row] = try entry(naming: path, in: row)?.cursor ?? .zero
    }
    let earliest = since.values.min()
    return Set(since.filter { $0.value == earliest }.keys)
  }

  /// The newest log entry that wrote the file's name into the row. nil if the log has none.
  private func entry(naming path: AttachmentPath, in row: NamingRow) throws -> LogEntry? {
    if let known = entries[path]?[row] { return known }
    guard let place = store.place(of: row.table) else { return nil }
    var found: LogEntry?
    try store.eachChange(of: store.past(of: row.key, in: place)) { entry in
      guard try entry.set?.contains(where: { $0.value == .string(path.text) }) == true else { return .more }
      found = entry
      return .enough
    }
    entries[path, default: [:]][row] = .some(found)
    return found
  }

  /// How many of the rows that named a file first belong to the device.
  func share(of device: EnrolledDevice, naming path: AttachmentPath) throws -> Share {
    if let known = shares[path]?[device.id] { return known }
    let share = try share(of: device, in: firstRows(naming: path), naming: path)
    shares[path, default: [:]][device.id] = share
    return share
  }

  private func share(of device: EnrolledDevice, in rows: Set<NamingRow>, naming path: AttachmentPath) throws -> Share {
    var (own, foreign) = (false, false)
    for row in rows {
      if try isOwn(row, of: device, naming: path) { own = true } else { foreign = true }
      if own && foreign { return .some }
    }
    return own ? .all : .none
  }

  private func isOwn(_ row: NamingRow, of device: EnrolledDevice, naming path: AttachmentPath) throws -> Bool {
    if try !device.isReadOnly && mayWrite(row, device.user) { return true }
    return try wrote(path, into: row, device)
  }

  private func mayWrite(_ row: NamingRow, _ user: String) throws -> Bool {
    if let known = writable[user]?[row] { return known }
    guard let place = store.place(of: row.table) else { return false }
    let answer = try scopes.scope(of: user).mayWrite(row.key, in: place)
    writable[user, default: [:]][row] = answer
    return answer
  }

  /// Whether the device or its user wrote the name into the row, as far as the log shows. Since then, the user may have
  /// given the row to another user, even in the same bundle.
  private func wrote(_ path: AttachmentPath, into row: NamingRow, _ device: EnrolledDevice) throws -> Bool {
    guard let entry = try entry(naming: path, in: row), let author = entry.device else { return false }
    return device.histories.contains { $0.text == author } || entry.user == device.user
  }
}
