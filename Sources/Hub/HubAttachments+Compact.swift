import SatchelBundle
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

extension HubAttachments {
  /// The files that came or went and that nothing names any more: no row, no change that the log still tells of, and no
  /// conflict. A file that is kept beside another one stays as long as a row names that one. What the hub's people put
  /// there and never sent is not among them.
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

  /// Takes them away. The caller holds the transaction, so that nobody comes to name one meanwhile.
  func remove(_ unnamed: UnnamedFiles) throws {
    for file in unnamed.files { try store.forget(file.path) }
    try unnamed.remove(from: files)
  }
}

extension HubWorkspace {
  /// How many bundles are here and not taken yet, or were refused of a device whose copies somebody has to tell apart.
  /// They may name any file.
  func bundlesToCome(_ store: HubStore) throws -> Int {
    let flagged = try store.devices().count { $0.state == .flagged }
    return try WaitingBundles.list(in: folder.inbox, platform.files).count
      + WaitingBundles(folder, platform.files).list().count
      + BundleParts(folder, platform: platform).waiting().count + flagged
  }
}
