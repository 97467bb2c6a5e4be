import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelDataset
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The import of a device's first bundle. It creates the database, or fills the empty database that the app created.
extension DeviceWorkspace {
  /// - Parameter isHubConfirmed: whether a person compared the fingerprint of the key that signed the bundle.
  func begin(
    with bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope, from path: String,
    _ lost: LostExports = .deliveredAgain, isHubConfirmed: Bool = false
  ) throws -> ImportReport {
    try refuseTimeJump(ofFirst: bundle.manifest)
    let report = try bringFirst(bundle, scope, from: path, lost, isHubConfirmed)
    try noteJoined()
    if runMode == .commit, configuration.leaves != nil { try LeftExports(session()).make() }
    return report
  }

  private func bringFirst(
    _ bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope, from path: String, _ lost: LostExports,
    _ isHubConfirmed: Bool
  ) throws -> ImportReport {
    if runMode == .commit, case .lost = try databaseCondition() {
      try checkHistory(of: scope, bundle.digest, isHubConfirmed)
      _ = try self.definition(in: bundle, scope, from: path)
      try trustSigner(of: bundle)
      // The rebuild reads the copy in the archive, because a file on a stick is read only once.
      var rebuild = try DatabaseRebuild(self, from: Paths.join(folder.archive, bundle.manifest.fileName), scope)
      rebuild.lost = lost
      var report = ImportReport(bundle.manifest, .imported)
      report.replayed = try rebuild.run().replayed
      try noteAnswer()
      return report
    }
    if let rows = try joiningRows(bundle) {
      try noteJoining()
      _ = try definition(in: bundle, scope, from: path)
      return try join(with: bundle, scope, rows)
    }
    let definition = try definition(in: bundle, scope, from: path)
    // An app that was opened too early may have created an empty file. Such a file counts as missing.
    if try [.missing, .empty].contains(look().content) {
      return try makeDatabase(from: bundle, scope, definition, signer: .isTrusted)
    }
    return try fillDatabase(from: bundle, scope, definition)
  }

  /// The dataset's definition in a bundle, if the database here has rows of that dataset. nil: the database has no such
  /// rows, or the bundle has no definition.
  private func joiningRows(_ bundle: borrowing VerifiedBundle) throws -> DatasetDefinition? {
    guard let source = try bundle.dataset(limit: DatasetDefinition.maximumBytes) else { return nil }
    let definition = try DatasetDefinition(json: source)
    return try hasOwnRows(definition) ? definition : nil
  }

  /// Throws a `Refusal` if a first bundle does not follow the newest bundle in the archive. The lost database held that
  /// bundle.
  private func checkHistory(of scope: Manifest.Scope, _ digest: Digest, _ isHubConfirmed: Bool) throws {
    let newest = try ArchivedEmissions(self).emissions.last
    guard let newest, let follows = scope.follows, digest != newest.identity.digest else { return }
    let link = Manifest.EmissionLink(number: newest.scope.number, digest: newest.identity.digest)
    if scope.epoch != newest.scope.epoch {
      let isLater = scope.former?.contains(newest.scope.epoch) ?? true
      if isLater || isHubConfirmed { return }
      throw Refusal.otherHub(keeping: .inPlace)
    }
    if follows.contains(link) { return }
    throw Refusal(
      .otherHistory,
      """
      It does not follow bundle \(newest.scope.number), which this device had: the hub was set back to an earlier \
      copy, or two copies of it are at work.
      """,
      hint:
        """
        Nothing is lost. Continue with satchel sync: it carries the proof to the hub. Inform the hub's operator. The \
        hub's next full bundle makes the database here again.
        """)
  }

  /// Creates the database from a full bundle alone, and replaces the former file. A dry run creates the database only
  /// in a temporary folder.
  func makeDatabase(
    from bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope, at path: String, signer: SignerHandling
  ) throws -> ImportReport {
    try makeDatabase(from: bundle, scope, definition(in: bundle, scope, from: path), signer: signer)
  }

  /// The definition that a first bundle carries. Checks the bundle, and then puts it into the archive, except in a dry
  /// run.
  private func definition(
    in bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope, from path: String
  ) throws -> DatasetDefinition {
    guard scope.extent == .full else {
      throw Refusal(
        .gap, "It carries changes only, and this device has no data to change yet.",
        hint: "Ask for a full bundle: satchel-hub emit --device \(configuration.name) --full")
    }
    guard let source = try bundle.dataset(limit: DatasetDefinition.maximumBytes) else {
      throw BundleError.manifest("it is a device's first bundle and has no dataset.json")
    }
    let definition = try DatasetDefinition(json: source)
    // The snapshot is opened here only to check it, because a refused bundle must not get into the archive.
    _ = try Snapshot.open(bundle, holding: definition.tables)
    if runMode == .commit { try BundleArchive(folder, platform.files).keep(bundle, from: path) }
    return definition
  }

