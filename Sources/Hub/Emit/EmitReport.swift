import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The result of making an emission for one device.
public struct EmitReport: Sendable {
  public let device: String
  public let user: String
  public let number: EmissionNumber
  /// The bundle's file in the outbox.
  public let file: String
  public let extent: Manifest.Scope.Extent
  /// The number of rows that the bundle carries, and the number of rows that it removes.
  public let rows: Int
  public let gone: Int
  /// The number of the user's rows that stay behind, because the bundle must be small.
  public let rowsLeft: Int
  /// The number of attached files in the bundle, and the number of files that are left for later bundles.
  public var attached = 0
  public var attachedLeft = 0
  /// The size of the bundle's file.
  public var bytes: Int64 = 0
  /// False if the emission `number` already has everything for the device.
  public let isNew: Bool
}

extension HubWorkspace {
  /// Makes a bundle for a device. The caller must hold the workspace's lock.
  func emit(
    to name: String, full: Bool, encryption: Encryption, room: BundleRoom, _ store: HubStore,
    _ turns: WriteLockPacing
  ) throws -> EmitReport {
    try refuseSetBack(store)
    try checkClock(store)
    try checkRevocations(store)
    guard let device = try store.device(named: name) else { throw Self.noDevice(name) }
    guard [.active, .preparing].contains(device.state) else {
      throw WorkspaceError(
        device.state == .flagged ? .flagged : .revoked,
        "The device \(name) is \(device.state.rawValue): no bundle is made for it.",
        hint: device.state == .flagged
          ? "Choose the copy of it that keeps the name: satchel-hub device fork \(name)" : nil
      )
    }
    try refuseUnknownEmission(for: device, store)
    try refuseStampsAhead(for: device, store)
    guard let user = try store.user(device.user) else { throw Self.noUser(device.user) }
    try Self.refuseExpired(device, user, by: platform.clock)
    try refuseUnknownUser(of: device, store)
    let key = try signing(for: device)
    let rotation = try rotation(for: device)
    let recipients = try encryption.recipients(device.recipient, name: device.name, store.dataset, keys)
    var draft = try BundleDraft(in: folder.outbox, platform: platform)
    let written = try HeldRows.areThere(store) ? store.tables.map(\.name) : []
    let oversized = try oversizedEmission(to: device, in: room, store)
    func planned<T>(_ runMode: RunMode, leaving left: Set<Int>, _ body: (EmissionPlan) throws -> T) throws -> T {
      try turns.take {
        try store.applyTransaction(runMode, to: written) {
          try body(
            plan(for: device, user, full: full, mustTellKey: rotation != nil, replacing: oversized, store)
              .leaving(left, store))
        }
      }
    }
    // For `--size`: makes the bundle without files, only to measure it.
    let left = try tablesLeft(in: room, store) { left in
      var trial = try BundleDraft(in: folder.outbox, platform: platform)
      let sealed = try planned(.dryRun, leaving: left) {
        try write($0, HubAttachments.Outgoing(), into: &trial, store, key, rotation)
      }
      return try platform.files.size(trial.write(sealed, for: recipients))
    }
    // Files are copied outside a transaction, so rows may change meanwhile. The transaction below determines again
    // which files the device needs.
    let attachments = HubAttachments(store, self)
    var attached = HubAttachments.Outgoing()
    var seen: [SeenFile] = []
    if attachments.areAny {
      // The app at the hub may have written rows that name files from devices.
      if try store.namesCursor() < store.cursor() {
        try turns.take { try store.writeTransaction(runMode) { try settleNames(.changed, store) } }
      }
      seen = try attachments.look(for: device)
      attached = try planned(runMode, leaving: left) { plan in
        if let oversized { try store.markUnsent(by: oversized, to: device.id) }
        return try attachments.owe(by: plan, seen)
      }
      try attachments.stage(&attached, in: room, besides: databasePath, into: &draft) {
        var trial = try BundleDraft(in: folder.outbox, platform: platform)
        let sealed = try planned(.dryRun, leaving: left) {
          try write($0, HubAttachments.Outgoing(), into: &trial, store, key, rotation)
        }
        return try platform.files.size(trial.write(sealed, for: recipients))
      }
    }
    let made = try planned(runMode, leaving: left) { plan in
      if attachments.areAny { attached.restrict(to: try attachments.owe(by: plan, seen)) }
      let isNothingNew = plan.isNothingNew && !attached.isDue
      return try (plan: plan, sealed: isNothingNew ? nil : write(plan, attached, into: &draft, store, key, rotation))
    }
    // The file is written outside a transaction, as in a device's export. So writers at the hub need not wait for it.
    var bytes: Int64?
    if let sealed = made.sealed {
      let file = try draft.write(sealed, for: recipients)
      bytes = try platform.files.size(file)
      if runMode == .commit { try publish(file, as: sealed.manifest.fileName, of: made.plan, store) }
    }
    let name = made.sealed?.manifest.fileName ?? made.plan.emissions.last?.file ?? ""
    let path = try folder.place(ofOutgoing: name, platform.files)
    if made.sealed == nil, runMode == .commit, !recipients.isEmpty {
      try encryptInPlace(path, for: recipients, platform: platform)
    }
    var report = made.plan.report(file: path, isNew: made.sealed != nil)
    report.attached = made.sealed == nil ? 0 : attached.count
    report.attachedLeft = made.sealed == nil ? attached.dueLeft : attached.left
    // `kind` is checked, because the file may be deleted already if the device has the emission.
    let isThere = try bytes == nil && platform.files.kind(path) == .file
    report.bytes = try bytes ?? (isThere ? platform.files.size(path) : 0)
    return report
  }

