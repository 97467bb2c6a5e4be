import SatchelBundle
import SatchelCapture
import SatchelMerge
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Brings an old copy of a device's database to the state of the newer database, as far as bundles reach. Writes that
/// were made in the copy are replayed on top.
///
/// Writes that were only in the newer file, and in no export, cannot be recovered. The caller holds the transaction,
/// and triggers are off.
struct RollForward {
  private let session: DeviceSession
  private let history: DeviceHistory
  private let newest: SequenceNumber
  private let received: EmissionNumber
  private let bundles: ArchivedBundles
  private let recollection: LedgerRecovery
  private let lost = LostChanges()
  private let writes: [Name: [RowKey: CopiedWrite]]
  /// The newest sealed export; nil: there is none.
  private let sealed: SequenceNumber?

  private var database: Database { _read { yield session.database } }

  /// - Parameter unseen: the rows of the copy with writes that no trigger recorded. The writes are pending changes now.
  init(_ session: DeviceSession, to newest: SequenceNumber, unseen: Set<RowInTable> = []) throws {
    self.session = session
    self.newest = newest
    let numbers = try session.archive.numbers(session.incomingPrefix)
    guard let last = numbers.last, last >= session.state.received.rawValue else {
      throw ArchivedBundles.incomplete("the hub's bundle \(session.state.received) is missing")
    }
    received = EmissionNumber(last)
    bundles = try ArchivedBundles(session)
    for number in numbers where number > session.state.received.rawValue {
      if try bundles.isOfLaterEpoch(number) { throw Self.earlierEpoch }
      let version = try bundles.emission(number).manifest.version
      if version > session.dataset.version { throw Self.olderVersion(session, than: version) }
    }
    recollection = try LedgerRecovery(session, bundles, to: newest, received)
    sealed = try recollection.sealed()
    try recollection.takeUpKeys()
    let stoodOn = try bundles.stood(newest)
    try Capture.settle(session.tables, in: session.database)
    writes = try Self.ownWrites(session, bundles, recollection.exports, unseen)
    history = try DeviceHistory(
      session, at: .init(numbers: numbers, received: received, lastExport: (sequence: newest, received: stoodOn)),
      since: WritesSince(session.state.received, about: writes.mapValues { Set($0.keys) }))
  }

  /// The error if the copy is from before an epoch of the hub began. The first bundle of an epoch brings all rows
  /// again, and does not show the result of the writes in the copy.
  private static var earlierEpoch: WorkspaceError {
    WorkspaceError(
      .olderDatabase,
      """
      The database was replaced by an older copy, from before the hub was restored or replaced. The newer database \
      had later rows from the hub.
      """, hint: wayOut)
  }

  private static let wayOut = """
    Put the newer database back if there is one. If not, move this one out of the way, and satchel doctor --repair \
    makes another one; what was written into this one last is then in the file that you kept.
    """

  /// The error if the copy has an older dataset version. Only the hub decides how a migration changes rows that were
  /// written into a copy.
  private static func olderVersion(_ session: DeviceSession, than version: Int64) -> WorkspaceError {
    WorkspaceError(
      .olderDatabase,
      """
      The database was replaced by an older copy. The copy has version \(session.dataset.version) of the dataset, and \
      the newer database had version \(version).
      """,
      hint: wayOut)
  }

  func run() throws {
    try database.execute("PRAGMA ignore_check_constraints = ON")
    for table in session.tables { try bring(table, writes[table.name, default: [:]]) }
    try Capture.moveUnits(to: Generation(newest.rawValue), in: database)
    // The last export may never reach the hub. In that case, only this database shows which of its changes lost on
    // later imports.
    for change in history.lost { lost.add(change) }
    for delete in history.repeatedDeletes { lost.note(repeatedDelete: delete.lost, of: delete.key, in: delete.table) }
    try lost.keep(session)
    try recollection.takeUpExports()
    try recollection.takeUpEmissions()
    session.state.sequence = newest
    session.state.acknowledged = max(session.state.acknowledged, history.acknowledged)
    session.state.sealed = sealed.flatMap { $0 > session.state.acknowledged ? $0 : nil }
    try session.state.save(in: database)
    try Capture.begin(Generation(newest.rawValue), in: database)
    try ExportedRows(session).noteAll()
  }

  // MARK: rows

