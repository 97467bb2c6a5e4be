import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues

extension ConflictRecord {
  /// The new rows that wait because they refer to this conflict's row, at any depth. If the decision accepts this row,
  /// these rows are accepted too.
  /// - Parameter tables: the dataset's tables.
  public func waitingBelow(_ tables: [TrackedTable], in database: borrowing Database) throws -> [ConflictRecord] {
    try [self].waitingBelow(tables, in: database)
  }

  /// The row that others may wait for, because a decision may still accept it. nil: there is no such row.
  fileprivate func awaitedRow(among tables: [TrackedTable]) -> (row: Row, table: Name)? {
    // A row that lost by a policy can still be accepted.
    let isOver = state == .resolved || state == .settled && (kind != .unique || rowWinner == .device)
    let isParent = tables.contains { $0.schema.foreignKeys.contains { $0.parent == table } }
    return isOver || !isParent ? nil : newRow(among: tables)
  }

  /// The conflict in which the new row to which this change refers has lost. nil: there is no such conflict.
  /// - Parameter tables: the dataset's tables.
  public func lostParent(_ tables: [TrackedTable], in database: borrowing Database) throws -> ConflictRecord? {
    guard let child = writtenRow(among: tables) else { return nil }
    var below = RowsBelow(among: tables, in: database)
    below.add(child.row, of: child.table)
    return try ConflictTable.lostInserts(of: device, in: database).first { lost in
      lost.newRow(among: tables).map { !below.find(below: [$0]).isEmpty } ?? false
    }
  }

  /// The row that the change makes, with NULL in columns that the record lacks; nil: the change makes no row.
  fileprivate func newRow(among tables: [TrackedTable]) -> (row: Row, table: Name)? {
    operation == .insert ? writtenRow(among: tables) : nil
  }

  /// The values that the change writes, with NULL in the other columns of the row; nil: it is a delete, or its table is
  /// not in the dataset.
  fileprivate func writtenRow(among tables: [TrackedTable]) -> (row: Row, table: Name)? {
    guard operation != .delete, let table = tables.first(where: { $0.name == self.table }) else { return nil }
    let values = Dictionary((deviceValues ?? []).map { ($0.name, $0.value) }) { first, _ in first }
    return (Row(table.schema.columns.map { values[$0] ?? .null }), table.name)
  }
}

/// The new rows of one device that wait because they refer to other rows, as they were when this was made.
public struct UndecidedReferences {
  private let tables: [TrackedTable]
  private var rows: RowsBelow
  private var records: [ConflictRecord] = []

  /// - Parameter tables: the dataset's tables.
  public init(of device: ReplicaID, _ tables: [TrackedTable], in database: borrowing Database) throws {
    self.tables = tables
    rows = RowsBelow(among: tables, in: database)
    let undecided = try ConflictTable.undecidedReferences(of: device, in: database)
    let newest = NewestValues(undecided)
    for record in undecided {
      guard let child = newest.of(record).newRow(among: tables) else { continue }
      rows.add(child.row, of: child.table)
      records.append(record)
    }
  }

  /// The new rows that refer to the row of one of these conflicts, at any depth.
  public func below(_ parents: [ConflictRecord]) -> [ConflictRecord] {
    let own = Set(parents.map(\.id))
    return rows.find(below: parents.compactMap { $0.awaitedRow(among: tables) }).map { records[$0] }
      .filter { !own.contains($0.id) }
  }
}

/// The newest values of new rows that wait: their devices may have changed them after the insert.
struct NewestValues {
  /// The newest written value of a column.
  private struct Written {
    let field: Field
    let generation: Generation
  }

  /// For each row, the newest written values by column. An older value of the column is in no newest row.
  private var updates: [RowInTable: [Name: Written]] = [:]

  /// - Parameter records: conflicts of one device. The updates among them wait behind the inserts.
  init(_ records: [ConflictRecord]) {
    for record in records where record.operation == .update && record.unit == nil {
      for field in record.deviceValues ?? [] {
        let known = updates[record.rowInTable]?[field.name]
        if let known, known.generation > record.generation { continue }
        updates[record.rowInTable, default: [:]][field.name] = Written(field: field, generation: record.generation)
      }
    }
  }

  /// Returns the record of an insert with the newest values of its row, and any other record as it is.
  func of(_ record: ConflictRecord) -> ConflictRecord {
    guard record.operation == .insert, let values = record.deviceValues, let updates = updates[record.rowInTable] else {
      return record
    }
    let later = updates.filter { $0.value.generation >= record.generation }
    var newest = record
    newest.deviceValues = values.filter { later[$0.name] == nil } + later.values.map(\.field)
    return newest
  }
}

extension [ConflictRecord] {
  /// The new rows that wait because they refer to the row of one of these conflicts, at any depth. Reads all undecided
  /// references once. All conflicts are of one device.
  /// - Parameter tables: the dataset's tables.
  public func waitingBelow(_ tables: [TrackedTable], in database: borrowing Database) throws -> [ConflictRecord] {
    guard let device = first?.device, contains(where: { $0.awaitedRow(among: tables) != nil }) else { return [] }
    return try UndecidedReferences(of: device, tables, in: database).below(self)
  }

  /// The conflicts of waiting changes that refer to a new row of this device, at any depth, if that row has lost.
  /// - Parameters:
  ///   - tables: the dataset's tables.
  ///   - contains: whether a row is in its table.
  public func below(
    lostRowsOf device: ReplicaID, _ tables: [TrackedTable], in database: borrowing Database,
    contains: (RowKey, Name) throws -> Bool
  ) throws -> [ConflictID] {
    var (below, found): (RowsBelow?, [ConflictID]) = (nil, [])
    let newest = NewestValues(self)
    for record in self where record.state == .held && record.kind == .foreignKey {
      guard let child = newest.of(record).writtenRow(among: tables) else { continue }
      below = below ?? RowsBelow(among: tables, in: database)
      below?.add(child.row, of: child.table)
      found.append(record.id)
    }
    guard let below else { return [] }
    var search = RowsBelow.Search()
    for row in try ConflictTable.lostRows(of: device, in: database) where try !contains(row.key, row.table) {
      try ConflictTable.eachLostInsert(of: row, device: device, in: database) { record in
        if let lost = record.newRow(among: tables) { below.find(below: [lost], in: &search) }
      }
    }
    return search.found.map { found[$0] }
  }
}

extension WorkspaceError {
  /// The same error with the next step for a row whose parent has lost.
  /// - Parameters:
  ///   - parent: the conflict of the parent. nil: the error stays as it is.
  ///   - tool: the name of the command-line tool.
  public func naming(_ parent: ConflictRecord?, tool: String) -> WorkspaceError {
    guard let parent else { return self }
    let short = parent.id.text.prefix(8)
    let decide = "\(tool) conflicts resolve \(short) --keep device"
    let steps = parent.state == .resolved ? "satchel-hub conflicts reopen \(short), then \(decide)" : decide
    return WorkspaceError(
      code, message,
      hint: """
        The row \(parent.words) lost a conflict. Decide that conflict for the device, and all these rows come \
        together: \(steps)
        """)
  }
}
