import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelMerge
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Replays this device's exports in a rebuilt database. The changes that the hub lacks become pending again, in their
/// former generations.
struct ExportReplay {
  private let session: DeviceSession
  private let bundles: ArchivedBundles
  private let recollection: LedgerRecovery
  private let lost = LostChanges()
  private var parts: [Part]
  private let newest: SequenceNumber
  private let sealed: SequenceNumber?

  /// An export, and those of its generations that no newer export contains.
  private struct Part {
    let sequence: SequenceNumber
    let generations: Range<Int64>
    let version: Int64
    let epoch: Epoch
    let received: EmissionNumber
  }

  private var database: Database { _read { yield session.database } }

  /// Throws a `WorkspaceError` if the file of a needed export is missing. The hub does not have such an export, and no
  /// newer export contains it.
  init(_ session: DeviceSession) throws {
    self.session = session
    let bundles = try ArchivedBundles(session, former: FormerExports(session).allFiles())
    self.bundles = bundles
    let acknowledged = session.state.acknowledged.rawValue
    let numbers = try bundles.exports()
    var (parts, covered, sealed): ([Part], Int64, SequenceNumber?) = ([], .max, nil)
    for number in numbers.reversed() where number > acknowledged && covered > acknowledged {
      let export = try bundles.manifest(ofExport: SequenceNumber(number))
      guard case .changes(let changes) = export.body else { continue }
      // An export of a former user ends the search, because newer exports do not contain its changes. It is the sealed
      // export, unless the newer exports begin after a later number. In that case, the file of the sealed export is
      // missing.
      if Name(export.user) != Name(session.state.user) {
        if covered == .max || covered <= number { sealed = SequenceNumber(number) }
        break
      }
      let low = max(changes.base?.rawValue ?? changes.chain.first?.sequence.rawValue ?? acknowledged, acknowledged)
      if low >= covered { continue }
      parts.insert(
        Part(
          sequence: changes.sequence, generations: low..<covered, version: export.version, epoch: changes.epoch,
          received: changes.received), at: 0)
      covered = low
    }
    if covered > acknowledged, covered < .max, sealed == nil, session.lost == .deliveredAgain {
      throw Self.missing(SequenceNumber(covered), session.workspace)
    }
    self.parts = parts
    self.sealed = sealed
    newest = SequenceNumber(max(numbers.last ?? 0, acknowledged))
    session.state.sequence = session.state.acknowledged
    recollection = try LedgerRecovery(session, bundles, to: newest, .zero)
  }

  private static func missing(_ sequence: SequenceNumber, _ workspace: DeviceWorkspace) -> WorkspaceError {
    WorkspaceError(
      .noExport,
      "The file of this device's export \(sequence) is not here, and the hub is not known to have it.",
      hint:
        """
        Bring it back to bundles/sent: it may be on a stick, or at the hub, in bundles/archive. If it is lost: \
        satchel import FILE --without-lost gives it up.
        """
    )
  }

  // MARK: the exports in their order

  /// Records these exports in the database, which then continues after the newest export.
  func begin() throws {
    // CHECKs are off, because rows that the hub accepted may break them.
    try database.execute("PRAGMA ignore_check_constraints = ON")
    try apply {
      try recollection.takeUpExports()
      session.state.sequence = newest
      session.state.sealed = sealed
      try session.state.save(in: database)
      try Capture.begin(Generation(newest.rawValue), in: database)
    }
  }

  /// Makes exported changes pending again, if they were exported on top of the full bundle or of an earlier emission.
  /// The full bundle is the bundle from which the database was created.
  mutating func run(onto full: borrowing VerifiedBundle, _ scope: Manifest.Scope) throws {
    let snapshot = try Snapshot.open(beforeUpgrade: full)
    let due = takeParts(through: scope.number)
    if due.isEmpty { return }
    let keys = try due.map { try newKeys(in: full, after: $0.received) }
    try apply {
      for (part, keys) in zip(due, keys) { try replay(part, keys, stamps: snapshot) }
      try lost.keep(session)
    }
  }

