import SatchelCapture
import SatchelConflicts
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Reinstalls capture on tables that an app changed, and finds the changes that capture missed meanwhile.
extension DeviceSession {
  /// Runs `body` in a transaction. Rows that are put back are written exactly as they were.
  func transaction<T>(_ runMode: RunMode, puttingBack remade: [TrackedTable], _ body: () throws -> T) throws -> T {
    if remade.isEmpty { return try database.writeTransaction(runMode, body) }
    try database.execute("PRAGMA ignore_check_constraints = ON")
    return try database.applyTransaction(runMode, to: tables.map(\.name), body)
  }

  /// The findings about tables whose next key SQLite would take from outside this device's range.
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

  /// Does the work of `reinstallAndCompare()`, and puts back the known rows that these tables lack. The caller's
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
      let mappings = try Capture.reinstall(
        in: database, tables: tables, generation: Generation(state.sequence.rawValue))
      for (table, mapping) in mappings { try RenamedColumns.followInConflicts(mapping, of: table, database: database) }
    }
  }

  private func compare(with history: DeviceHistory) throws -> [UnseenChange] {
    var changes: [UnseenChange] = []
    let waiting = try keptRows().filter(\.isInTable)
    let former = try VersionTable.columns(in: database)
    for table in tables {
      guard let known = history.known.table(table.name) else { continue }
      let told = history.sent[table.name, default: [:]]
      let settled = try compared(told, settled(told, in: known), in: known, unsent: history.unsent)
      // The hub does not have the rows that wait, and no later export repeats their changes.
      let unclear =
        told.keys.filter { settled[$0] == nil } + waiting.filter { $0.record.table == table.name }.map(\.record.key)
      let comparison = UnseenChanges(
        of: table, known: known, sent: settled, unclear: Set(unclear), unsent: history.unsent,
        generation: try Capture.generation(in: database),
        alike: try valuesOfNewColumns(of: known, among: history.known, former))
      try comparison.find(in: database) { changes.append($0) }
    }
    return changes
  }

  /// By column, the values that a row from before the column may have. A row had the default of the migration that made
  /// the column. A later migration may have rebuilt the table with another default. Bundles of the time before do not
  /// show which value the row has.
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

  /// The exported rows to compare with what bundles show.
  ///
  /// An import may have undone an exported change, and bundles do not show that: the new parent left, the table forbade
  /// the row, another change of its unit lost, or a row came back with its parent. The device itself has recorded how
  /// exports and imports left each row (`satchel_exported_rows`). A row that is still like that needs no comparison. If
  /// it is not, and bundles do not show its expected values, it is compared with the hub's row.
  private func compared(
    _ sent: [RowKey: SentRow], _ settled: [RowKey: SentRow], in known: BaselineTable, unsent: Generation
  ) throws -> [RowKey: SentRow] {
    let table = known.table
    let (rows, lookup) = (try RowTable(table, in: database), try PreImageLookup(table, in: database))
    let digests = ExportedRows(self)
    var compared = settled
    for (key, own) in sent {
      let images = try lookup.images(of: key)
      guard !images.isEmpty,
        let recorded = try ExportedRowTable.row(RowInTable(table: table.name, key: key), in: database)
      else { continue }
      let exported = try images.first { $0.generation >= unsent }.map(\.row) ?? rows.row(key)
      if digests.digest(exported, in: table.schema) == recorded.digest {
        compared[key] = nil
      } else if settled[key] == nil {
        let row = try known.row(key)
        compared[key] = SentRow(images: own.images.map { $0.with(row: row) }, row: row)
      }
    }
    return compared
  }

  /// The expected result of the last export's changes, as far as bundles show it.
  ///
  /// Bundles do not show rows that had to give way to another row's UNIQUE value. In a table that merges whole rows, an
  /// export does not show which other columns the hub had changed by then. But if a change lost or was undone, it is a
  /// conflict, and the hub's row is in place.
  private func settled(_ sent: [RowKey: SentRow], in known: BaselineTable) throws -> [RowKey: SentRow] {
    let table = known.table
    let records = try ConflictTable.list(ConflictState.allCases, in: database).map(\.record)
      .filter { $0.device == state.id && $0.table == table.name }
    let disputes = Dictionary(grouping: records, by: \.key)
    var settled = sent
    for (key, own) in sent {
      let disputes = disputes[key, default: []].filter { dispute in
        dispute.kind == .unique || own.images.contains { dispute.isAbout($0) }
      }
      if disputes.isEmpty { continue }
      let isUndone = own.images[0].row != nil && disputes.contains(where: \.isAboutWholeRow)
      if disputes.contains(where: { $0.kind == .unique }) {
        settled[key] = nil
      } else if table.rules.merge == .row || isUndone {
        let row = try known.row(key)
        let areLost = own.images.allSatisfy { image in disputes.contains { $0.isLost && $0.isAbout(image) } }
        settled[key] = areLost ? SentRow(images: own.images.map { $0.with(row: row) }, row: row) : nil
      }
    }
    return settled
  }
}

extension ConflictRecord {
  /// Whether this conflict is about the row as a whole: the new parent left, the table forbids the row, or another
  /// change of the unit lost.
  fileprivate var isAboutWholeRow: Bool { unit != nil || [.foreignKey, .constraint, .unit].contains(kind) }

  /// Whether the hub's values won in the whole row.
  fileprivate var isLost: Bool { winners.isEmpty ? rowWinner == .hub : winners.allSatisfy { $0.winner == .hub } }

  /// Whether this conflict is about the change that begins with this pre-image. The conflict's stamp may be later,
  /// because the app may have written the row again in the same generation.
  fileprivate func isAbout(_ image: PreImage) -> Bool { generation == image.generation && stamp >= image.stamp }
}
