import SatchelBundle
import SatchelConflicts
import SatchelCrypto
import SatchelValues
import SatchelWorkspace

/// Gives the names that rows use to the files of those who may change these rows. Used after the rows are written: the
/// files of a bundle may come with the rows that name them, and a person may decide later which row names a file.
struct FileNames {
  private let store: HubStore
  private let files: AttachedFiles
  private let rights: FileNameRights
  private let places: FilePlaces
  /// The sender of the bundle, with the user who wrote its changes. nil if no bundle came.
  private let sender: EnrolledDevice?

  init(_ workspace: HubWorkspace, _ store: HubStore, sender: EnrolledDevice? = nil) {
    self.store = store
    self.sender = sender
    places = FilePlaces(workspace, store)
    files = places.files
    rights = FileNameRights(store)
  }

  /// Keeps a new file beside its name if the row that named it first is not the sender's. If no row names the file, it
  /// takes a free name: its row may come later. Then corrects the records of files that had the names before.
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

  /// The names for which files may be waiting.
  enum Extent {
    /// The names that changes wrote or removed since the names were settled last.
    case changed
    /// All names that have files beside them. A decision may change no row, but end what keeps a file in its place.
    case all
  }

  /// Gives names to files that are kept beside them. A file gets the name if the row that named it first is its
  /// sender's, and if the name is free, or has a file from devices to which this row does not belong. That file is then
  /// kept beside the name. Files from the hub's people keep their names.
  ///
  /// The files of the bundle are in place already.
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

  /// Whether a file came from devices, and the row that named it first belongs to none of them.
  private func isForeign(_ digest: Digest, at path: AttachmentPath, _ claims: UndecidedClaims) throws -> Bool {
    if path.isPlace(ofContent: digest.hexadecimal) { return false }
    let senders = try store.brought(path).filter { $0.kept == path && $0.digest == digest }.map(\.device)
    // If a held change or an undecided conflict of the sender names the file, it may still be the sender's.
    return try !senders.isEmpty
      && senders.allSatisfy { sender in
        try rights.share(of: known(sender), naming: path) == .none
          && !claims.contain(path, of: sender.id)
      }
  }

  /// The file beside `path` that may have the name: a file of this bundle first, and then the newest of each device.
  private func candidate(for path: AttachmentPath) throws -> HubStore.ArchivedFile? {
    func rank(_ file: HubStore.ArchivedFile) -> (Int, SequenceNumber) {
      (file.device.id == sender?.id ? 1 : 0, file.sequence)
    }
    return try store.brought(path).filter { $0.kept != path }.sorted { rank($0) > rank($1) }
      .first { file in
        try rights.share(of: known(file.device), naming: path) == .all && files.digest(at: file.kept) == file.digest
      }
  }

  /// The device with the user who wrote the changes of the bundle, if the device is its sender.
  private func known(_ device: EnrolledDevice) -> EnrolledDevice {
    if let sender, sender.id == device.id { return sender }
    return device
  }
}

/// The names of files that undecided changes of devices would write into rows. A device may have very many such
/// changes, so the changes of each device are read once for all names.
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
  /// Whether no other content can have the path. Then anyone may bring the file there.
  fileprivate var isNamedByContent: Bool { path.isPlace(ofContent: digest.hexadecimal) }
}

extension HubWorkspace {
  /// Gives names to files after a person's decisions. The caller holds the transaction.
  func settleNames(_ extent: FileNames.Extent, _ store: HubStore) throws {
    if runMode == .dryRun || !HubAttachments(store, self).areAny { return }
    try FileNames(self, store).settle(extent)
  }
}