  /// Makes exported changes pending again, if they were exported on top of the emission that was just imported.
  mutating func run(through emission: EmissionNumber) throws {
    let due = takeParts(through: emission)
    if due.isEmpty { return }
    try apply {
      for part in due { try replay(part, [], stamps: nil) }
      try lost.keep(session)
    }
  }

  /// Records which rows got other primary keys. The imports have already recorded some of these rows.
  ///
  /// Throws a `WorkspaceError` if an export was made on top of a bundle from the hub that is missing. The changes of
  /// this export cannot be replayed, and a later export would not contain them.
  func finish() throws {
    if let part = parts.first { throw ArchivedBundles.incomplete("the hub's bundle \(part.received) is missing") }
    try apply {
      try recollection.takeUpKeys()
      try ExportedRows(session).noteAll()
    }
  }

  /// The number of changes that the hub is not known to have.
  func pending() throws -> Int {
    var count = 0
    try PreImageStore.eachStep(session.tables, since: session.acknowledgedGeneration, in: database) { _, _, _ in
      count += 1
    }
    return count
  }

  private func apply(_ body: () throws -> Void) throws {
    try database.applyTransaction(.commit, to: session.tables.map(\.name), body)
  }

  private mutating func takeParts(through emission: EmissionNumber) -> [Part] {
    // Emission numbers can be compared only within one epoch. An export of an earlier epoch came before this emission.
    let due = parts.prefix { $0.epoch != session.state.epoch || $0.received <= emission }
    parts.removeFirst(due.count)
    return Array(due)
  }

  /// The primary keys that rows of this device got after the emission `received`, as the full bundle reports them.
  private func newKeys(in full: borrowing VerifiedBundle, after received: EmissionNumber) throws -> [PrimaryKeyMap] {
    guard session.tables.contains(where: \.renamesRows) else { return [] }
    var entries: [PrimaryKeyMap.Entry] = []
    try full.eachChange { line in
      guard case .rekey(let to, let number) = line.content, number > received,
        let place = session.tables.firstIndex(where: { $0.name == line.table }),
        let old = session.tables[place].singleKey(line.key), let new = session.tables[place].singleKey(to)
      else { return }
      entries.append(.init(place: place, old: old, new: new))
    }
    return entries.isEmpty ? [] : [PrimaryKeyMap(try PrimaryKeyReferences(session.tables), session.tables, entries)]
  }

  // MARK: one export

  private func replay(_ part: Part, _ keys: [PrimaryKeyMap], stamps snapshot: Snapshot?) throws {
    let former = try VersionTable.columns(in: database)
    let rows = try session.tables.map { try RowTable($0, in: database) }
    let images = try session.tables.map { try PreImageLookup($0, in: database) }
    try bundles.export(part.sequence).eachChange { sent in
      guard let generation = sent.generation, part.generations.contains(generation.rawValue),
        let place = session.tables.firstIndex(where: { $0.name == sent.table })
      else { return }
      var line = sent.present(former, since: part.version)
      for map in keys { line = map.line(line, of: place) }
      guard let change = try change(line, in: rows[place].schema) else { return }
      try replay(change, line, of: part, generation, onto: rows[place], images[place], stamps: snapshot)
    }
  }

  /// The change that a line carries; nil: its columns are gone, or the line is not about a device's change.
  private func change(_ line: ChangeLine, in schema: TableSchema) throws -> Change? {
    switch line.content {
    case .insert(let fields): return .insert(try schema.row(kept: fields, in: database))
    case .delete(let was): return .delete(was: try schema.row(kept: was, in: database))
    case .update(let set, let was):
      let changes = zip(set, was).compactMap { set, was in
        schema.position(of: set.name).map { ColumnChange(column: $0, was: was.value, value: set.value) }
      }
      return changes.isEmpty ? nil : .update(changes)
    case .row, .gone, .rekey, .block: return nil
    }
  }

