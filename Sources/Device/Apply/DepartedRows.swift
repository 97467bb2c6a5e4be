import SatchelRows
import SatchelValues

/// The rows that left their tables in an import, or lost values by which other rows may refer to them.
///
/// The bundle also removes or changes the children of such a row, if the hub knows these children. If a child still
/// refers to the row's old values, capture missed a write of the child, or the hub also has the child without its
/// parent. Below a row that stays, the child may also have pending changes, which the hub does not know yet.
final class DepartedRows {
  /// For each table that other tables refer to: the positions of the referenced columns and of the primary key.
  private let columns: [Name: Set<Int>]
  private var rows: [Name: [Row]] = [:]
  /// The rows that stay with other values, as they were before.
  private var changed: [Name: [Row]] = [:]

  init(of tables: [RowTable]) {
    let keys = tables.flatMap(\.schema.foreignKeys)
    var columns: [Name: Set<Int>] = [:]
    for table in tables {
      let referring = keys.filter { $0.parent == table.schema.name }
      if referring.isEmpty { continue }
      let parts = referring.flatMap(\.parentColumns).compactMap { table.schema.position(of: $0) }
      columns[table.schema.name] = Set(parts + table.schema.key)
    }
    self.columns = columns
  }

  /// Whether no row has left a table that other tables refer to, or has lost a value of a referenced column.
  var isEmpty: Bool { rows.isEmpty && changed.isEmpty }

  /// Records a row that left its table, or lost a value of a referenced column. Has no effect for any other row. Keeps
  /// only the values of `columns`; the other values become NULL.
  /// - Parameter after: the row as it is now; nil: the row left its table.
  func note(_ row: Row, becoming after: Row? = nil, of schema: TableSchema) {
    guard let columns = columns[schema.name] else { return }
    if let after, columns.allSatisfy({ row[$0] == after[$0] }) { return }
    let values = row.values.indices.map { columns.contains($0) ? row[$0] : Value.null }
    if after == nil {
      rows[schema.name, default: []].append(Row(values))
    } else {
      changed[schema.name, default: []].append(Row(values))
    }
  }

  /// Returns the recorded rows of a table. Some of these rows may be in the table again.
  func rows(of table: Name) -> [Row] { rows[table] ?? [] }

  /// Returns the recorded rows of a table that stay with other values, as they were before.
  func changed(of table: Name) -> [Row] { changed[table] ?? [] }
}
