import SatchelRows
import SatchelSQLite
import SatchelValues

/// The rows of several conflicts that are decided together because the rows trade UNIQUE values.
public struct JointDecision {
  public struct Part {
    public let table: Name
    /// The row before and after all decisions about it.
    public let row: DecidedRow
    /// The first of the conflicts about this row.
    public let record: ConflictRecord
  }

  /// The rows, in the order of the first decision about each.
  public private(set) var parts: [Part] = []
  private var positions: [RowInTable: Int] = [:]

  public init() {}

  /// Adds a decided row. If the row was decided before, the new decision builds on the earlier one.
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

  /// The row after the decisions so far; nil if they delete it.
  /// - Parameter present: reads the row from its table.
  public func row(_ key: RowKey, of table: Name, present: (RowKey) throws -> Row?) rethrows -> Row? {
    guard let position = positions[RowInTable(table: table, key: key)] else { return try present(key) }
    return parts[position].row.target
  }

  /// For each table by its name: its rows and its references.
  public typealias Tables = [Name: (rows: RowTable, references: References)]

  /// A row that the decisions change, with its table.
  private typealias Changed = (row: DecidedRow, table: (rows: RowTable, references: References))

  /// Writes the rows while all triggers are off: all rows leave their tables, then all enter. Throws a
  /// `WorkspaceError` if the database does not allow the result. The caller must then roll back.
  public func write(in database: borrowing Database, tables: Tables) throws {
    try write(in: database, tables) { changed in
      for part in changed { try part.table.rows.write(nil, over: part.row.current, key: part.row.key) }
      for part in changed { try part.table.rows.write(part.row.target, over: nil, key: part.row.key) }
    }
  }

  /// Writes the rows so that triggers see one update of each row that stays, as if each row were decided alone. They
  /// see no delete of such a row. Throws a `WorkspaceError` if the database does not allow the result. The caller
  /// must then roll back.
  ///
  /// While one row is written, the other rows are out of their tables, so their UNIQUE values are free. Triggers are
  /// off while rows leave and enter.
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
        // A trigger of the app may have changed the row further.
        guard let row = try rows.row(key) else { continue }
        written.append((row: row, part: part))
        try database.withoutTriggers { try rows.write(nil, over: row, key: key) }
      }
      try database.withoutTriggers {
        for (row, part) in written { try part.table.rows.write(row, over: nil, key: part.row.key) }
      }
    }
  }

  /// Calls `body` with the rows that change, and then checks their references. Turns errors of SQLite into a
  /// `WorkspaceError`.
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

  /// The other rows in the tables that have UNIQUE values of the decided rows.
  private func rowsInTheWay(in database: borrowing Database, _ tables: Tables) throws -> [RowInTable] {
    try tables.values.flatMap { table in
      try table.rows.rowsInTheWay(of: parts.filter { $0.table == table.rows.name }.map(\.row), in: database)
    }
  }
}