  /// The tables whose new rows stay behind, so that the bundle has the size that a person requested. Empty if all rows
  /// fit, or if no table has rows that may stay behind.
  /// - Parameter measured: returns the size of the bundle without files, and without the new rows of the tables `left`.
  private func tablesLeft(
    in room: BundleRoom, _ store: HubStore, _ measured: (_ left: Set<Int>) throws -> Int64
  ) throws -> Set<Int> {
    guard let most = room.requested else { return [] }
    var left: Set<Int> = []
    for level in RowPriorities(store.tables).levels {
      if try measured(left) <= most { break }
      left.formUnion(level)
    }
    return left
  }

  /// The last emission, if it has attached files and its bundle does not fit. An emission with fewer files can replace
  /// it.
  private func oversizedEmission(
    to device: EnrolledDevice, in room: BundleRoom, _ store: HubStore
  ) throws -> EmissionNumber? {
    guard let last = try store.emissions(of: device.id).last, last.number > device.proved else { return nil }
    let file = try folder.place(ofOutgoing: last.file, platform.files)
    guard try platform.files.kind(file) == .file, try !room.fits(file, platform.files),
      try store.owedAttachments(to: device.id).contains(where: { $0.sent == last.number })
    else { return nil }
    return last.number
  }

  /// Decides the content of an emission. First, all local writes are recorded in the log. The caller must hold the
  /// transaction.
  private func plan(
    for device: EnrolledDevice, _ user: User, full: Bool, mustTellKey: Bool, replacing oversized: EmissionNumber?,
    _ store: HubStore
  ) throws -> EmissionPlan {
    let now = platform.clock.milliseconds()
    try store.logLocalWrites(user: Self.hubUser, at: now)
    // A held row of a device may wait for one of these local writes.
    _ = try HeldRows(store, now: now).release()
    return try EmissionPlan(store, device: device, user: user, full: full, mustTellKey: mustTellKey) { last in
      let path = try folder.place(ofOutgoing: last.file, platform.files)
      return try last.number != oversized && platform.files.kind(path) == .file
        && isSignedWithPresentKey(path, for: device, store)
    } saidAnything: {
      try saidAnything(device, user, after: $0, store)
    }
  }

