import SatchelRows
import SatchelSQLite
import SatchelValues

/// The rows of several conflicts that are decided together, because the rows trade UNIQUE values.
public struct JointDecision {
  public struct Part {
    public let table: Name
    /// The row as it was before all of these decisions, and as it is after them.
    public let row: DecidedRow
    /// The conflict that was decided first about the row.
    public let record: ConflictRecord
  }

  /// The rows, in the order in which they were decided first.
  public private(set) var parts: [Part] = []
  private var positions: [RowInTable: Int] = [:]

  public init() {}

  /// Adds a decided row. A later decision about the same row builds on the earlier one.
  public mutating func add(_ row: DecidedRow, of table: Name, for record: ConflictRecord) {
    let place = RowInTable(table: table, key: row.key)
    guard let position = positions[place] else {
      positions[place] = parts.count
      parts.append(Part(table: table, row: row, record: record))
      return
    }
    let first = parts[position]
    let joined = DecidedRow(key: row.key, current: first.row.current, target: row.target)
    parts[position] = Part(table: table, row: joined, record: first.record)
  }

  /// The row as the decisions so far leave it; nil: it is deleted.
  /// - Parameter present: reads the row as it is in its table.
  public func row(_ key: RowKey, of table: Name, present: (RowKey) throws -> Row?) rethrows -> Row? {
    guard let position = positions[RowInTable(table: table, key: key)] else { return try present(key) }
    return parts[position].row.target
  }

  /// The table of each row, with its references.
  public typealias Tables = [Name: (rows: RowTable, references: References)]

  /// A row that changes, with its table.
  private typealias Changed = (row: DecidedRow, table: (rows: RowTable, references: References))

  /// Writes the rows while no trigger is on: first all of them leave their tables, and then they enter. Throws a
  /// `WorkspaceError` if that is impossible; the caller must then roll back.
  public func write(in database: borrowing Database, tables: Tables) throws {
    try write(in: database, tables) { changed in
      for part in changed { try part.table.rows.write(nil, over: part.row.current, key: part.row.key) }
      for part in changed { try part.table.rows.write(part.row.target, over: nil, key: part.row.key) }
    }
  }

  /// Writes the rows so that triggers see the same writes as if each row were decided alone: an update of a row that
  /// stays, and no delete of it. Throws a `WorkspaceError` if that is impossible; the caller must then roll back.
  ///
  /// While a row is written, the other rows are out of their tables, so their values are free. No trigger sees how rows
  /// leave and enter.
  public func writeWithTriggers(in database: borrowing Database, tables: Tables) throws {
    try write(in: database, tables) { changed in
      try database.withoutTriggers {
        for part in changed { try part.table.rows.write(nil, over: part.row.current, key: part.row.key) }
      }
      var written: [(row: Row, part: Changed)] = []
      for part in changed {
        let (rows, key) = (part.table.rows, part.row.key)
        try database.withoutTriggers { try rows.write(part.row.current, over: nil, key: key) }
        try rows.write(part.row.target, over: part.row.current, key: key)
        // A trigger may have changed the row further.
        guard let row = try rows.row(key) else { continue }
        written.append((row: row, part: part))
        try database.withoutTriggers { try rows.write(nil, over: row, key: key) }
      }
      try database.withoutTriggers {
        for (row, part) in written { try part.table.rows.write(row, over: nil, key: part.row.key) }
      }
    }
  }

  /// Writes the rows that change with `body`, and checks their references. Explains the errors of SQLite.
  private func write(in database: borrowing Database, _ tables: Tables, _ body: ([Changed]) throws -> Void) throws {
    let changed = parts.compactMap { part -> Changed? in
      part.row.current == part.row.target ? nil : tables[part.table].map { (row: part.row, table: $0) }
    }
    do {
      try body(changed)
      for part in changed { try part.table.rows.check(part.row, part.table.references, in: database) }
    } catch let error as SQLiteError where error.kind == .unique || error.kind == .constraint {
      let others = try error.kind == .unique ? rowsInTheWay(in: database, tables) : []
      throw WorkspaceError(decidedRowFailed: error, because: others)
    }
  }

  /// The other rows that have UNIQUE values of these rows.
  private func rowsInTheWay(in database: borrowing Database, _ tables: Tables) throws -> [RowInTable] {
    try tables.values.flatMap { table in
      try table.rows.rowsInTheWay(of: parts.filter { $0.table == table.rows.name }.map(\.row), in: database)
    }
  }
}