  /// The writes of the copy that no export contains. These writes were made after the copy replaced the newer database,
  /// or were never exported.
  private static func ownWrites(
    _ session: DeviceSession, _ bundles: ArchivedBundles, _ exports: [SequenceNumber], _ unseen: Set<RowInTable>
  ) throws -> [Name: [RowKey: CopiedWrite]] {
    let generation = Generation(session.state.sequence.rawValue)
    var written: [Name: [RowKey: (image: PreImage, current: Row?)]] = [:]
    for table in session.tables {
      try PreImageStore.each(table, since: generation, in: session.database) { key, images, current in
        if let image = images.last { written[table.name, default: [:]][key] = (image, current) }
      }
    }
    var told = ExportedLines(since: generation)
    for sequence in exports {
      try bundles.export(sequence).eachChange { line in
        if written[line.table]?[line.key] != nil { told.take(line, from: sequence) }
      }
    }
    let exported = try exports.first.map { try bundles.manifest(ofExport: $0).stamp }
    var writes: [Name: [RowKey: CopiedWrite]] = [:]
    for table in session.tables {
      for (key, own) in written[table.name, default: [:]] {
        let row = RowInTable(table: table.name, key: key)
        let isUnseen = unseen.contains(row)
        let lines = told.lines(of: row, begunAs: own.image, isUnseen: isUnseen)
        writes[table.name, default: [:]][key] = try CopiedWrite.find(
          own.image, to: own.current, exported: lines, at: exported, isUnseen: isUnseen, in: table, session.database)
      }
    }
    return writes
  }

  /// Brings the table's rows to the state that the bundles show, with the copy's own writes on top. The pre-images of
  /// the last export replace the table's pre-images.
  private func bring(_ table: TrackedTable, _ writes: [RowKey: CopiedWrite]) throws {
    guard let known = history.known.table(table.name) else { return }
    // If the newest export is sealed, the rows hold none of its changes.
    let sent = sealed == newest ? [:] : history.sent[table.name, default: [:]]
    let rows = try RowTable(table, in: database)
    try PreImageStore.forget(before: Generation(Int64.max), [table], in: database)
    for (key, own) in sent { try PreImageStore.replace(own.images, of: key, in: table, database: database) }
    var keys = Set(sent.keys).union(writes.keys)
    try known.eachKey { keys.insert($0) }
    try database.each(table.allRowsSQL) {
      keys.insert(table.schema.key(of: Row($0.values(from: 0, count: table.schema.columns.count))))
    }
    var moves: [(key: RowKey, before: Row?, after: Row?)] = []
    var replayed = ReplayedRows(rows)
    for key in keys where !key.values.contains(where: \.isNull) {
      let target = try sent[key].map { $0.row } ?? known.row(key)
      let before = try rows.row(key)
      if let write = writes[key], let own = try replay(write, of: key, from: before, onto: target, in: table) {
        replayed.append(own)
      } else if before != target {
        moves.append((key, before, target))
      }
    }
    // All rows are deleted before any row is written, so that rows may exchange UNIQUE values.
    for move in moves {
      try rows.write(nil, over: move.before, key: move.key)
      if let gone = move.before, move.after == nil { lost.note(deleted: gone, of: table.schema) }
    }
    try replayed.leave(lost)
    for move in moves { try rows.write(move.after, over: nil, key: move.key) }
    try replayed.enter(in: database, lost)
  }

  /// Replays a write of the copy with the ordinary merge rules. A losing write becomes a conflict. Returns nil if the
  /// row is then as in the newer database.
  private func replay(
    _ write: CopiedWrite, of key: RowKey, from copied: Row?, onto target: Row?, in table: TrackedTable
  ) throws -> ReplayedRows.Replayed? {
    let before = try PreImageLookup(table, in: database).images(of: key)
    // An exported change has already deleted the row.
    if target == nil, write.current == nil, !before.isEmpty { return nil }
    let image = PreImage(
      generation: Generation(newest.rawValue), stamp: write.image.stamp, first: write.image.first, row: write.image.row,
      unit: write.image.unit)
    let rebased = rebased(write, image, of: key, onto: target, in: table)
    for conflict in rebased.conflicts {
      lost.add(
        .init(
          table.name, key, image: image, change: conflict.change, disagreement: conflict.disagreement,
          met: conflict.met))
    }
    lost.note(rebased.images, of: key, in: table.name)
    for delete in rebased.repeatedDeletes { lost.note(repeatedDelete: delete, of: key, in: table.name) }
    try PreImageStore.replace(before + rebased.images, of: key, in: table, database: database)
    guard rebased.row != target, let change = Change(from: image.row, to: write.current) else { return nil }
    return .init(
      key: key, copied: copied, newer: target, merged: rebased.row, image: image, change: change, exported: before)
  }

  private func rebased(
    _ write: CopiedWrite, _ image: PreImage, of key: RowKey, onto target: Row?, in table: TrackedTable
  ) -> Rebased {
    let rules = MergeRules(table.rules, schema: table.schema)
    if write.origin != .later { return write.kept(image, onto: target, by: rules) }
    let sent = history.sent[table.name]?[key]?.images.map(\.stamp).max() ?? .zero
    let since = history.since?.report(of: RowInTable(table: table.name, key: key), ownAt: sent, isThere: target != nil)
    return rebase(
      [image], to: write.current, onto: target, at: since?.stamp ?? sent, told: since?.told, by: rules)
  }
}