  private func replay(
    _ change: Change, _ line: ChangeLine, of part: Part, _ generation: Generation, onto rows: RowTable,
    _ lookup: PreImageLookup, stamps snapshot: Snapshot?
  ) throws {
    let (key, current) = (line.key, try rows.row(line.key))
    let stamp = try snapshot?.stamp(of: current.map(rows.schema.key) ?? key, in: rows.name) ?? .zero
    var (row, image) = (
      current, PreImage(generation: generation, stamp: line.stamp, first: line.first, row: current, unit: line.unit)
    )
    if current == nil, case .delete(let was) = change {
      image = image.with(row: was, isGone: true)
      lost.note([image], of: key, in: rows.name)
    } else {
      let others = OthersChanges.difference(meeting: change, onto: current, at: stamp)
      // The hub lacks this export, so an insert meets a row that another device made. Two kinds of rows are exceptions:
      // rows from before this device joined have no first write, and rows of a former epoch may have come back.
      let isNew = line.first != nil && part.epoch == session.state.epoch
      let rules = isNew ? rows.rules.addingEqualCounters : rows.rules
      let result = merge(change, at: line.stamp, onto: current, others: others, by: rules)
      row = result.row
      if result.repeatsDelete {
        lost.note(
          repeatedDelete: .init(
            image: image, change: change, disagreement: .repeatedDelete(by: rules.table), met: current),
          of: key, in: rows.name)
      }
      if let disagreement = result.disagreement {
        lost.add(
          .init(rows.name, key, image: image, change: change, disagreement: disagreement, met: current))
      }
    }
    let images = try lookup.images(of: key)
    // If the spelling of a key changed, the row has two lines in one generation: a delete and an insert. The first line
    // has the row as it was before both, so the second line must not replace that row.
    if case .insert = change, let begun = images.first(where: { $0.generation == generation }), let was = begun.row,
      rows.schema.key(of: was).values != key.values
    {
      image = image.with(row: was, isGone: begun.isGone)
    }
    var before = images.filter { $0.generation != generation }
    if image.isGone {
      // Earlier pending changes of this row have no row to change any more.
      before = before.map { $0.generation < generation && $0.row == nil ? $0.with(row: image.row, isGone: true) : $0 }
    }
    try PreImageStore.replace(
      (before + [image]).sorted { $0.generation < $1.generation }, of: key, in: rows.table, database: database)
    do { try rows.write(row, over: current, key: key) } catch let error as SQLiteError
      where error.kind == .unique || error.kind == .constraint
    {
      // Meanwhile, a row from the hub got the UNIQUE value of this row, or the hub's values do not fit the change.
      let loss =
        error.kind == .unique
        ? Disagreement(kind: .unique, state: rows.rules.table.stateOfUncompared)
        : Disagreement(kind: .constraint, state: .open)
      lost.add(.init(rows.name, key, image: image, change: change, disagreement: loss, met: current))
      let calm = image.with(row: current)
      try PreImageStore.replace(before + [calm], of: key, in: rows.table, database: database)
    }
  }
}

extension ChangeLine {
  /// The line with the columns' present names, without removed columns.
  func present(_ former: FormerColumns, since version: Int64) -> ChangeLine {
    if former.areSame(since: version) { return self }
    func present(_ fields: [Field]) -> [Field] {
      fields.compactMap { field in former.current(field.name, of: table, since: version).map { Field($0, field.value) }
      }
    }
    let content: Content =
      switch self.content {
      case .insert(let fields): .insert(present(fields))
      case .update(let set, let was): .update(set: present(set), was: present(was))
      case .delete(let was): .delete(was: present(was))
      case .row, .gone, .rekey, .block: self.content
      }
    return with(content: content)
  }
}
