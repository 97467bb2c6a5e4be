import SatchelBundle
import SatchelConflicts
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

extension HubAttachments {
  /// The attachments to remove: no row, no change in the log and no conflict names them. A file that is kept beside a
  /// name stays as long as a row uses that name. Files that people added at the hub and that were never sent stay too.
  func unnamed() throws -> UnnamedFiles {
    let known = try store.keptFiles()
    if known.isEmpty { return UnnamedFiles() }
    let all = Set(known.flatMap { [$0.path, $0.kept] })
    var named = all.subtracting(try NamedAttachments(store.tables).unnamed(all, in: store.database))
    func note(_ value: Value) { if let path = AttachmentPath(value) { named.insert(path) } }
    try store.eachTextOfLog(note)
    try ConflictTable.eachText(in: store.database, note)
    for file in known where named.contains(file.path) { named.insert(file.kept) }
    return try UnnamedFiles(known.map { (path: $0.kept, digest: $0.digest) }, but: named, in: files)
  }

  /// Removes the files. The caller must hold the transaction, so that no writer can name a removed file meanwhile.
  func remove(_ unnamed: UnnamedFiles) throws {
    for file in unnamed.files { try store.forget(file.path) }
    try unnamed.remove(from: files)
  }
}

extension HubWorkspace {
  /// The number of bundles that may name any file: bundles here that are not merged yet, and refused bundles of copied
  /// devices.
  func bundlesToCome(_ store: HubStore) throws -> Int {
    let flagged = try store.devices().count { $0.state == .flagged }
    return try WaitingBundles.list(in: folder.inbox, platform.files).count
      + WaitingBundles(folder, platform.files).list().count
      + BundleParts(folder, platform: platform).waiting().count + flagged
  }
}
