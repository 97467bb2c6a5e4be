import SatchelConflicts
import SatchelMerge
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A row that reverted bundles changed, and its entries in the log.
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

  /// Adds an entry that is older than all others.
  mutating func add(_ entry: LogEntry, of bundle: BundleID) {
    entries.insert(entry, at: 0)
    if bundles.last != bundle { bundles.append(bundle) }
  }
}

/// Writes the inverse of changes, row by row. A row that other rows block is tried again after them.
struct Revert {
  let store: HubStore
  let now: Int64
  let stamp: Stamp
  /// Number of restored rows, by table.
  private(set) var counts: [Int]
  /// The number of rows that are not reverted, or not wholly: others changed them since, or other rows block them.
  private(set) var left = 0
  /// The rows that have UNIQUE values of the rows that are not reverted.
  private(set) var rowsInTheWay: Set<RowInTable> = []
  private let handling: LeftRows

  /// How changes that cannot be reverted are handled.
  enum LeftRows {
    /// A person decides: each becomes an open conflict.
    case conflicts
    /// They are counted.
    case counted
  }

  /// How often blocked rows are tried again. Each time, the rows that blocked them have moved.
  private static let mostRounds = 20

  init(store: HubStore, now: Int64, stamp: Stamp, left handling: LeftRows) {
    (self.store, self.now, self.stamp, self.handling) = (store, now, stamp, handling)
    counts = [Int](repeating: 0, count: store.tables.count)
  }

  /// The inverse of a row's changes, merged with the present row.
  private struct Step {
    let row: RevertedRow
    let change: Change
    let current: Row?
    let past: RowNumbers.Entry?
    let result: MergeResult
  }

  /// Why a row cannot be written now.
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

  /// Reverts one row. Returns what blocks it; nil: the row is done.
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

  /// Reverts rows that block each other, such as rows that exchanged UNIQUE values: all are deleted before any is
  /// written. Returns whether it was done.
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

  /// Counts a row. Values that were changed since become a conflict; the other values are reverted.
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

  /// - Parameter words: nil for the words of a reverted bundle.
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
  /// The change from the row as the bundles left it to the row as it would be without them, and the changes that others
  /// made after the bundles. The change is nil if the bundles left the row as it was.
  ///
  /// If others changed a column between two of the bundles, their value is the one to restore.
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

/// The values of a row before and after reverted changes, column by column. Only inserts and deletes contain a whole
/// row.
private struct RevertedValues {
  private var before: [Name: Value] = [:]
  private var after: [Name: Value] = [:]
  /// The values and changes of others since the last reverted change of each column.
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

  /// A reverted change of a column begins. The value before it is the value to restore, unless an earlier reverted
  /// change has such a value and no other writer wrote in between.
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
  ///   - last: the operation of the last one.
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
