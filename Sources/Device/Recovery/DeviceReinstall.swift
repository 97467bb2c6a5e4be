import SatchelCapture
import SatchelConflicts
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Reinstalls capture on tables that an app changed, and finds the changes that capture missed meanwhile.
extension DeviceSession {
  /// Runs `body` in a transaction. If rows are inserted again, they are written exactly as they were.
  func transaction<T>(_ runMode: RunMode, puttingBack remade: [TrackedTable], _ body: () throws -> T) throws -> T {
    if remade.isEmpty { return try database.writeTransaction(runMode, body) }
    try database.execute("PRAGMA ignore_check_constraints = ON")
    return try database.applyTransaction(runMode, to: tables.map(\.name), body)
  }

  /// The findings about tables whose next primary key SQLite would take from outside this device's range.
  func lostCounts() throws -> [Finding] {
    try tables.compactMap { table in
      try table.lostCount(for: state.id, in: database).map {
        Finding(.keyCount, "The count of new keys was lost: \($0).")
      }
    }
  }

  /// Reinstalls capture if needed, and finds the changes that capture missed.
  func reinstallAndCompare() throws -> [UnseenChange] {
    try reinstall()
    return try compare(with: DeviceHistory(self, at: stand()))
  }

  /// Finds the changes of these rows that capture missed. The caller holds the transaction.
  /// - Returns: nil if the archive of signed bundles is not complete.
  func findUnseen(of rows: Set<RowInTable>) throws -> [UnseenChange]? {
    try ArchivedBundles.ifComplete {
      try compare(with: DeviceHistory(self, at: stand())).filter {
        rows.contains(RowInTable(table: $0.table, key: $0.key))
      }
    }
  }

  /// Does the work of `reinstallAndCompare()`, and inserts the known rows that these tables lack. The caller's
  /// transaction must write rows as they are.
  func reinstallAndCompare(puttingBack remade: [TrackedTable], _ report: inout DoctorReport) throws -> [UnseenChange] {
    try reinstall()
    let history = try DeviceHistory(self, at: stand())
    let changes = try compare(with: history)
    let isAnyWritten = try report.putBack(remade, in: database) { table in
      guard let known = history.known.table(table.name) else { return nil }
      let sent = history.sent[table.name, default: [:]]
      let told = try settled(sent, in: known).merging(sent.filter { $0.value.row == nil }) { settled, _ in settled }
      return try LackingRows(of: table, among: changes, sent: told, in: database)
    }
    return isAnyWritten ? try compare(with: history) : changes
  }

  private func reinstall() throws {
    if damage.isEmpty {
      try Capture.settle(tables, in: database)
    } else {
      try reinstall(tables)
    }
  }

  /// Reinstalls capture on these tables. Their pending changes stay. The caller holds the transaction.
  func reinstall(_ tables: [TrackedTable]) throws {
    let mappings = try Capture.reinstall(
      in: database, tables: tables, generation: Generation(state.sequence.rawValue))
    for (table, mapping) in mappings { try RenamedColumns.followInConflicts(mapping, of: table, database: database) }
  }

  private func compare(with history: DeviceHistory) throws -> [UnseenChange] {
    var changes: [UnseenChange] = []
    let waiting = try keptRows().filter(\.isInTable)
    let former = try VersionTable.columns(in: database)
    for table in tables {
      guard let known = history.known.table(table.name) else { continue }
      let told = history.sent[table.name, default: [:]]
      let expected = try expected(told, in: known, unsent: history.unsent)
      // Waiting rows are unclear too. The hub does not have these rows, and no later export repeats their changes.
      let unclear =
        told.keys.filter { expected[$0] == nil } + waiting.filter { $0.record.table == table.name }.map(\.record.key)
      let comparison = UnseenChanges(
        of: table, known: known, sent: expected, unclear: Set(unclear), unsent: history.unsent,
        generation: try Capture.generation(in: database),
        alike: try valuesOfNewColumns(of: known, among: history.known, former))
      try comparison.find(in: database) { changes.append($0) }
    }
    return changes
  }

  /// For each column that a migration added: the values that an older row may have there. The row may have the default
  /// of the migration that added the column. If a later migration rebuilt the table with another default, the row may
  /// have that default. Older bundles do not show which value the row has.
  private func valuesOfNewColumns(
    of known: BaselineTable, among rows: BaselineRows, _ former: FormerColumns
  ) throws -> [Int: Set<Value>] {
    var values: [Int: Set<Value>] = [:]
    for (name, value) in try NewValueTable.all(of: known.name, former, in: database) {
      guard let column = known.schema.position(of: name) else { continue }
      values[column, default: [known.defaultValue(of: column)]].insert(
        try rows.stored(value, in: name, of: known))
    }
    return values
  }
}