  /// The most exports that the hub leaves without an acknowledgement, because they contain only acknowledgements. Each
  /// emission reads these exports again.
  private static let mostUnanswered = 100

  /// Whether the emission in this file is signed with the key that signs for the device now. True for a device that is
  /// known to be in the present epoch, and for a file that the hub cannot read.
  ///
  /// Together with the database, the folder `keys/` may have been replaced by an older copy. In that case the hub signs
  /// its first emissions of the epoch with an old key, which the devices have already replaced. When the newer keys are
  /// back, the hub makes these emissions again.
  private func isSignedWithPresentKey(_ path: String, for device: EnrolledDevice, _ store: HubStore) throws -> Bool {
    guard device.state == .active, device.proved < store.identity.firstEmission,
      let signer = try reader.identityIfSound(of: path, trust: .keys(ownKeys()))?.signer
    else { return true }
    let next = try device.knowsNextKey ? keys.nextKey() : nil
    return try signer == (next ?? keys.ownKey())
  }

  /// Whether the device delivered anything after this export that needs an acknowledgement. An export that only
  /// acknowledges needs none. Otherwise both sides would answer each other for ever. An export of a former user always
  /// needs one: the device asks people to carry it until the hub has acknowledged it.
  private func saidAnything(
    _ device: EnrolledDevice, _ user: User, after sequence: SequenceNumber, _ store: HubStore
  ) throws -> Bool {
    let later = try HubArchive(folder, platform.files).bundles(of: device.name, dataset: store.dataset.name)
      .filter { $0.number > sequence.rawValue }
    // The loop reads these exports again for each emission. So after many of them, the hub acknowledges.
    if later.count > Self.mostUnanswered { return true }
    for bundle in later {
      let manifest = try reader.manifestIfSound(of: bundle.path, trust: .keys(trustedKeys(store)))
      guard let manifest, !manifest.saysAnything, Name(manifest.user) == Name(user.name) else { return true }
    }
    return !later.contains { $0.number == device.merged.rawValue }
  }

  private func write(
    _ plan: EmissionPlan, _ attached: HubAttachments.Outgoing, into draft: inout BundleDraft, _ store: HubStore,
    _ key: borrowing SigningKey, _ rotation: Manifest.Rotation?
  ) throws -> SealedBundle {
    try KeyBlocks(store).renewOwn()
    try KeyBlocks(store).renew(for: plan)
    let writer = EmissionWriter(store: store, plan: plan)
    var newest = try writer.addRows(to: &draft)
    let conflicts = try writer.addConflicts(to: &draft)
    if plan.carriesDefinition {
      try draft.addDataset(store.dataset.source)
      try draft.addMigrations(plan.migrations)
    }
    try HubAttachments(store, self).seal(attached, of: plan, into: &draft)
    draft.require(store.tables.critical)
    let now = platform.clock.milliseconds()
    // Only the bundle's own content and the clock decide the stamp. Any other stamp could reveal changes that this user
    // may not see.
    newest = max(newest, Stamp(milliseconds: now))
    var scope = Manifest.Scope(
      epoch: store.identity.epoch, number: plan.number, after: plan.extent == .full ? .zero : plan.device.proved,
      extent: plan.extent, acknowledged: plan.device.merged,
      acknowledgedDigest: try store.digest(of: plan.device.merged, in: plan.device.id))
    scope.backedUp = plan.device.backedUp
    scope.follows = try store.follows(plan)
    scope.former = try store.identity.knowsFormerEpochs ? store.formerEpochs() : nil
    scope.collected = try store.collected(from: plan.device.id, most: mostBrought)
    scope.known = try store.knownEmissions(for: plan.device)
    scope.compare = plan.device.understands.contains(.state) ? try store.questions(for: plan.device.id) : []
    var manifest = Manifest(
      bundle: platform.random.identifier(), dataset: store.dataset.name, version: store.dataset.version,
      from: .init(id: store.identity.id, name: store.identity.name),
      to: .init(id: plan.device.id, name: plan.device.name),
      user: plan.user.name, created: UTCTime.text(milliseconds: now), stamp: newest, changes: draft.count(of: .changes),
      conflicts: draft.count(of: .conflicts),
      body: .scope(scope))
    manifest.recipient = try keys.recipient()
    manifest.understands = Set(Manifest.Critical.allCases)
    manifest.rotation = rotation
    manifest.revoked = try store.revocations()
    if rotation != nil, plan.device.toldKey == nil {
      var device = plan.device
      device.toldKey = plan.number
      try store.save(device)
    }
    let sealed = try draft.seal(manifest, with: key)
    let emission = Emission(
      number: plan.number, cursor: plan.cursor, acknowledged: plan.device.merged, version: store.dataset.version,
      revocations: manifest.revoked?.number ?? 0, user: plan.user.name, attributes: plan.user.attributes,
      basis: plan.basis, file: manifest.fileName, isWritten: false, digest: sealed.digest, stamp: newest,
      rowsLeft: Int64(plan.rowsLeft))
    let previous = zip(plan.emissions, plan.held).suffix(1).map { (number: $0.number, sets: $1) }.first
    try store.save(emission, holding: plan.visible, after: previous, of: plan.device.id)
    try store.markTold(writer.keysToTell(), by: plan.number)
    try store.markCollectedTold(to: plan.device.id, by: plan.number, most: mostBrought)
    try store.markAsked(plan.device.id, by: plan.number)
    try store.markOwedSent(to: plan.device.id, by: plan.number)
    try ConflictTable.markTold(conflicts, by: plan.number.rawValue, in: store.database)
    try Ledger.add(
      manifest, digest: sealed.digest, direction: .outgoing, verdict: .written, at: now, in: store.database)
    return sealed
  }

