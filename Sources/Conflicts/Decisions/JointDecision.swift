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

  /// Writes the rows: first all of them leave their tables, and then they enter. Throws a `WorkspaceError` if that is
  /// impossible; the caller must then roll back.
  /// - Parameter tables: the table of each row, with its references.
  public func write(
    in database: borrowing Database, tables: [Name: (rows: RowTable, references: References)]
  ) throws {
    let changed = parts.compactMap { part in
      part.row.current == part.row.target ? nil : tables[part.table].map { (row: part.row, table: $0) }
    }
    do {
      for part in changed { try part.table.rows.write(nil, over: part.row.current, key: part.row.key) }
      for part in changed { try part.table.rows.write(part.row.target, over: nil, key: part.row.key) }
      for part in changed { try part.table.rows.check(part.row, part.table.references, in: database) }
    } catch let error as SQLiteError where error.kind == .unique || error.kind == .constraint {
      throw WorkspaceError(decidedRowFailed: error)
    }
  }
}
