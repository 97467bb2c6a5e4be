import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelMerge
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Replays the signed bundles of the hub and of this device, to compute each row as it must be here. The result lacks
/// changes that no trigger recorded, and changes that no export carries yet.
final class DeviceHistory {
  let known: BaselineRows
  /// The last export's changes, rebased on all imports since then.
  private(set) var sent: [Name: [RowKey: SentRow]] = [:]
  /// The changes of the last export that lost when they were rebased on a later import. The hub does not know that they
  /// lost.
  private(set) var lost: [LostChanges.Lost] = []
  /// Deletes of the last export that, on a later import, met a row which another writer had marked as deleted.
  private(set) var repeatedDeletes: [(table: Name, key: RowKey, lost: Rebased.Lost)] = []
  /// The first generation whose writes are in no export.
  private(set) var unsent = Generation.zero

  private let session: DeviceSession
  private let former: FormerColumns
  private let bundles: ArchivedBundles
  private let folder: StagingFolder
  private(set) var acknowledged = SequenceNumber.zero
  /// The emission before the emission that is replayed now. `isFollowed`: whether the replayed emission follows it.
  private var base = EmissionNumber.zero
  private var isFollowed = false
  /// Whether the replayed emission is of the same epoch as the emission or the export before it.
  private var isOfSameEpoch = false
  private var isRemembered = false
  /// The writes of others to rows that were written in an old copy of the database; nil: there is no old copy.
  private(set) var since: WritesSince?
  /// The user of the emission that is replayed now.
  private var user = ""
  /// The last export, and the emission that the database then held; nil: the rows hold no changes of an export.
  private let lastExport: (sequence: SequenceNumber, received: EmissionNumber)?

  /// The position of a device in its history: the bundles that came from the hub, and its last export.
  struct Stand {
    /// The numbers of the hub's bundles whose files are here, in their order.
    let numbers: [Int64]
    let received: EmissionNumber
    let lastExport: (sequence: SequenceNumber, received: EmissionNumber)?
  }

  /// Throws a `WorkspaceError` that names the bundle, if a bundle is missing or damaged.
  init(_ session: DeviceSession, at stand: Stand, since: WritesSince? = nil) throws {
    self.session = session
    self.since = since
    bundles = try ArchivedBundles(session)
    former = try VersionTable.columns(in: session.database)
    folder = try StagingFolder(in: session.folder.inbox, platform: session.platform)
    known = try BaselineRows(at: folder.file("known.sqlite"), like: session.database, tables: session.tables)
    // A former user made the sealed export, so the rows hold none of its changes.
    let isSealed = stand.lastExport.map { $0.sequence <= session.state.sealed ?? .zero } ?? false
    lastExport = isSealed ? nil : stand.lastExport
    unsent = Generation(stand.lastExport?.sequence.rawValue ?? 0)
    try replay(stand)
    guard let lastExport else { return }
    if lastExport.sequence > acknowledged, !isRemembered {
      throw ArchivedBundles.incomplete("the hub's bundle \(lastExport.received) is missing")
    }
  }

  // MARK: the bundles

  private func replay(_ target: Stand) throws {
    let numbers = target.numbers
    var stand = EmissionNumber.zero
    var epoch: Epoch?
    for number in try numbers[bundles.lastFull(of: numbers)...] {
      let bundle = try bundles.emission(number)
      let scope = try bundles.scope(of: bundle.manifest)
      guard scope.extent == .full || scope.after <= stand else {
        throw ArchivedBundles.incomplete("the hub's bundle \(scope.after) is missing")
      }
      place(on: stand, of: epoch, before: scope)
      epoch = scope.epoch
      try take(bundle, scope)
      stand = scope.number
    }
    guard stand == target.received else {
      throw ArchivedBundles.incomplete("the hub's bundle \(target.received) is missing")
    }
  }

  /// Records the emission from which the rows come, before the next emission is replayed.
  private func place(on number: EmissionNumber, of epoch: Epoch?, before scope: Manifest.Scope) {
    base = number
    isOfSameEpoch = epoch == scope.epoch
    isFollowed = scope.follows?.contains { $0.number == number } ?? false
  }

  // MARK: their contents

