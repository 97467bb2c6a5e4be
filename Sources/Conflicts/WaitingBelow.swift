import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues

extension ConflictRecord {
  /// The new rows that wait because they refer to this conflict's row, at any depth. If the decision accepts this row,
  /// these rows are accepted too.
  /// - Parameter tables: the dataset's tables.
  public func waitingBelow(_ tables: [TrackedTable], in database: borrowing Database) throws -> [ConflictRecord] {
    guard state != .resolved, state != .settled, let row = newRow(among: tables) else { return [] }
    let others = try ConflictTable.list([.open, .held], in: database).map(\.record)
      .filter { $0.device == device && $0.kind == .foreignKey && $0.id != id }
    var (below, found): (RowsBelow, [ConflictRecord]) = (RowsBelow(among: tables, in: database), [])
    for record in others {
      guard let child = record.newRow(among: tables) else { continue }
      below.add(child.row, of: child.table)
      found.append(record)
    }
    return below.find(below: [row]).map { found[$0] }
  }

  /// The row that the change makes, with NULL in columns that the record lacks; nil: the change makes no row.
  private func newRow(among tables: [TrackedTable]) -> (row: Row, table: Name)? {
    guard operation == .insert, let table = tables.first(where: { $0.name == self.table }) else { return nil }
    let values = Dictionary((deviceValues ?? []).map { ($0.name, $0.value) }) { first, _ in first }
    return (Row(table.schema.columns.map { values[$0] ?? .null }), table.name)
  }
}
