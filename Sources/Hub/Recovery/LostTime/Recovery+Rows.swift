import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A row as an emission of the lost time shows it.
struct LostRow {
  let row: Row
  let stamp: Stamp
  let place: Int
  let emission: RankedEmission
}

/// The merge of single rows of the lost time.
extension Recovery {
  /// An obstacle to a row of the lost time. Another row of that time may remove it.
  private typealias Obstacle = StepMerger.Obstacle

  /// Merges a row, or lets it wait. The older versions of a waiting row wait behind it.
  func merge(_ lost: LostRow) throws {
    let name = StepMerger.RowReference(place: lost.place, key: key(of: lost))
    if !waitingRows.contains(name), try obstacle(to: lost) == nil { return }
    waitingRows.insert(name)
    waiting.append(lost)
  }

  /// Merges the rows that wait for other rows of the lost time: a parent that only an older emission shows, or a row
  /// that gave up a UNIQUE value. A person decides about the rows that cannot be written.
  func mergeWaiting() throws {
    var left = waiting
    while !left.isEmpty {
      let before = left.count
      left = try mergeOnce(left)
      if left.count == before { break }
    }
    for lost in left {
      guard let obstacle = try obstacle(to: lost) else { continue }
      try note(lost, obstacle)
    }
    (waiting, waitingRows) = ([], [])
  }

  /// Tries each waiting row once, parents before children. Returns the rows that still wait.
  private func mergeOnce(_ rows: [LostRow]) throws -> [LostRow] {
    var last: [StepMerger.RowReference: Int] = [:]
    let names = rows.map { StepMerger.RowReference(place: $0.place, key: key(of: $0)) }
    let items = try rows.enumerated().map { number, lost in
      let change = try self.change(of: lost)
      defer { last[names[number]] = number }
      return WaitingOrder.Item(
        parts: change.map { [.init(place: lost.place, key: names[number].key, change: $0)] } ?? [],
        after: last[names[number]].map { [$0] } ?? [])
    }
    let order = try WaitingOrder(store.tables).sorted(items) { try store.rows[$0].row($1) }
    var blocked: Set<StepMerger.RowReference> = []
    var left: [Int] = []
    for number in order {
      if !blocked.contains(names[number]), try obstacle(to: rows[number]) == nil { continue }
      blocked.insert(names[number])
      left.append(number)
    }
    return left.sorted().map { rows[$0] }
  }

  /// The change that would make the hub's row as it was in the lost time.
  private func change(of lost: LostRow) throws -> Change? {
    let key = key(of: lost)
    return Change(from: try store.rows[lost.place].row(key), to: keys.row(lost.row, of: lost.place))
  }

  private func key(of lost: LostRow) -> RowKey {
    store.rows[lost.place].schema.key(of: keys.row(lost.row, of: lost.place))
  }

  /// Merges a row. Returns the obstacle if the row cannot be written now; then nothing is changed.
  private func obstacle(to lost: LostRow) throws -> Obstacle? {
    let place = lost.place
    let row = keys.row(lost.row, of: place)
    let key = store.rows[place].schema.key(of: row)
    let hub = try store.rows[place].row(key)
    let past = try store.past(of: key, in: place)
    if let past { try seen.note(past.number, in: place, of: lost.emission) }
    guard let hub else { return try bringBack(lost, row, key, past) }
    if hub == row { return nil }
    let parts = try compare(lost, row, with: hub, past)
    if !parts.changes.isEmpty, let obstacle = try write(.update(parts.changes), of: lost, key, over: hub, past) {
      return obstacle
    }
    try keep(parts, of: lost, row, key, beside: hub)
    return nil
  }

  /// Records the lost values that are kept beside the present ones.
  private func keep(_ parts: Parts, of lost: LostRow, _ row: Row, _ key: RowKey, beside hub: Row) throws {
    if parts.counts { report.counts += 1 }
    if parts.kept.isEmpty { return }
    let kept = parts.kept.map { ColumnChange(column: $0, was: hub[$0], value: row[$0]) }
    let winners = Dictionary(uniqueKeysWithValues: parts.kept.map { ($0, Winner.hub) })
    try note(
      Disagreement(kind: .updateUpdate, state: .settled, winners: winners), .update(kept), key, at: lost.stamp, hub,
      in: lost.place, lost.emission.words)
  }

  /// How the columns of a row of the lost time are merged.
  private struct Parts {
    /// The columns that get their lost values.
    var changes: [ColumnChange] = []
    /// The columns whose lost values are kept beside the present ones.
    var kept: [Int] = []
    /// Whether counters or sets are among them.
    var counts = false
  }

