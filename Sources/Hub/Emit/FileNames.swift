import SatchelBundle
import SatchelConflicts
import SatchelCrypto
import SatchelValues
import SatchelWorkspace

/// Gives the names that rows use to the files of those who may change these rows. Used after the rows of a bundle are
/// merged, because its files may come with the rows that name them.
struct FileNames {
  let store: HubStore
  let files: AttachedFiles
  let rights: FileNameRights
  /// The sender of the bundle, with the user who wrote its changes.
  let sender: EnrolledDevice

  /// Keeps a new file beside its name if the row that named it first is not the sender's. If no row names the file, it
  /// takes a free name: its row may come later.
  func place(_ arriving: inout ArrivingAttachments) throws {
    let new = arriving.arrivals.enumerated().filter { $1.isNew && !$1.isNewer && $1.kept == $1.path }
    let rows = try rights.firstRows(naming: Set(new.map(\.element.path)))
    for (number, arrival) in new {
      guard let naming = rows[arrival.path],
        try rights.share(of: sender, in: naming, naming: arrival.path) != .all
      else { continue }
      try arriving.keepBeside(number)
    }
  }

  /// Gives names to files that are kept beside them. A file gets the name if the row that named it first is its
  /// sender's, and if the name is free, or has a file from devices to which this row does not belong. That file is then
  /// kept beside the name. Files from the hub's people keep their names.
  ///
  /// The files of the bundle are in place already.
  /// - Parameters:
  ///   - arrivals: the files of the bundle.
  ///   - start: the hub's cursor before the bundle was merged.
  /// - Returns: the files that got their names.
  func settle(
    _ arrivals: [ArrivingAttachments.Arrival], since start: Cursor
  ) throws -> [(path: AttachmentPath, digest: Digest)] {
    for arrival in arrivals where !arrival.isNew && arrival.kept == arrival.path {
      try noteMoved(arrival.path, arrival.digest)
    }
    var paths = Set(arrivals.filter { $0.kept != $0.path }.map(\.path))
    let beside = try store.pathsBeside()
    if !beside.isSubset(of: paths) { paths.formUnion(beside.intersection(try store.paths(writtenAfter: start))) }
    let rows = try rights.firstRows(naming: paths)
    return try paths.sorted().compactMap { path in
      guard let naming = rows[path] else { return nil }
      let present = try files.digest(at: path)
      guard try present.map({ try isForeign($0, at: path, naming) }) ?? files.isGone(path) else { return nil }
      return try candidate(for: path, naming).map { file in
        try put(file, at: path, over: present)
        return (path, file.digest)
      }
    }
  }

  /// Whether a file came from devices, and the row that named it first belongs to none of them.
  private func isForeign(
    _ digest: Digest, at path: AttachmentPath, _ rows: Set<NamedAttachments.NamingRow>
  ) throws -> Bool {
    let senders = try store.brought(path).filter { $0.kept == path && $0.digest == digest }.map(\.device)
    // A row of the sender that waits, or that a person has to decide about, may name the file.
    return try !senders.isEmpty
      && senders.allSatisfy { sender in
        try rights.share(of: known(sender), in: rows, naming: path) == .none
          && !ConflictTable.mentions(path.text, device: sender.id, in: store.database)
      }
  }

  /// The file beside `path` that may have the name: a file of this bundle first, and then the newest of each device.
  private func candidate(
    for path: AttachmentPath, _ rows: Set<NamedAttachments.NamingRow>
  ) throws -> HubStore.ArchivedFile? {
    try store.brought(path).filter { $0.kept != path }
      .sorted { ($0.device.id == sender.id ? 1 : 0, $0.sequence) > ($1.device.id == sender.id ? 1 : 0, $1.sequence) }
      .first { file in
        try rights.share(of: known(file.device), in: rows, naming: path) == .all
          && files.digest(at: file.kept) == file.digest
      }
  }

  /// The device with the user who wrote the changes of the bundle, if the device is its sender.
  private func known(_ device: EnrolledDevice) -> EnrolledDevice { device.id == sender.id ? sender : device }

  private func put(_ file: HubStore.ArchivedFile, at path: AttachmentPath, over present: Digest?) throws {
    if let present {
      guard let free = try files.placeBeside(path, present)?.path else { return }
      try files.move(path, to: free)
      try store.noteBeside(path, present, at: free)
    }
    try files.move(file.kept, to: path)
    try store.noteInPlace(path, file.digest)
  }

  /// Records files that are beside their name by now, and of which the records say that they have it: a command was
  /// ended after it had moved them.
  private func noteMoved(_ path: AttachmentPath, _ present: Digest) throws {
    for file in try store.brought(path) where file.kept == path && file.digest != present {
      guard let beside = path.beside(file.digest.hexadecimal), try files.digest(at: beside) == file.digest else {
        continue
      }
      try store.noteBeside(path, file.digest, at: beside)
    }
  }
}
