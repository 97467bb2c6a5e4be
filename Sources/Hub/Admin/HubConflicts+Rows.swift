import SatchelCapture
import SatchelConflicts
import SatchelPlatform
import SatchelRows
import SatchelValues
import SatchelWorkspace

/// Writes the rows of decisions about conflicts.
extension HubWorkspace {
  /// Writes the rows of a decision about one conflict, and logs them.
  /// - Parameters:
  ///   - decided: all rows that the same command decides.
  ///   - check: throws if a row may not be written. It is called twice: before the rows are written, and after that.
  func write(
    _ decision: ConflictDecision, for conflict: StoredConflict, among decided: Set<RowInTable>, at moment: Int64,
    _ store: HubStore, check: (DecidedRow) throws -> Void
  ) throws {
    guard let place = store.place(of: conflict.record.table) else {
      return try decision.check(forDeparted: conflict.record)
    }
    let rows = store.rows[place]
    let (record, results) = try self.rows(
      decision, for: conflict, among: decided, in: place, store, row: rows.row)
    let written = results.filter { $0.current != $0.target }
    try written.forEach(check)
    try rows.write(results, store.references[place], in: store.database)
    try written.forEach(check)
    for row in results { try log(row, decision, for: record, at: moment, in: place, store) }
  }

  /// Writes the rows of conflicts whose rows trade UNIQUE values: first all rows leave their tables, then all enter
  /// them.
  func writeTogether(
    _ decision: ConflictDecision, for conflicts: [StoredConflict], among decided: Set<RowInTable>, at moment: Int64,
    _ store: HubStore, check: (DecidedRow, ConflictRecord) throws -> Void
  ) throws {
    var joint = JointDecision()
    var tables: JointDecision.Tables = [:]
    for conflict in conflicts {
      guard let place = store.place(of: conflict.record.table) else {
        try decision.check(forDeparted: conflict.record)
        continue
      }
      let table = store.rows[place]
      tables[table.name] = (table, store.references[place])
      let (record, results) = try rows(decision, for: conflict, among: decided, in: place, store) { key in
        try joint.row(key, of: table.name, present: table.row)
      }
      for row in results { joint.add(row, of: table.name, for: record) }
    }
    let written = joint.parts.filter { $0.row.current != $0.row.target }
    for part in written { try check(part.row, part.record) }
    try joint.write(in: store.database, tables: tables)
    for part in written { try check(part.row, part.record) }
    for part in joint.parts {
      guard let place = store.place(of: part.table) else { continue }
      try log(part.row, decision, for: part.record, at: moment, in: place, store)
    }
  }

  /// The rows that exclude the row of a conflict, because they have its UNIQUE values. The row is taken as a decision
  /// for the device would write it.
  func rivals(of conflict: StoredConflict, _ store: HubStore) throws -> [RowInTable] {
    guard let place = store.place(of: conflict.record.table) else { return [] }
    let (rows, schema) = (store.rows[place], store.tables[place].schema)
    let record = try conflict.record.present(in: schema, store.database)
    return try record.rivals(in: rows, store.database) {
      try rows.contains(record.key) ? nil : store.lastImage(of: record.key, in: place)
    }
  }

  /// Returns a conflict in the present columns of its table, and the rows that a decision about it writes.
  /// - Parameter row: reads a row as it is, or as other decisions of the same command will leave it.
  private func rows(
    _ decision: ConflictDecision, for conflict: StoredConflict, among decided: Set<RowInTable>, in place: Int,
    _ store: HubStore, row: (RowKey) throws -> Row?
  ) throws -> (record: ConflictRecord, rows: [DecidedRow]) {
    let (rows, schema) = (store.rows[place], store.tables[place].schema)
    let record = try conflict.record.present(in: schema, store.database)
    let whole = try rows.contains(record.key) ? nil : store.lastImage(of: record.key, in: place)
    let results = try decision.rows(
      for: record, in: schema, by: rows.rules, whole: whole,
      values: EnteredValueReader(schema.name, in: store.database, files: platform.files), among: decided, row: row
    ) { try rows.rivals(of: $0, in: store.database) }
    return (record, results)
  }

  /// Logs the change of a decided row, after the row was written.
  private func log(
    _ row: DecidedRow, _ decision: ConflictDecision, for record: ConflictRecord, at moment: Int64, in place: Int,
    _ store: HubStore
  ) throws {
    // The stored value is logged, because SQLite may have turned a typed text into a number for this column.
    guard let change = Change(from: row.current, to: try store.rows[place].row(row.key)) else { return }
    let stamp = try Capture.tick(now: platform.clock.milliseconds(), in: store.database)
    try store.log(
      change, of: row.key, in: place,
      from: Origin(device: nil, user: Self.hubUser, stamp: stamp, bundle: nil, returnsToAuthor: false, at: moment))
    if decision.word == .device { try keepClaims(of: record, in: change, of: row.key, in: place, store) }
  }

  /// Records that the device claims the attachments that the decision named in the row. The device must still show that
  /// it has these files: a decision for a device is no proof.
  private func keepClaims(
    of record: ConflictRecord, in change: Change, of key: RowKey, in place: Int, _ store: HubStore
  ) throws {
    let paths = store.tables[place].attachments(of: change)
    if try paths.isEmpty || store.device(record.device) == nil { return }
    let number = try store.numbers[place].assign(key, in: store.database)
    for path in paths { try store.claim(path, in: number, place, by: record.device) }
  }
}
