import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A row as an emission of the lost time shows it, with the keys that rows have here.
struct LostRow {
  let name: StepMerger.RowReference
  private(set) var row: Row
  let stamp: Stamp
  let emission: RankedEmission

  var place: Int { name.place }
  var key: RowKey { name.key }

  /// The same version of the row, which shares the memory of equal values with another version.
  func sharing(_ other: LostRow?) -> LostRow {
    guard let other, other.row == row else { return self }
    var shared = self
    shared.row = other.row
    return shared
  }
}

/// The merge of single rows of the lost time.
extension Recovery {
  /// An obstacle to a row of the lost time. Another row of that time may remove it.
  private typealias Obstacle = StepMerger.Obstacle

  /// Merges a row, or lets it wait. The older versions of a waiting row wait behind it.
  /// - Parameter shown: the row with the keys that rows had in the lost time.
  func merge(_ shown: Row, at stamp: Stamp, in place: Int, _ emission: RankedEmission) throws {
    let row = keys.row(shown, of: place)
    let name = StepMerger.RowReference(place: place, key: store.rows[place].schema.key(of: row))
    let lost = LostRow(name: name, row: row, stamp: stamp, emission: emission)
    let newer = newestWaiting[name]
    if newer == nil, try obstacle(to: lost) == nil { return }
    // Most versions of a row are equal, because each device got the row. Equal versions share the memory of the newest.
    newestWaiting[name] = newer ?? lost
    waiting.append(lost.sharing(newer))
  }

  /// Merges the rows that wait for other rows of the lost time: a parent that only an older emission shows, or a row
  /// that gave up a UNIQUE value. A person decides about the rows that cannot be written.
  func mergeWaiting() throws {
    var left = waiting
    var limit = RetryLimit(steps: left.count)
    while !left.isEmpty, limit.allowsRound(over: left.count) {
      let before = left.count
      left = try mergeOnce(left)
      if left.count == before { break }
    }
    // An older version of a row does not enter in place of a newer one. A person sees the newest one, and the older
    // ones are kept with it.
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
      // The change that would make the hub's row as it was in the lost time.
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

  /// Merges a row. Returns the obstacle if the row cannot be written now; then nothing is changed.
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

  /// Records the lost values that are kept beside the present ones.
  private func keep(_ parts: Parts, of lost: LostRow, beside hub: Row) throws {
    if parts.counts { report.counts += 1 }
    if parts.kept.isEmpty { return }
    let kept = parts.kept.map { ColumnChange(column: $0, was: hub[$0], value: lost.row[$0]) }
    let winners = Dictionary(uniqueKeysWithValues: parts.kept.map { ($0, Winner.hub) })
    try note(
      Disagreement(kind: .updateUpdate, state: .settled, winners: winners), .update(kept), lost.key, at: lost.stamp,
      hub, in: lost.place, lost.emission.words)
  }

  /// How the columns of a row of the lost time are merged.
  private struct Parts {
    /// The columns that get their lost values.
    var changes: [ColumnChange] = []
    /// The writers of the present values in these columns, if the lost time may not have had these values.
    var writers: [Int: LogEntry] = [:]
    /// The columns whose lost values are kept beside the present ones.
    var kept: [Int] = []
    /// Whether counters or sets are among them.
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
        // The devices deliver their own changes of counters again. So an older value is only one of the many values
        // that the counter had until then.
        guard isNewest, !isKnown else { continue }
        parts.kept.append(column)
        parts.counts = true
        continue
      }
      // A newer emission shows that the column was written again. Perhaps it got the value that this hub has.
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

  /// Brings back a whole row that this hub lacks. If the row was deleted later, a settled conflict keeps it.
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
    // A device deleted the row without knowledge of this state of the row.
    guard let past, past.stamp > .zero else { return nil }
    let verdict = decide(store.rows[place].rules.table, device: .zero, hub: stamp)
    try note(
      Disagreement(kind: .deleteUpdate, state: verdict.state), .delete(was: row), key, at: past.stamp, row, in: place,
      "\(lost.emission.words) An older deletion of it came from a device.")
    return nil
  }

  /// Records a row that cannot be written beside the present rows.
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

  /// Records that a row is back as a whole. Its counters and sets are from the lost time.
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

  /// Returns the columns that were changed since this epoch began, or later than a row of the lost time. Also returns
  /// the old and new values of these changes, from the log. Before the epoch began, people may have worked at this hub
  /// without knowing that it was set back. So this also returns the newest change of each column that the lost time may
  /// not have had.
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
