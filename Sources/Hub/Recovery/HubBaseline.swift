import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelDataset
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The hub's base: a signed bundle in `bundles/archive` with all of the hub's rows at one cursor. The base and the log
/// together show the correct content of every row, even if the database was damaged.
extension HubWorkspace {
  /// Returns the prefix of the file names of a version's bases. The rest of a name is the number of the first change
  /// after the base.
  ///
  /// Each version has its own prefix, because a base of an earlier version lacks the effects of the migration. Each
  /// epoch has its own prefix too. The reason: a base is written before its epoch is committed, and must not replace
  /// another base.
  /// - Parameter epoch: nil for a name from release 0.1.
  func basePrefix(_ version: Int64, _ epoch: Epoch?) -> String {
    let beginning = "\(configuration.dataset)-\(configuration.name)-\(configuration.name)-v\(version)-"
    return epoch.map { "\(beginning)\($0.text.prefix(8))-" } ?? beginning
  }

  /// Returns the file name prefix of the existing bases of this version and epoch. nil if no base exists.
  private func presentPrefix(_ version: Int64, _ epoch: Epoch) throws -> String? {
    let archive = BundleArchive(folder, platform.files)
    return try [basePrefix(version, epoch), basePrefix(version, nil)].first { try !archive.numbers($0).isEmpty }
  }

  func hasBase(_ store: HubStore) throws -> Bool {
    try presentPrefix(store.dataset.version, store.identity.epoch) != nil
  }

  /// Writes a base with the present rows. The caller holds a transaction, and has written all local changes into the
  /// log.
  func writeBase(
    _ database: borrowing Database, _ tables: [TrackedTable], _ definition: DatasetDefinition, epoch: Epoch,
    cursor: Cursor
  ) throws {
    let key = try keys.signing()
    var draft = try BundleDraft(in: folder.archive, platform: platform)
    try SnapshotBuilder.addWhole(database, tables, to: &draft, largeRows: .areTaken)
    try draft.addDataset(definition.source)
    draft.require(tables.critical)
    let now = platform.clock.milliseconds()
    let itself = Manifest.Party(id: configuration.id, name: configuration.name)
    let manifest = Manifest(
      bundle: platform.random.identifier(), dataset: definition.name, version: definition.version, from: itself,
      to: itself,
      user: Self.hubUser, created: UTCTime.text(milliseconds: now), stamp: Stamp(milliseconds: now),
      body: .scope(
        .init(
          epoch: epoch, number: EmissionNumber(cursor.rawValue + 1), after: .zero, extent: .full, acknowledged: .zero)))
    try platform.files.rename(
      draft.write(draft.seal(manifest, with: key)),
      to: BundleArchive(folder, platform.files).path(basePrefix(definition.version, epoch), cursor.rawValue + 1))
  }

  /// Returns the correct content of every row, from the base and the log. The result lacks changes that capture did not
  /// see, and writes that are not in the log yet.
  ///
  /// Throws a `WorkspaceError` if the base is missing or damaged.
  func known(_ store: HubStore, in folder: borrowing StagingFolder) throws -> BaselineRows {
    let archive = BundleArchive(self.folder, platform.files)
    guard let prefix = try presentPrefix(store.dataset.version, store.identity.epoch),
      let number = try archive.numbers(prefix).last
    else { throw Self.noBase("it is missing") }
    let bundle: VerifiedBundle
    do {
      bundle = try reader.read(archive.path(prefix, number), trust: .keys(ownKeys()), staging: self.folder.inbox)
    } catch let error as BundleError { throw Self.noBase("it is damaged (\(error.message))") }
    guard case .scope(let scope) = bundle.manifest.body, scope.epoch == store.identity.epoch,
      scope.number.rawValue == number,
      let path = bundle.path(of: .snapshot)
    else { throw Self.noBase("it is of another history") }
    let known = try BaselineRows(at: folder.file("known.sqlite"), like: store.database, tables: store.tables)
    let snapshot = try Database.untrusted(path: path)
    for table in known.tables { try table.fill(from: snapshot) }
    try store.replayLog(after: Cursor(number - 1), onto: known)
    return known
  }

  /// Removes all bases except the newest base of the present version and epoch.
  func forgetBases(_ archive: BundleArchive, _ store: HubStore) throws {
    let version = store.dataset.version
    guard let newest = try archive.numbers(basePrefix(version, store.identity.epoch)).last else { return }
    try archive.forget(basePrefix(version, store.identity.epoch), below: newest)
    let epochs = try [nil, store.identity.epoch] + store.formerEpochs()
    for epoch in epochs {
      for earlier in 1..<(version + 1) where earlier < version || epoch != store.identity.epoch {
        try archive.forget(basePrefix(earlier, epoch), below: .max)
      }
    }
  }

  static func noBase(_ why: String) -> WorkspaceError {
    WorkspaceError(
      .noHistory, "The hub's base in bundles/archive cannot be used: \(why).",
      hint:
        """
        Bring it back from a backup of the workspace; without it, unseen changes cannot be found. If there is no \
        backup, and no trigger is missing: move a damaged base to another folder, then run satchel-hub doctor \
        --repair. It makes a base of the present rows. Devices do not get changes that no trigger recorded before that.
        """)
  }
}

extension HubStore {
  /// Applies the changes in the log after `cursor` to each row.
  fileprivate func replayLog(after cursor: Cursor, onto known: BaselineRows) throws {
    try eachChange(after: cursor) { change in
      guard let table = known.table(change.table) else { return }
      let key = try RowKey(canonical: change.key)
      guard let fields = change.set else { return try table.set(key, nil) }
      if change.operation == .insert {
        table.expect(columns: fields.map(\.name))
        return try table.set(key, table.row(of: fields))
      }
      if let row = try table.row(key) { try table.set(key, table.laid(fields, over: row)) }
    }
  }
}
