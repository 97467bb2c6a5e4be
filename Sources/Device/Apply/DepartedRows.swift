import SatchelRows
import SatchelValues

/// The rows that left their tables in an import, with the values by which other rows may refer to them.
///
/// The bundle also removes the children of such a row, if the hub knows these children. If a child remains, capture
/// missed a write of the child, or the hub also has the child without its parent.
final class DepartedRows {
  /// For each table that other tables refer to: the positions of the referenced columns and of the primary key.
  private let columns: [Name: Set<Int>]
  private var rows: [Name: [Row]] = [:]

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

  /// Whether no row has left a table that other tables refer to.
  var isEmpty: Bool { rows.isEmpty }

  /// Records a row that left its table. Records only the values of `columns`. The other values become NULL.
  func note(_ row: Row, of schema: TableSchema) {
    guard let columns = columns[schema.name] else { return }
    let values = row.values.indices.map { columns.contains($0) ? row[$0] : Value.null }
    rows[schema.name, default: []].append(Row(values))
  }

  /// Returns the recorded rows of a table. Some of these rows may be in the table again.
  func rows(of table: Name) -> [Row] { rows[table] ?? [] }
}
