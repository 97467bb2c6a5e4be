import SatchelBundle
import SatchelConflicts
import SatchelCrypto
import SatchelValues
import SatchelWorkspace

/// Decides which files get the names that rows use. A file gets such a name if its sender may change the row. This is
/// done after rows are written, because files may come with the rows that name them. A person may also decide later
/// which row names a file.
struct FileNames {
  private let store: HubStore
  private let files: AttachedFiles
  private let rights: FileNameRights
  private let places: FilePlaces
  /// The sender of the bundle, with the author of its changes as its user. nil if no bundle came.
  private let sender: EnrolledDevice?

  init(_ workspace: HubWorkspace, _ store: HubStore, sender: EnrolledDevice? = nil) {
    self.store = store
    self.sender = sender
    places = FilePlaces(workspace, store)
    files = places.files
    rights = FileNameRights(store)
  }

  /// Places the new files of a bundle. If the row that first named a file does not belong to the sender, the file is
  /// kept beside its name. If no row names the file yet, the file takes the free name, because its row may come later.
  /// Afterwards, this method corrects the records of files that had the names before.
  func place(_ arriving: inout ArrivingAttachments) throws {
    let new = arriving.arrivals.enumerated().filter { $1.isNew && !$1.isNewer && $1.kept == $1.path }
    let named = try rights.named(among: Set(new.map(\.element.path)))
    for (number, arrival) in new where named.contains(arrival.path) && !arrival.isNamedByContent {
      if let sender, try rights.share(of: sender, naming: arrival.path) == .all { continue }
      try arriving.keepBeside(number)
    }
    for arrival in arriving.arrivals where arrival.kept == arrival.path && !arrival.isNewer {
      if arrival.isNew {
        try places.noteFirst(arrival.path, arrival.digest)
      } else {
        try places.correct(arrival.path, present: arrival.digest)
      }
    }
  }

  /// The names to settle.
  enum Extent {
    /// The names that changes wrote or removed since the names were settled last.
    case changed
    /// All names that have files beside them. A decision may change no row, and still end a claim that keeps a file in
    /// its place.
    case all
  }

  /// Gives names to files that are kept beside them. A file gets its name if the row that first named it belongs to its
  /// sender. The name must be free, or its present file must come from devices to which this row does not belong. Such
  /// a present file moves to a place beside the name. Files from people at the hub keep their names. The caller has
  /// already placed the files of the bundle.
  /// - Parameter arrivals: the files of the bundle.
  /// - Returns: the files that got their names.
  @discardableResult func settle(
    _ extent: Extent, _ arrivals: [ArrivingAttachments.Arrival] = []
  ) throws -> [(path: AttachmentPath, digest: Digest)] {
    var paths = Set(arrivals.filter { $0.kept != $0.path }.map(\.path))
    let beside = try store.pathsBeside()
    let (start, end) = (try store.namesCursor(), try store.cursor())
    switch extent {
    case .all: paths.formUnion(beside)
    case .changed where beside.isSubset(of: paths) || start == end: break
    case .changed: paths.formUnion(beside.intersection(try store.paths(writtenAfter: start)))
    }
    if start != end { try store.saveNamesCursor(end) }
    let named = try rights.named(among: paths)
    if named.isEmpty { return [] }
    var settled: [(path: AttachmentPath, digest: Digest)] = []
    let claims = UndecidedClaims(to: named, store)
    for path in named.sorted() {
      let present = try files.digest(at: path)
      if let present { try places.correct(path, present: present) }
      guard try present.map({ try isForeign($0, at: path, claims) }) ?? files.isGone(path),
        let file = try candidate(for: path), try places.give(path, to: file, over: present)
      else { continue }
      settled.append((path, file.digest))
    }
    return settled
  }

  /// Whether the file came from devices only, and the row that named it first belongs to none of them.
  private func isForeign(_ digest: Digest, at path: AttachmentPath, _ claims: UndecidedClaims) throws -> Bool {
    if path.isPlace(ofContent: digest.hexadecimal) { return false }
    let senders = try store.brought(path).filter { $0.kept == path && $0.digest == digest }.map(\.device)
    // If a sender's undecided change names the file, the row may still become the sender's, so the file stays.
    return try !senders.isEmpty
      && senders.allSatisfy { sender in
        try rights.share(of: known(sender), naming: path) == .none
          && !claims.contain(path, of: sender.id)
      }
  }

  /// The file beside `path` that may get the name. A file of this bundle comes first, and then the newest file of each
  /// device.
  private func candidate(for path: AttachmentPath) throws -> HubStore.ArchivedFile? {
    func rank(_ file: HubStore.ArchivedFile) -> (Int, SequenceNumber) {
      (file.device.id == sender?.id ? 1 : 0, file.sequence)
    }
    return try store.brought(path).filter { $0.kept != path }.sorted { rank($0) > rank($1) }
      .first { file in
        try rights.share(of: known(file.device), naming: path) == .all && files.digest(at: file.kept) == file.digest
      }
  }

  /// Returns the device's record. If the device sent the bundle, its user in the record is the author of the bundle.
  private func known(_ device: EnrolledDevice) -> EnrolledDevice {
    if let sender, sender.id == device.id { return sender }
    return device
  }
}

/// The file names that undecided changes of devices would write into rows. A device may have very many such changes, so
/// they are read once for all names.
private final class UndecidedClaims {
  private let names: Set<String>
  private let store: HubStore
  private var known: [ReplicaID: Set<String>] = [:]

  init(to names: Set<AttachmentPath>, _ store: HubStore) {
    (self.names, self.store) = (Set(names.map(\.text)), store)
  }

  func contain(_ name: AttachmentPath, of device: ReplicaID) throws -> Bool {
    let claimed =
      try known[device] ?? ConflictTable.mentioned(among: names, device: device, in: store.database)
    known[device] = claimed
    return claimed.contains(name.text)
  }
}

extension ArrivingAttachments.Arrival {
  /// Whether the path contains the digest of the content. If so, no other content can have this path, so any sender may
  /// bring the file.
  fileprivate var isNamedByContent: Bool { path.isPlace(ofContent: digest.hexadecimal) }
}

extension HubWorkspace {
  /// Gives names to files after a person's decisions. The caller must hold the transaction.
  func settleNames(_ extent: FileNames.Extent, _ store: HubStore) throws {
    if runMode == .dryRun || !HubAttachments(store, self).areAny { return }
    try FileNames(self, store).settle(extent)
  }
}