  /// Builds the database beside its final path and renames it.
  private func makeDatabase(
    from bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope, _ definition: DatasetDefinition,
    signer: SignerHandling
  ) throws -> ImportReport {
    guard let snapshot = bundle.path(of: .snapshot) else {
      throw BundleError.manifest("it is full and has no snapshot.sqlite")
    }
    let parent = Paths.parent(of: databasePath)
    try platform.files.makeDirectory(parent, mode: 0o755)
    let folder = try StagingFolder(in: parent, platform: platform)
    let path = folder.file("database")
    // The new file gets the access rights of the former file.
    let mode = try 0o644 & self.folder.databaseMode(at: databasePath, platform.files)
    try platform.files.copy(snapshot, to: path, mode: mode)
    let arriving = try ArrivingAttachments(bundle, in: self.folder, platform: platform, runMode: runMode)
    let count = try install(at: path, bundle, arriving, scope, definition)
    if runMode == .commit {
      if signer == .isTrusted { try trustSigner(of: bundle) }
      try putAsideCompanions()
      try platform.files.rename(path, to: databasePath)
    }
    var report = ImportReport(bundle.manifest, .imported, written: count)
    report.note(arriving)
    return report
  }

  /// Adds the device's own tables to a copy of the snapshot. Returns the number of rows.
  private func install(
    at path: String, _ bundle: borrowing VerifiedBundle, _ arriving: borrowing ArrivingAttachments,
    _ scope: Manifest.Scope,
    _ definition: DatasetDefinition
  ) throws -> Int {
    let database = try Database(path: path, mode: .readWrite)
    let tables: [TrackedTable]
    do { tables = try TrackedTable.find(definition, in: database) } catch let error as DatasetError {
      throw BundleError.entry(
        "snapshot.sqlite", "does not fit the dataset that came with it: at \(error.place), \(error.problem)")
    }
    return try database.writeTransaction {
      try database.execute("DROP TABLE \(SnapshotBuilder.stampTable)")
      try addSatchel(to: database, tables, bundle, scope, definition)
      try takeBlocks(of: bundle, tables, in: database)
      var count: Int64 = 0
      for table in tables { count += try table.count(in: database) }
      try begin(arriving, tables, definition, in: database)
      return Int(count)
    }
  }

  func addSatchel(
    to database: borrowing Database, _ tables: [TrackedTable], _ bundle: borrowing VerifiedBundle,
    _ scope: Manifest.Scope,
    _ definition: DatasetDefinition
  ) throws {
    let manifest = bundle.manifest
    let now = platform.clock.milliseconds()
    let exports = try BundleArchive(folder, platform.files)
      .highestOutgoing(Manifest.namePrefix(dataset: manifest.dataset, from: configuration.name, to: manifest.from.name))
    var state = try self.state(by: manifest, scope, definition)
    // A device that begins again continues after the last export number that the hub received, because no number may
    // name two exports. Exports that are still on their way count too.
    state.sequence = max(scope.acknowledged, SequenceNumber(exports))
    state.formerExports = state.sequence == .zero ? .zero : nil
    state.acknowledged = scope.acknowledged
    state.take(scope, digest: bundle.digest, signature: bundle.signature)
    state.takeProofWishes(of: manifest, scope)
    try install(tables, in: database)
    try scope.noteHistory(in: database)
    try RevokedKeys.take(manifest, into: &state, in: database)
    try state.save(in: database)
    try VersionTable.add(definition.version, definition.source, nil, at: now, in: database)
    try Capture.begin(Generation(state.sequence.rawValue), in: database)
    try Capture.witness(manifest.stamp, in: database)
    try Ledger.add(manifest, digest: bundle.digest, direction: .incoming, verdict: .imported, at: now, in: database)
  }

  /// Records the ranges of primary keys that a first bundle gives. Called after all rows are written.
  func takeBlocks(of bundle: borrowing VerifiedBundle, _ tables: [TrackedTable], in database: borrowing Database) throws
  {
    try PrimaryKeyCollisions.takeBlocks(of: bundle, after: .zero, tables, device: configuration.id, in: database)
  }

  /// Stores the files of a first bundle, and records files that exist here already. This is the last step before the
  /// commit.
  func begin(
    _ arriving: borrowing ArrivingAttachments, _ tables: [TrackedTable], _ definition: DatasetDefinition,
    in database: borrowing Database
  ) throws {
    let list = AttachmentList(tables, limits: definition.attachments, AttachedFiles(folder, platform))
    try list.takeUpOthers(but: arriving, in: database)
    try list.take(arriving, in: database)
    if runMode == .commit { try arriving.put() }
  }

  /// Adds capture and the device's empty tables.
  func install(_ tables: [TrackedTable], in database: borrowing Database) throws {
    try Capture.install(in: database, tables: tables)
    for sql in DeviceSchema.all { try database.execute(sql) }
    try DeviceSchema.upgrade.begin(in: database)
  }

  /// The state of a device that has neither exported nor imported anything.
  func state(by manifest: Manifest, _ scope: Manifest.Scope, _ definition: DatasetDefinition) throws -> DeviceState {
    guard let incarnation = configuration.incarnation else {
      throw WorkspaceError(.badWorkspace, "satchel.json has no incarnation.")
    }
    return DeviceState(
      id: configuration.id, name: configuration.name, user: manifest.user, hubID: manifest.from.id,
      hubName: manifest.from.name,
      epoch: scope.epoch, incarnation: incarnation, sequence: .zero, acknowledged: .zero, received: .zero,
      heard: platform.clock.milliseconds(), definition: definition.source, hubRecipient: manifest.recipient)
  }
}
