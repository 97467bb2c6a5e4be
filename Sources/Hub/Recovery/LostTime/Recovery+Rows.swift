import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A row as an emission of the lost time shows it, translated into the keys that rows have now.
struct LostRow {
  let name: StepMerger.RowReference
  private(set) var row: Row
  let stamp: Stamp
  let emission: RankedEmission

  var place: Int { name.place }
  var key: RowKey { name.key }

  /// Returns the same version of the row. If the other version has equal values, both versions share one copy in
  /// memory.
  func sharing(_ other: LostRow?) -> LostRow {
    guard let other, other.row == row else { return self }
    var shared = self
    shared.row = other.row
    return shared
  }
}

/// The merge of single rows of the lost time.
extension Recovery {
  /// The reason why a row of the lost time cannot be written now. Another row of the lost time may end it.
  private typealias Obstacle = StepMerger.Obstacle

  /// Merges a row, or lets it wait. If a newer version of the row waits, the older version waits behind it.
  /// - Parameter shown: the row with its keys in the lost time.
  func merge(_ shown: Row, at stamp: Stamp, in place: Int, _ emission: RankedEmission) throws {
    let row = keys.row(shown, of: place)
    let name = StepMerger.RowReference(place: place, key: store.rows[place].schema.key(of: row))
    let lost = LostRow(name: name, row: row, stamp: stamp, emission: emission)
    let newer = newestWaiting[name]
    if newer == nil, try obstacle(to: lost) == nil { return }
    // Most versions of a row are equal, because the hub sent the row to every device. Equal versions share one copy.
    newestWaiting[name] = newer ?? lost
    waiting.append(lost.sharing(newer))
  }

  /// Merges the rows that wait for other rows of the lost time. They wait for a parent that only an older emission
  /// shows, or for a UNIQUE value that another row gives up. A person decides about the rows that cannot be written.
  func mergeWaiting() throws {
    var left = waiting
    var limit = RetryLimit(steps: left.count)
    while !left.isEmpty, limit.allowsRound(over: left.count) {
      let before = left.count
      left = try mergeOnce(left)
      if left.count == before { break }
    }
    // An older version of a row must not replace a newer version that cannot be written. The newest version becomes an
    // open conflict, and settled conflicts keep the older versions.
    var blocked: [StepMerger.RowReference: Obstacle] = [:]
    for lost in left {
      if let obstacle = blocked[lost.name] {
        try note(lost, obstacle, .settled)
      } else if let obstacle = try obstacle(to: lost) {
        blocked[lost.name] = obstacle
        try note(lost, obstacle, .open)
      }
    }
    (waiting, newestWaiting) = ([], [:])
  }

  /// Tries each waiting row once, parents before children. Returns the rows that still wait.
  private func mergeOnce(_ rows: [LostRow]) throws -> [LostRow] {
    var last: [StepMerger.RowReference: Int] = [:]
    let items = try rows.enumerated().map { number, lost in
      // This change would turn the hub's row into the row of the lost time.
      let change = Change(from: try store.rows[lost.place].row(lost.key), to: lost.row)
      defer { last[lost.name] = number }
      return WaitingOrder.Item(
        parts: change.map { [.init(place: lost.place, key: lost.key, change: $0)] } ?? [],
        after: last[lost.name].map { [$0] } ?? [])
    }
    let waitingOrder = WaitingOrder(store.tables) { store.database.comparisons(ofParentIn: $0) }
    let order = try waitingOrder.sorted(items) { try store.rows[$0].row($1) }
    var blocked: Set<StepMerger.RowReference> = []
    var left: [Int] = []
    for number in order {
      if !blocked.contains(rows[number].name), try obstacle(to: rows[number]) == nil { continue }
      blocked.insert(rows[number].name)
      left.append(number)
    }
    return left.sorted().map { rows[$0] }
  }