  /// Gives the file its name in the outbox. The new bundle contains everything of the older bundles for the device, so
  /// they move to `sent`.
  private func publish(_ path: String, as name: String, of plan: EmissionPlan, _ store: HubStore) throws {
    try platform.files.rename(path, to: Paths.join(folder.outbox, name))
    try store.markWritten(plan.number, of: plan.device.id)
    let emitted = Manifest.namePrefix(dataset: store.dataset.name, from: store.identity.name, to: plan.device.name)
    try BundleVolumes.remove(emitted, below: plan.number.rawValue, folder: folder, files: platform.files)
    let older = plan.emissions.map(\.file)
    for name in try platform.files.list(folder.outbox) where older.contains(where: { Name($0) == Name(name) }) {
      try platform.files.rename(Paths.join(folder.outbox, name), to: Paths.join(folder.sent, name))
    }
  }

  /// Puts volumes of a finished bundle for a device on a medium. The caller must hold the workspace's lock.
  func putVolumes(
    of file: String, for name: String, on medium: some VolumeMedium, _ parity: ParityShare, _ store: HubStore
  ) throws -> CarriedVolumes {
    guard let device = try store.device(named: name) else { throw Self.noDevice(name) }
    return try BundleVolumes(folder, reader: reader, platform: platform).put(
      file, on: medium, parity: parity, trust: ownKeys(), key: signing(for: device)
    ) { try Encryption.always.recipients(device.recipient, name: device.name, store.dataset, keys) }
  }

  /// Cuts a finished bundle for a device into volumes. The caller must hold the workspace's lock.
  func cut(
    _ report: EmitReport, size: Int64, _ parity: ParityShare, into target: String?, _ store: HubStore
  ) throws -> [String] {
    guard let device = try store.device(named: report.device) else { throw Self.noDevice(report.device) }
    return try BundleVolumes(folder, reader: reader, platform: platform).cut(
      report.file, size: size, parity: parity, into: target, trust: ownKeys(), key: signing(for: device)
    ) { try Encryption.always.recipients(device.recipient, name: device.name, store.dataset, keys) }
  }
}
