import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Adds missing records of bundles to a database, from the workspace's files. An older copy replaced the database, or
/// an app created it again. The caller holds the transaction.
struct LedgerRecovery {
  private let session: DeviceSession
  private let bundles: ArchivedBundles
  /// The exports whose files exist and of which the database has no record.
  let exports: [SequenceNumber]
  /// The hub's bundles of which the database has no record.
  let emissions: [Int64]
  private let newest: SequenceNumber
  /// The device's user, from the hub's newest bundle.
  private let user: String

  private var database: Database { _read { yield session.database } }

  init(
    _ session: DeviceSession, _ bundles: ArchivedBundles, to newest: SequenceNumber, _ received: EmissionNumber
  ) throws {
    self.session = session
    self.bundles = bundles
    let first = session.state.sequence.rawValue + 1
    exports = try (first..<newest.rawValue + 1).map { SequenceNumber($0) }
      .filter { try bundles.place(ofExport: $0) != nil }
    emissions = try session.archive.numbers(session.incomingPrefix)
      .filter { $0 > session.state.received.rawValue && $0 <= received.rawValue }
    self.newest = newest
    user = received == .zero ? session.state.user : try bundles.emission(received.rawValue).manifest.user
  }

  /// The newest sealed export: a former user made it, and later exports do not contain it. nil: there is none.
  func sealed() throws -> SequenceNumber? {
    if newest == .zero { return nil }
    let export = try bundles.manifest(ofExport: newest)
    if Name(export.user) != Name(user) { return newest }
    guard case .changes(let changes) = export.body else { return nil }
    return changes.base
  }

  /// Records which rows of this device got other primary keys. Must be called before bundles are replayed, because the
  /// replay needs these records.
  func takeUpKeys() throws {
    guard session.tables.contains(where: \.renamesRows) else { return }
    var entries: [Entry] = []
    for number in emissions {
      try bundles.emission(number).eachChange { line in
        if let entry = entry(of: line, sequence: nil), entry.row.number.rawValue == number { entries.append(entry) }
      }
    }
    for sequence in exports {
      try bundles.export(sequence).eachChange { line in
        guard let entry = entry(of: line, sequence: SequenceNumber(sequence.rawValue - 1)) else { return }
        if !entries.contains(where: { $0.row == entry.row }) { entries.append(entry) }
      }
    }
    for entry in entries.sorted(by: { $0.row.number < $1.row.number }) {
      try RenumberedTable.restore(entry.row, sequence: entry.sequence, in: database)
    }
  }

  func takeUpExports() throws {
    let now = session.platform.clock.milliseconds()
    for sequence in exports {
      let bundle = try bundles.export(sequence)
      guard case .changes(let changes) = bundle.manifest.body else { continue }
      let former = bundle.manifest.from.id
      // An export under a former name counts as not written, because it cannot be carried.
      try ExportTable.restore(
        bundle, changes, received: bundles.received(changes), isWritten: former == session.state.id, in: database)
      try Ledger.add(
        bundle.manifest, digest: bundle.digest, direction: .outgoing, verdict: .written, at: now, in: database)
      try bundle.eachConflict {
        let record = $0.byPresentName(of: session.state, insteadOf: former)
        try ConflictTable.add(record, bundle: nil, noted: now, told: sequence.rawValue, in: database)
        // In an old copy, this conflict may still count as not reported, so it is marked as reported.
        if Name($0.user) != Name(user) { try ConflictTable.markTold([$0.id], by: sequence.rawValue, in: database) }
      }
      try bundle.eachResolution { try ResolutionTable.add($0, in: database) }
      try Capture.witness(bundle.manifest.stamp, in: database)
    }
    // The present user may not see the disagreements and decisions of former users.
    try ConflictTable.forget(ofOthersThan: user, toldUpTo: newest.rawValue, in: database)
    try ResolutionTable.forget(ofOthersThan: user, before: Generation(newest.rawValue), in: database)
  }

  func takeUpEmissions() throws {
    let now = session.platform.clock.milliseconds()
    for number in emissions {
      let bundle = try bundles.emission(number)
      try session.takeConflicts(of: bundle, at: now)
      try PrimaryKeyCollisions.takeBlocks(
        of: bundle, after: session.state.received, session.tables, device: session.state.id, in: database)
      if let definition = try bundle.dataset(limit: 1 << 20) { session.state.definition = definition }
      try takeUp(bundle.manifest, bundles.scope(of: bundle.manifest))
      try session.state.take(bundles.scope(of: bundle.manifest), digest: bundle.digest, signature: bundle.signature)
      try Ledger.add(
        bundle.manifest, digest: bundle.digest, direction: .incoming, verdict: .imported, at: now, in: database)
      try Capture.witness(bundle.manifest.stamp, in: database)
    }
  }

  /// Records the statements of a bundle from the hub, such as the user and the revoked keys.
  private func takeUp(_ manifest: Manifest, _ scope: Manifest.Scope) throws {
    session.state.user = manifest.user
    session.state.hubRecipient = manifest.recipient ?? session.state.hubRecipient
    session.state.takeProofWishes(of: manifest, scope)
    try scope.noteHistory(in: database)
    try RevokedKeys.take(manifest, into: &session.state, in: database)
  }

  // MARK: keys

  private struct Entry {
    let row: RenumberedRow
    /// The last export before the row got its primary key; nil: the hub gave the key.
    let sequence: SequenceNumber?
  }

  private func entry(of line: ChangeLine, sequence: SequenceNumber?) -> Entry? {
    guard case .rekey(let to, let number) = line.content, let table = session.table(line.table),
      let old = table.singleKey(line.key), let new = table.singleKey(to)
    else { return nil }
    return Entry(row: RenumberedRow(table: line.table, old: old, new: new, number: number), sequence: sequence)
  }
}
