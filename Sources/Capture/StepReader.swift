import SatchelSQLite
import SatchelValues

/// Reads the steps of one table, row by row in the order of their keys.
///
/// Nearly every row has one pre-image. Such a row's is compared with what the row is now where both lie, in their
/// statements, and values are made of what changed alone: at 12 columns, of which two changed, that takes half of what
/// two whole rows take. All other rows go the way of `PreImageStore.eachSpelling`.
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

  /// What one pre-image tells of its row.
  private enum Finding {
    case unchanged
    case step(Step)
    /// Nothing by itself: there are more of this row, or its key is spelled in another way now.
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

  /// The steps of one row by all of its pre-images.
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

  /// What the pre-image tells at which `pending` stands.
  private func finding(_ key: RowKey) throws -> Finding {
    let columns = table.schema.columns.indices
    let existed = pending.integer(columns.count + 1)
    defer { current.reset() }
    try current.bind(key.values)
    let exists = try current.step()
    if exists {
      // The hub took the row away, and it was written again.
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
