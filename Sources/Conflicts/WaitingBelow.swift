import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues

extension ConflictRecord {
  /// The waiting new rows that refer to this conflict's row, at any depth. A decision that accepts this row also
  /// accepts them.
  /// - Parameter tables: the dataset's tables.
  public func waitingBelow(_ tables: [TrackedTable], in database: borrowing Database) throws -> [ConflictRecord] {
    try [self].waitingBelow(tables, in: database)
  }

  /// This conflict's new row, if other rows may wait for it because a decision may still accept it; nil otherwise.
  fileprivate func awaitedRow(among tables: [TrackedTable]) -> (row: Row, table: Name)? {
    // A row that lost by a policy can still be accepted by a person.
    let isOver = state == .resolved || state == .settled && (kind != .unique || rowWinner == .device)
    let isParent = tables.contains { $0.schema.foreignKeys.contains { $0.parent == table } }
    return isOver || !isParent ? nil : newRow(among: tables)
  }

  /// The conflict of the new row to which this change refers, if that row has lost; nil otherwise.
  /// - Parameter tables: the dataset's tables.
  public func lostParent(_ tables: [TrackedTable], in database: borrowing Database) throws -> ConflictRecord? {
    guard let child = writtenRow(among: tables) else { return nil }
    var below = RowsBelow(among: tables, in: database)
    below.add(child.row, of: child.table)
    return try ConflictTable.lostInserts(of: device, in: database).first { lost in
      lost.newRow(among: tables).map { !below.find(below: [$0]).isEmpty } ?? false
    }
  }

  /// The new row that the change makes, with NULL in columns that the record lacks; nil if the change is no insert.
  fileprivate func newRow(among tables: [TrackedTable]) -> (row: Row, table: Name)? {
    operation == .insert ? writtenRow(among: tables) : nil
  }

  /// The values that the change writes, with NULL in all other columns; nil if the change is a delete or its table is
  /// not in the dataset.
  fileprivate func writtenRow(among tables: [TrackedTable]) -> (row: Row, table: Name)? {
    guard operation != .delete, let table = tables.first(where: { $0.name == self.table }) else { return nil }
    let values = Dictionary((deviceValues ?? []).map { ($0.name, $0.value) }) { first, _ in first }
    return (Row(table.schema.columns.map { values[$0] ?? .null }), table.name)
  }
}

/// The undecided new rows of one device that refer to other rows. Later changes of the conflict table have no effect
/// on this value.
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

  /// The new rows that refer, at any depth, to the row of one of these conflicts.
  public func below(_ parents: [ConflictRecord]) -> [ConflictRecord] {
    let own = Set(parents.map(\.id))
    return rows.find(below: parents.compactMap { $0.awaitedRow(among: tables) }).map { records[$0] }
      .filter { !own.contains($0.id) }
  }
}

/// The newest values of waiting new rows. Their device may have updated them after the insert.
struct NewestValues {
  /// The newest written value of a column.
  private struct Written {
    let field: Field
    let generation: Generation
  }

  /// For each row, the newest value of each column that an update wrote.
  private var updates: [RowInTable: [Name: Written]] = [:]

  /// - Parameter records: conflicts of one device: waiting inserts, and the updates that wait behind them.
  init(_ records: [ConflictRecord]) {
    for record in records where record.operation == .update && record.unit == nil {
      for field in record.deviceValues ?? [] {
        let known = updates[record.rowInTable]?[field.name]
        if let known, known.generation > record.generation { continue }
        updates[record.rowInTable, default: [:]][field.name] = Written(field: field, generation: record.generation)
      }
    }
  }

  /// For the record of an insert, returns it with the row's newest values. Returns any other record unchanged.
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
  /// The waiting new rows that refer, at any depth, to the row of one of these conflicts. All conflicts must be of
  /// one device. The device's undecided references are read only once.
  /// - Parameter tables: the dataset's tables.
  public func waitingBelow(_ tables: [TrackedTable], in database: borrowing Database) throws -> [ConflictRecord] {
    guard let device = first?.device, contains(where: { $0.awaitedRow(among: tables) != nil }) else { return [] }
    return try UndecidedReferences(of: device, tables, in: database).below(self)
  }

  /// The ids of the waiting changes among these that refer, at any depth, to a new row of this device that has lost.
  /// - Parameters:
  ///   - tables: the dataset's tables.
  ///   - contains: whether a table has the row with this key.
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
  /// The same error with the next step for the person, if the row's parent has lost a conflict.
  /// - Parameters:
  ///   - parent: the conflict of the parent; nil leaves the error as it is.
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