  private func compare(_ lost: LostRow, _ row: Row, with hub: Row, _ past: RowNumbers.Entry?) throws -> Parts {
    var parts = Parts()
    let isNewest = try past.map { try !seen.contains($0.number, in: lost.place, laterThan: lost.emission) } ?? true
    let present = try knownValues(of: past, in: lost.place, since: lost.stamp)
    for column in row.values.indices where hub[column] != row[column] {
      let isKnown = present.values[column, default: []].contains(row[column])
      if store.rows[lost.place].rules.countsDifferences(of: column) {
        // The devices deliver their own changes of counters again, so an older value is one of many that a counter had
        // on the way.
        guard isNewest, !isKnown else { continue }
        parts.kept.append(column)
        parts.counts = true
      } else if !present.columns.contains(column) {
        parts.changes.append(ColumnChange(column: column, was: hub[column], value: row[column]))
      } else if !isKnown {
        parts.kept.append(column)
      }
    }
    return parts
  }

  /// Brings back a whole row that this hub lacks. If the row was deleted later, a settled conflict keeps it.
  /// - Returns: the obstacle, if the row cannot be written now.
  private func bringBack(
    _ lost: LostRow, _ row: Row, _ key: RowKey, _ past: RowNumbers.Entry?
  ) throws -> Obstacle? {
    let (place, stamp) = (lost.place, lost.stamp)
    if try redelivered.contains(row, in: place, of: store) { return nil }
    if let past, past.stamp > .zero, stamp <= past.stamp {
      try note(
        Disagreement(kind: .updateDelete, state: .settled), .insert(row), key, at: stamp, nil, in: place,
        lost.emission.words)
      return nil
    }
    if let obstacle = try write(.insert(row), of: lost, key, over: nil, past) { return obstacle }
    try noteWhole(key, at: stamp, in: place, lost.emission)
    // A device deleted the row without knowledge of this state of the row.
    guard let past, past.stamp > .zero else { return nil }
    let verdict = decide(store.rows[place].rules.table, device: .zero, hub: stamp)
    try note(
      Disagreement(kind: .deleteUpdate, state: verdict.state), .delete(was: row), key, at: past.stamp, row, in: place,
      "\(lost.emission.words) An older deletion of it came from a device.")
    return nil
  }

  /// Records a row that cannot be written beside the present rows, as an open conflict.
  private func note(_ lost: LostRow, _ obstacle: Obstacle) throws {
    let place = lost.place
    let row = keys.row(lost.row, of: place)
    let key = store.rows[place].schema.key(of: row)
    let hub = try store.rows[place].row(key)
    var change = Change.insert(row)
    if let hub {
      let parts = try compare(lost, row, with: hub, store.past(of: key, in: place))
      try keep(parts, of: lost, row, key, beside: hub)
      change = .update(parts.changes)
    }
    let isNew = try note(
      Disagreement(kind: obstacle.kind, state: .open), change, key, at: lost.stamp, hub, in: place,
      "\(lost.emission.words) \(obstacle.words)")
    if isNew { report.obstructed += 1 }
  }

  /// Records that a row is back as a whole. Its counters and sets are from the lost time.
  private func noteWhole(_ key: RowKey, at stamp: Stamp, in place: Int, _ emission: RankedEmission) throws {
    guard let number = try store.numbers[place].number(of: key) else { return }
    try seen.note(number, in: place, of: emission)
    try store.rememberRecovered(number, in: place, at: stamp)
    if !store.rows[place].countedColumns.isEmpty { report.whole += 1 }
  }

  /// Writes a change from the lost time as the hub's own change. Returns the obstacle, with no effect, if there is one.
  private func write(
    _ change: Change, of lost: LostRow, _ key: RowKey, over hub: Row?, _ past: RowNumbers.Entry?
  ) throws -> Obstacle? {
    let place = lost.place
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

  /// Returns the columns that were changed since this epoch began, or later than a row of the lost time. Also returns
  /// the old and new values of these changes, from the log. Before the epoch began, people may have worked at this hub
  /// without knowing that it was set back.
  private func knownValues(of past: RowNumbers.Entry?, in place: Int, since stamp: Stamp) throws -> (
    columns: Set<Int>, values: [Int: [Value]]
  ) {
    var columns: Set<Int> = []
    var values: [Int: [Value]] = [:]
    let schema = store.rows[place].schema
    try store.eachChange(of: past) { entry in
      guard entry.cursor > store.identity.epochCursor || entry.stamp > stamp else { return .more }
      columns.formUnion(entry.columns(in: schema))
      for field in try (entry.set ?? []) + (entry.was ?? []) {
        if let column = schema.position(of: field.name) { values[column, default: []].append(field.value) }
      }
      return .more
    }
    return (columns, values)
  }
}