  private func take(_ bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope) throws {
    user = bundle.manifest.user
    known.expect(version: bundle.manifest.version, former)
    if scope.extent == .full { return try fill(from: bundle, scope) }
    if scope.acknowledged > acknowledged {
      try overlay(scope.acknowledged)
      known.expect(version: bundle.manifest.version, former)
    }
    acknowledged = max(acknowledged, scope.acknowledged)
    forgetAcknowledged()
    try followKeys(scope.number)
    try bundle.eachChange { line in
      guard let table = known.table(line.table) else { return }
      if !line.content.isAboutKeys {
        since?.note(line.key, at: line.stamp, line.others, by: scope.number, in: table.schema)
      }
      switch line.content {
      case .row(let fields):
        table.expect(columns: fields.map(\.name))
        try set(line.key, table.row(of: fields), at: line.stamp, others: line.others, in: table)
      // The row leaves its old key. The bundle brings the row under its new key, and all rows that refer to it.
      case .rekey(_, let number): if number == scope.number { try set(line.key, nil, at: line.stamp, in: table) }
      case .block: break
      default: try set(line.key, nil, at: line.stamp, in: table)
      }
    }
    if let lastExport, lastExport.sequence > acknowledged, lastExport.received == scope.number {
      try remember(lastExport.sequence, onto: false)
    }
  }

  private func fill(from bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope) throws {
    guard let snapshot = try Snapshot.open(holdingItsOwnTables: bundle) else {
      throw ArchivedBundles.incomplete("a full bundle has no snapshot")
    }
    for table in known.tables { try table.fill(from: snapshot) }
    try noteWrites(from: snapshot, scope.number)
    acknowledged = scope.acknowledged
    guard let lastExport, lastExport.sequence > acknowledged, lastExport.received <= scope.number else { return }
    // If the export is older than the full bundle, its changes were replayed on the bundle's rows.
    let isOlder = lastExport.received < scope.number
    let since = try session.emissionsWithKeys(after: lastExport.received, through: scope.number).compactMap {
      try newKeys(with: $0)
    }
    try remember(lastExport.sequence, onto: isOlder, newKeys: since)
    if !isOlder { return }
    place(on: lastExport.received, of: try epoch(ofExport: lastExport.sequence), before: scope)
    for table in known.tables {
      for key in sent[table.name, default: [:]].keys {
        let row = try table.row(key)
        let (stamp, others) = try Self.writes(to: row.map(table.schema.key) ?? key, in: table, of: snapshot)
        try set(key, row, at: stamp, others: others, in: table)
      }
    }
  }

  /// Records the writes of others, as a full bundle's snapshot reports them.
  private func noteWrites(from snapshot: borrowing Database, _ number: EmissionNumber) throws {
    for table in known.tables {
      for key in since?.keys(in: table.name) ?? [] {
        let spelled = try table.row(key).map(table.schema.key) ?? key
        let (stamp, others) = try Self.writes(to: spelled, in: table, of: snapshot)
        since?.note(key, at: stamp, others, by: number, in: table.schema)
      }
    }
  }

  /// The newest stamp of a row, and the writes of others to it, as a snapshot reports them.
  private static func writes(
    to key: RowKey, in table: BaselineTable, of snapshot: borrowing Database
  ) throws -> (stamp: Stamp, others: [OthersWrite]?) {
    (
      try SnapshotBuilder.stamp(of: key, in: table.name, database: snapshot),
      try SnapshotBuilder.others(of: key, in: table.name, database: snapshot)
    )
  }

  private func epoch(ofExport sequence: SequenceNumber) throws -> Epoch? {
    guard case .changes(let changes) = try bundles.manifest(ofExport: sequence).body else { return nil }
    return changes.epoch
  }

  /// Applies an acknowledged export to the known rows. The hub merged the export's changes as they were sent, or its
  /// bundles report the differences. Leaves out an export of a former user, because the rows hold none of its changes.
  private func overlay(_ sequence: SequenceNumber) throws {
    let export = try bundles.export(sequence)
    if Name(export.manifest.user) != Name(user) { return }
    known.expect(version: export.manifest.version, former)
    try export.eachChange { line in
      if line.content.isAboutKeys { return }
      guard let generation = line.generation, generation.rawValue >= acknowledged.rawValue,
        let table = known.table(line.table)
      else { return }
      try table.set(line.key, after(line, from: table.row(line.key), in: table))
    }
  }

  private func after(_ line: ChangeLine, from row: Row?, in table: BaselineTable) -> Row? {
    switch line.content {
    case .insert(let fields), .row(let fields):
      table.expect(columns: fields.map(\.name))
      return table.row(of: fields)
    case .update(let set, _): return row.map { table.laid(set, over: $0) }
    case .delete, .gone: return nil
    case .rekey, .block: return row
    }
  }

  /// The new primary keys that rows of the device got with an emission; nil: no row got a new key.
  private func newKeys(with number: EmissionNumber) throws -> PrimaryKeyMap? {
    let entries = try session.keysGiven(with: number)
    return entries.isEmpty ? nil : PrimaryKeyMap(try PrimaryKeyReferences(session.tables), session.tables, entries)
  }