  /// Merges a row. If the row cannot be written now, returns the obstacle and changes nothing.
  private func obstacle(to lost: LostRow) throws -> Obstacle? {
    let hub = try store.rows[lost.place].row(lost.key)
    let past = try store.past(of: lost.key, in: lost.place)
    if let past { try seen.note(past.number, in: lost.place, of: lost.emission) }
    guard let hub else { return try bringBack(lost, past) }
    if hub == lost.row { return nil }
    let parts = try compare(lost, with: hub, past)
    if !parts.changes.isEmpty {
      if let obstacle = try write(.update(parts.changes), of: lost, over: hub, past) { return obstacle }
      try keepReplaced(by: parts.changes, of: lost, in: hub, parts.writers)
    }
    try keep(parts, of: lost, beside: hub)
    return nil
  }

  /// Records the lost values that do not replace the hub's values.
  private func keep(_ parts: Parts, of lost: LostRow, beside hub: Row) throws {
    if parts.counts { report.counts += 1 }
    if parts.kept.isEmpty { return }
    let kept = parts.kept.map { ColumnChange(column: $0, was: hub[$0], value: lost.row[$0]) }
    let winners = Dictionary(uniqueKeysWithValues: parts.kept.map { ($0, Winner.hub) })
    try note(
      Disagreement(kind: .updateUpdate, state: .settled, winners: winners), .update(kept), lost.key, at: lost.stamp,
      hub, in: lost.place, lost.emission.words)
  }

  /// The decisions about the columns of a row of the lost time.
  private struct Parts {
    /// The columns that get their lost values.
    var changes: [ColumnChange] = []
    /// For these columns: the changes that wrote the hub's present values, if the lost time may not have had these
    /// values.
    var writers: [Int: LogEntry] = [:]
    /// The columns whose lost values a conflict keeps.
    var kept: [Int] = []
    /// Whether `kept` contains counters or sets.
    var counts = false
  }

  private func compare(_ lost: LostRow, with hub: Row, _ past: RowNumbers.Entry?) throws -> Parts {
    var parts = Parts()
    let row = lost.row
    let isNewest = try past.map { try !seen.contains($0.number, in: lost.place, laterThan: lost.emission) } ?? true
    let present = try knownValues(of: past, beside: lost)
    for column in row.values.indices where hub[column] != row[column] {
      let isKnown = present.values[column, default: []].contains(row[column])
      if store.rows[lost.place].rules.countsDifferences(of: column) {
        // The devices deliver their own changes of counters again. So only the newest lost value is of interest. Older
        // values are steps on the way to it.
        guard isNewest, !isKnown else { continue }
        parts.kept.append(column)
        parts.counts = true
        continue
      }
      // A newer emission has the row. So the column was written after this lost value, perhaps with the hub's present
      // value.
      if !isNewest, let past { try store.rememberWritten(column, of: past.number, in: lost.place, after: lost.stamp) }
      if !present.columns.contains(column), isNewest {
        parts.changes.append(ColumnChange(column: column, was: hub[column], value: row[column]))
        parts.writers[column] = present.writers[column]
      } else if !isKnown {
        parts.kept.append(column)
      }
    }
    return parts
  }

  /// Inserts a row that this hub lacks. If the row was deleted after its lost version, a settled conflict keeps the
  /// row.
  /// - Returns: the obstacle, if the row cannot be written now.
  private func bringBack(_ lost: LostRow, _ past: RowNumbers.Entry?) throws -> Obstacle? {
    let (place, key, row, stamp) = (lost.place, lost.key, lost.row, lost.stamp)
    if try redelivered.contains(row, in: place, of: store) { return nil }
    if let past, past.stamp > .zero, stamp <= past.stamp {
      try note(
        Disagreement(kind: .updateDelete, state: .settled), .insert(row), key, at: stamp, nil, in: place,
        lost.emission.words)
      return nil
    }
    if let obstacle = try write(.insert(row), of: lost, over: nil, past) { return obstacle }
    try noteWhole(lost)
    // A device deleted the row, but did not know this version of the row.
    guard let past, past.stamp > .zero else { return nil }
    let verdict = try decide(store.rows[place].rules.table, device: .zero, hub: stamp, store.doubtfulTimes())
    try note(
      Disagreement(kind: .deleteUpdate, state: verdict.state), .delete(was: row), key, at: past.stamp, row, in: place,
      "\(lost.emission.words) An older deletion of it came from a device.")
    return nil
  }

