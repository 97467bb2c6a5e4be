import SatchelConflicts
import SatchelMerge
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A row that reverted bundles changed, with the log entries of these changes.
struct RevertedRow {
  let place: Int
  let key: RowKey
  /// The bundles' changes of the row, oldest first.
  private(set) var entries: [LogEntry]
  /// The bundles of these changes, the newest first.
  private(set) var bundles: [BundleID]

  init(place: Int, key: RowKey, entries: [LogEntry], bundles: [BundleID]) {
    (self.place, self.key, self.entries, self.bundles) = (place, key, entries, bundles)
  }

  /// Adds an entry that is older than all present entries.
  mutating func add(_ entry: LogEntry, of bundle: BundleID) {
    entries.insert(entry, at: 0)
    if bundles.last != bundle { bundles.append(bundle) }
  }
}

/// Writes the inverse of changes, row by row. A row that other rows block is tried again after these other rows.
struct Revert {
  let store: HubStore
  let now: Int64
  let stamp: Stamp
  /// Number of restored rows, by table.
  private(set) var counts: [Int]
  /// The number of rows that are not reverted, or only in part. Other people changed them since, or other rows block
  /// them.
  private(set) var left = 0
  /// The rows that block others, because they have UNIQUE values which other rows must get back.
  private(set) var rowsInTheWay: Set<RowInTable> = []
  private let handling: LeftRows

  /// The treatment of rows that cannot be reverted.
  enum LeftRows {
    /// Each of these rows becomes an open conflict, and a person decides.
    case conflicts
    /// These rows are only counted.
    case counted
  }

  /// The most rounds in which blocked rows are tried again. In each round, rows that blocked others may have moved.
  private static let mostRounds = 20

  init(store: HubStore, now: Int64, stamp: Stamp, left handling: LeftRows) {
    (self.store, self.now, self.stamp, self.handling) = (store, now, stamp, handling)
    counts = [Int](repeating: 0, count: store.tables.count)
  }

  /// The inverse of one row's changes, merged with the present row.
  private struct Step {
    let row: RevertedRow
    let change: Change
    let current: Row?
    let past: RowNumbers.Entry?
    let result: MergeResult
  }

  /// The reason why a row cannot be written now.
  private struct Blocked {
    let step: Step
    let kind: ConflictKind
    let words: String
  }

  mutating func run(_ rows: [RevertedRow]) throws {
    var blocked = try rows.compactMap { try take($0) }
    var (before, rounds) = (Int.max, 0)
    while !blocked.isEmpty, blocked.count < before, rounds < Self.mostRounds {
      (before, rounds) = (blocked.count, rounds + 1)
      blocked = try blocked.compactMap { try take($0.step.row) }
    }
    if try blocked.count > 1 && takeTogether(blocked.map(\.step)) { return }
    for blocked in blocked {
      try noteRowsInTheWay(of: blocked)
      try leave(blocked.step, because: Disagreement(kind: blocked.kind, state: .open), blocked.words)
    }
  }

  private mutating func noteRowsInTheWay(of blocked: Blocked) throws {
    guard blocked.kind == .unique, let row = blocked.step.result.row else { return }
    let rows = store.rows[blocked.step.row.place]
    for key in try rows.rivals(of: row, in: store.database) {
      rowsInTheWay.insert(RowInTable(table: rows.name, key: key))
    }
  }

  /// Reverts one row. Returns nil if that is done. If other rows block it, returns the reason.
  private mutating func take(_ row: RevertedRow) throws -> Blocked? {
    guard let step = try step(for: row) else { return nil }
    let rows = store.rows[row.place]
    if let made = Change(from: step.current, to: step.result.row) {
      var parents = ParentCache()
      if let broken = try store.brokenReference(
        of: step.result.row, from: step.current, in: row.place, using: &parents)
      {
        return Blocked(step: step, kind: .foreignKey, words: broken.words)
      }
      do {
        try store.database.savepoint { try rows.write(step.result.row, over: step.current, key: row.key) }
      } catch let error as SQLiteError where error.kind == .unique || error.kind == .constraint {
        return Blocked(step: step, kind: error.kind == .unique ? .unique : .constraint, words: error.message)
      }
      try log(made, step)
    }
    try finish(step)
    return nil
  }

  /// Reverts rows that block each other, for example rows that exchanged UNIQUE values. First deletes all of these
  /// rows, and then writes them. Returns false, and changes nothing, if they still block each other.
  private mutating func takeTogether(_ steps: [Step]) throws -> Bool {
    struct StillBlocked: Error {}
    do {
      try store.database.savepoint {
        for step in steps { try store.rows[step.row.place].write(nil, over: step.current, key: step.row.key) }
        for step in steps {
          try store.rows[step.row.place].write(step.result.row, over: nil, key: step.row.key)
        }
        var parents = ParentCache()
        for step in steps
        where try store.brokenReference(
          of: step.result.row, from: step.current, in: step.row.place, using: &parents) != nil
        {
          throw StillBlocked()
        }
      }
    } catch is StillBlocked { return false } catch let error as SQLiteError
      where error.kind == .unique || error.kind == .constraint
    { return false }
    for step in steps {
      if let made = Change(from: step.current, to: step.result.row) { try log(made, step) }
      try finish(step)
    }
    return true
  }

  private func log(_ made: Change, _ step: Step) throws {
    try store.log(
      made, of: step.row.key, with: step.past, in: step.row.place,
      from: Origin(device: nil, user: HubWorkspace.hubUser, stamp: stamp, bundle: nil, returnsToAuthor: false, at: now))
  }

