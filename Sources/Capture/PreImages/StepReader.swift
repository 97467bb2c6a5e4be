import SatchelSQLite
import SatchelValues

/// Reads the steps of one table, row by row in the order of the keys.
///
/// Nearly every row has only one pre-image. SQLite's current rows are compared directly, and only changed values are
/// read. For a row of 12 columns with two changes, that takes half the time of reading both rows. All other rows are
/// read by `PreImageStore.eachSpelling`.
struct StepReader: ~Copyable {
  private let table: TrackedTable
  private let first: Generation
  private let pending: Statement
  private let current: Statement
  private let images: Statement

  init(_ table: TrackedTable, since first: Generation, in database: borrowing Database) throws {
    let pending = try database.prepare(table.pendingSQL)
    try pending.bind(.integer(first.rawValue), to: "first")
    let current = try database.prepare(table.currentSQL)
    images = try database.prepare(table.imagesSQL)
    self.pending = pending
    self.current = current
    self.table = table
    self.first = first
  }

  /// The result for one pre-image.
  private enum Finding {
    case unchanged
    case step(Step)
    /// The pre-image alone is not enough: the row has several pre-images, or its key is spelled differently now.
    case part
  }

  func each(_ body: (Step) throws -> Void) throws {
    var last: (key: RowKey, finding: Finding)?
    func finishLast() throws {
      switch last {
      case (_, .step(let step))?: try body(step)
      case (let key, .part)?: try eachStep(of: key, body)
      case (_, .unchanged)?, nil: break
      }
    }
    while try pending.step() {
      let key = RowKey(table.schema.key.map { pending.value($0) })
      if let known = last, known.key == key {
        last?.finding = .part
        continue
      }
      try finishLast()
      last = (key, try finding(key))
    }
    try finishLast()
  }

  /// Calls `body` for each step of one row, computed from all its pre-images.
  private func eachStep(of row: RowKey, _ body: (Step) throws -> Void) throws {
    var group: [SavedRow] = []
    defer { images.reset() }
    try images.bind(row.values)
    while try images.step() {
      let saved = SavedRow(images, of: table)
      if saved.generation >= first { group.append(saved) }
    }
    let now = try PreImageStore.row(row, of: table, by: current)
    try PreImageStore.eachSpelling(of: group, current: now, of: table) { key, images, current in
      for (image, change) in changes(from: images, to: current) {
        try body(
          Step(
            table: table.name, key: key, generation: image.generation, stamp: image.stamp, first: image.first,
            change: change))
      }
    }
  }

  /// The result for the current row of `pending`.
  private func finding(_ key: RowKey) throws -> Finding {
    let columns = table.schema.columns.indices
    let existed = pending.integer(columns.count + 1)
    defer { current.reset() }
    try current.bind(key.values)
    let exists = try current.step()
    if exists {
      // The hub deleted the row, and an app has inserted it again.
      if existed == SavedRow.gone { return .part }
      for column in table.schema.key where !pending.isSame(column, as: current, column) { return .part }
    }
    let change: Change
    switch (existed != 0, exists) {
    case (false, false): return .unchanged
    case (false, true): change = .insert(Row(current.values(from: 0, count: columns.count)))
    case (true, false): change = .delete(was: Row(pending.values(from: 0, count: columns.count)))
    case (true, true):
      var changes: [ColumnChange] = []
      for column in columns where !pending.isSame(column, as: current, column) {
        changes.append(ColumnChange(column: column, was: pending.value(column), value: current.value(column)))
      }
      if changes.isEmpty { return .unchanged }
      change = .update(changes)
    }
    return .step(
      Step(
        table: table.name, key: key, generation: Generation(pending.integer(columns.count)),
        stamp: Stamp(pending.integer(columns.count + 2)),
        first: pending.optionalInteger(columns.count + 3).map { FirstWrite(stored: $0) }, change: change))
  }
}