  /// Records a row that cannot be written because of an obstacle.
  private func note(_ lost: LostRow, _ obstacle: Obstacle, _ state: ConflictState) throws {
    let hub = try store.rows[lost.place].row(lost.key)
    var change = Change.insert(lost.row)
    if let hub {
      let parts = try compare(lost, with: hub, store.past(of: lost.key, in: lost.place))
      try keep(parts, of: lost, beside: hub)
      if parts.changes.isEmpty { return }
      change = .update(parts.changes)
    }
    let isNew = try note(
      Disagreement(kind: obstacle.kind, state: state), change, lost.key, at: lost.stamp, hub, in: lost.place,
      "\(lost.emission.words) \(obstacle.words)")
    if isNew, state == .open { report.obstructed += 1 }
  }

  /// Records that a row came back as a whole, with the counters and sets of the lost time.
  private func noteWhole(_ lost: LostRow) throws {
    guard let number = try store.numbers[lost.place].number(of: lost.key) else { return }
    try seen.note(number, in: lost.place, of: lost.emission)
    try store.rememberRecovered(number, in: lost.place, at: lost.stamp)
    if !store.rows[lost.place].countedColumns.isEmpty { report.whole += 1 }
  }

  /// Writes a change from the lost time as the hub's own change. If the row cannot be written, returns the obstacle and
  /// changes nothing.
  private func write(
    _ change: Change, of lost: LostRow, over hub: Row?, _ past: RowNumbers.Entry?
  ) throws -> Obstacle? {
    let (place, key) = (lost.place, lost.key)
    var target = hub
    switch change {
    case .insert(let row): target = row
    case .update(let changes): for change in changes { target?[change.column] = change.value }
    case .delete: target = nil
    }
    var parents = ParentCache()
    if let broken = try store.brokenReference(of: target, from: hub, in: place, using: &parents) {
      return Obstacle(kind: .foreignKey, words: broken.words)
    }
    do {
      try store.database.savepoint { try store.rows[place].write(target, over: hub, key: key) }
    } catch let error as SQLiteError where error.kind == .unique {
      return Obstacle(kind: .unique, words: "Another row has the same UNIQUE value.")
    } catch let error as SQLiteError where error.kind == .constraint {
      return Obstacle(kind: .constraint, words: "The database does not allow it: \(error.message).")
    }
    let origin = Origin(
      device: nil, user: HubWorkspace.hubUser, stamp: lost.stamp, bundle: nil, returnsToAuthor: false, at: now)
    try store.log(change, of: key, with: past, in: place, from: origin)
    try Capture.witness(lost.stamp, in: store.database)
    report.rows += 1
    return nil
  }

  /// Returns facts from the log about a row that differs from its lost version.
  ///
  /// `columns` are the columns that were changed in this epoch, or later than the lost version. `values` are the old
  /// and new values of these changes. `writers` has the newest change of each column that the lost time may not have
  /// had. People may have made such changes after the hub was set back.
  private func knownValues(of past: RowNumbers.Entry?, beside lost: LostRow) throws -> (
    columns: Set<Int>, values: [Int: [Value]], writers: [Int: LogEntry]
  ) {
    var columns: Set<Int> = []
    var values: [Int: [Value]] = [:]
    var writers: [Int: LogEntry] = [:]
    let (schema, stamp) = (store.rows[lost.place].schema, lost.stamp)
    try store.eachChange(of: past) { entry in
      if entry.cursor > lost.emission.common {
        for column in entry.columns(in: schema) where writers[column] == nil { writers[column] = entry }
      }
      guard entry.cursor > store.identity.epochCursor || entry.stamp > stamp else { return .more }
      columns.formUnion(entry.columns(in: schema))
      for field in try (entry.set ?? []) + (entry.was ?? []) {
        if let column = schema.position(of: field.name) { values[column, default: []].append(field.value) }
      }
      return .more
    }
    return (columns, values, writers)
  }
}