  /// Finishes a row that was written. If others changed some of its values since, it becomes a conflict. If not, it
  /// counts as restored.
  private mutating func finish(_ step: Step) throws {
    if let disagreement = step.result.disagreement {
      try leave(step, because: disagreement, nil)
    } else if step.current != step.result.row {
      counts[step.row.place] += 1
    }
  }

  private func step(for row: RevertedRow) throws -> Step? {
    let rows = store.rows[row.place]
    let past = try store.past(of: row.key, in: row.place)
    let (inverse, others) = try inverse(of: row, past)
    guard let change = inverse else { return nil }
    let current = try rows.row(row.key)
    let result = merge(change, at: stamp, onto: current, others: others, by: .manual(rows.schema))
    return Step(row: row, change: change, current: current, past: past, result: result)
  }

  /// - Parameter words: the note of the conflict. nil: the note names the reverted bundle.
  private mutating func leave(_ step: Step, because disagreement: Disagreement, _ words: String?) throws {
    left += 1
    guard handling == .conflicts, let bundle = step.row.bundles.first else { return }
    let row = step.row
    let record = ConflictRecord(
      disagreement, of: step.change, at: stamp, generation: .zero, key: row.key, in: store.rows[row.place].schema,
      met: step.current, device: store.identity.id, user: HubWorkspace.hubUser,
      note: words ?? "It was to be reverted with the bundle \(bundle).")
    try ConflictTable.add(record, bundle: bundle, noted: now, told: 0, in: store.database)
  }
}

extension Revert {
  /// Returns two results. The first is the change that takes the effect of the bundles out of the row. It is nil if the
  /// bundles had no effect on the row. The second is the changes that others made after the bundles.
  ///
  /// If others changed a column between two of the bundles, their value is restored.
  private func inverse(of row: RevertedRow, _ past: RowNumbers.Entry?) throws -> (Change?, OthersChanges) {
    guard let first = row.entries.first, let last = row.entries.last else { return (nil, OthersChanges()) }
    var values = RevertedValues()
    let own = Set(row.entries.map(\.cursor))
    var between: [LogEntry] = []
    try store.eachChange(of: past, after: first.cursor) { entry in
      if !own.contains(entry.cursor) { between.append(entry) }
      return .more
    }
    for entry in (row.entries + between).sorted(by: { $0.cursor < $1.cursor }) {
      try own.contains(entry.cursor) ? values.add(own: entry) : values.add(other: entry)
    }
    let schema = store.rows[row.place].schema
    return (try values.change(first.operation, last.operation, schema, store.database), values.others(in: schema))
  }
}

/// The values of a row before and after the reverted changes, column by column. They are collected from log entries,
/// because the entry of an update has only some columns.
private struct RevertedValues {
  private var before: [Name: Value] = [:]
  private var after: [Name: Value] = [:]
  /// The values and stamps that others wrote into each column since the last reverted change of the column.
  private var theirValues: [Name: Value] = [:]
  private var theirs: [Name: Stamp] = [:]
  private var theirPresence = false
  private var newest = Stamp.zero

  mutating func add(own entry: LogEntry) throws {
    for field in entry.was ?? [] { begin(field.name, field.value) }
    for field in try entry.set ?? [] {
      begin(field.name, entry.operation == .insert ? .null : nil)
      after[field.name] = field.value
    }
    if entry.operation != .update { theirPresence = false }
  }

  /// Begins a reverted change of a column. `run` restores the value before the first reverted change. But if another
  /// writer changed the column between two reverted changes, that writer's value is restored.
  private mutating func begin(_ name: Name, _ value: Value?) {
    if let between = theirValues.removeValue(forKey: name), before[name] != nil { before[name] = between }
    if before[name] == nil { before[name] = value }
    theirs[name] = nil
  }

  mutating func add(other entry: LogEntry) throws {
    newest = max(newest, entry.stamp)
    if entry.operation != .update { theirPresence = true }
    for field in try entry.set ?? [] {
      theirValues[field.name] = field.value
      theirs[field.name] = entry.stamp
    }
  }

  func others(in schema: TableSchema) -> OthersChanges {
    var others = OthersChanges()
    others.newest = newest
    others.presence = theirPresence
    for (name, stamp) in theirs {
      if let column = schema.position(of: name) { others.columns[column] = stamp }
    }
    return others
  }

  /// - Parameters:
  ///   - first: the operation of the first reverted change.
  ///   - last: the operation of the last reverted change.
  func change(
    _ first: Operation, _ last: Operation, _ schema: TableSchema, _ database: borrowing Database
  ) throws -> Change? {
    func whole(_ values: [Name: Value]) throws -> Row {
      try schema.row(kept: values.map { Field($0.key, $0.value) }, in: database)
    }
    switch (first, last) {
    case (.insert, .delete): return nil
    case (.insert, _): return .delete(was: try whole(after))
    case (_, .delete): return .insert(try whole(before))
    default:
      let columns = schema.columns.indices.filter { place in
        let name = schema.columns[place]
        return before[name].map { $0 != after[name] } ?? false
      }
      let changes = columns.map {
        ColumnChange(column: $0, was: after[schema.columns[$0]] ?? .null, value: before[schema.columns[$0]] ?? .null)
      }
      return changes.isEmpty ? nil : .update(changes)
    }
  }
}