  /// Gives the sent changes the primary keys that the device's rows got with this emission.
  private func followKeys(_ number: EmissionNumber) throws {
    guard let map = try newKeys(with: number) else { return }
    for (place, table) in session.tables.enumerated() {
      let rows = sent[table.name, default: [:]].map { key, own in
        let images = own.images.map {
          $0.mapRow { map.row($0, of: place) }
        }
        return (map.key(key, of: place), SentRow(images: images, row: own.row.map { map.row($0, of: place) }))
      }
      sent[table.name] = Dictionary(rows) { first, _ in first }
    }
  }

  private func set(
    _ key: RowKey, _ row: Row?, at stamp: Stamp, others: [OthersWrite]? = nil, in table: BaselineTable
  ) throws {
    if let own = sent[table.name]?[key] {
      let told = others.map {
        ToldWrites($0, in: table.schema, beside: stamp, on: base, isWhole: isFollowed)
      }
      let rules = MergeRules(table.table.rules, schema: table.schema)
      let rebased = rebase(
        own.images, to: own.row, onto: row, at: stamp, told: told,
        by: isOfSameEpoch ? rules.addingEqualCounters : rules)
      sent[table.name]?[key] = SentRow(images: rebased.images, row: rebased.row)
      repeatedDeletes += rebased.repeatedDeletes.map { (table: table.schema.name, key: key, lost: $0) }
      for conflict in rebased.conflicts {
        lost.append(
          .init(
            table.schema.name, key, image: conflict.image, change: conflict.change,
            disagreement: conflict.disagreement, met: conflict.met))
      }
    }
    try table.set(key, row)
  }

  private func forgetAcknowledged() {
    lost.removeAll { $0.image.generation.rawValue < acknowledged.rawValue }
    repeatedDeletes.removeAll { $0.lost.image.generation.rawValue < acknowledged.rawValue }
    for (table, rows) in sent {
      sent[table] = rows.compactMapValues { own in
        let images = own.images.filter { $0.generation.rawValue >= acknowledged.rawValue }
        return images.isEmpty ? nil : SentRow(images: images, row: own.row)
      }
    }
  }

  // MARK: the last export

  /// Reads the last export's changes.
  /// - Parameters:
  ///   - onto: true: the export was made before the known rows, and its changes are replayed on them.
  ///   - newKeys: the primary keys that rows got after the export.
  private func remember(_ sequence: SequenceNumber, onto: Bool, newKeys: [PrimaryKeyMap] = []) throws {
    var rows: [Name: [RowKey: SentRow]] = [:]
    defer { isRemembered = true }
    let export = try bundles.export(sequence)
    if Name(export.manifest.user) != Name(user) { return }
    known.expect(version: export.manifest.version, former)
    try export.eachChange { sentLine in
      if sentLine.content.isAboutKeys { return }
      var line = sentLine
      if let place = session.tables.firstIndex(where: { $0.name == line.table }) {
        for map in newKeys { line = map.line(line, of: place) }
      }
      guard let generation = line.generation, generation.rawValue >= acknowledged.rawValue,
        let table = known.table(line.table)
      else { return }
      let before = rows[line.table]?[line.key]
      let row = try before == nil ? start(of: line, in: table, onto: onto) : before?.row
      let image = PreImage(generation: generation, stamp: line.stamp, first: line.first, row: row, unit: line.unit)
      // If the spelling of a key changed, the row has two lines in one generation.
      let isBegun = before?.images.last?.generation == generation
      rows[line.table, default: [:]][line.key] = SentRow(
        images: (before?.images ?? []) + (isBegun ? [] : [image]), row: after(line, from: row, in: table))
    }
    sent = rows
  }

  /// Returns a row as it was before the export's first change of this row.
  private func start(of line: ChangeLine, in table: BaselineTable, onto: Bool) throws -> Row? {
    switch line.content {
    case .insert: return nil
    case .delete(let was) where onto:
      table.expect(columns: was.map(\.name))
      return table.row(of: was)
    case .update(_, let was) where onto: return table.laid(was, over: try table.row(line.key) ?? table.row(of: was))
    default: return try table.row(line.key)
    }
  }
}

extension DeviceSession {
  /// The position of this device in its history, as the database records it.
  func stand() throws -> DeviceHistory.Stand {
    let imported = try Ledger.importedEmissions(in: database)
    let numbers = try archive.numbers(incomingPrefix).filter { $0 <= state.received.rawValue && imported.contains($0) }
    return DeviceHistory.Stand(
      numbers: numbers, received: state.received, lastExport: try ExportTable.lastWritten(in: database))
  }
}
