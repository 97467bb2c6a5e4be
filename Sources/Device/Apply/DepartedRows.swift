import SatchelRows
import SatchelValues

/// The rows that left their tables in an import, as far as their children are found by them.
///
/// The bundle also removes the rows below such a row that the hub knows. If another row still refers to it, that row
/// was written unseen, or the hub has that row without its parent too.
final class DepartedRows {
  /// For each table to which others refer, the columns by which the children are found, and the primary key.
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

  /// Whether no row left to which others could refer.
  var isEmpty: Bool { rows.isEmpty }

  /// Records a row that left. Values by which no children are found are not kept.
  func note(_ row: Row, of schema: TableSchema) {
    guard let columns = columns[schema.name] else { return }
    let values = row.values.indices.map { columns.contains($0) ? row[$0] : Value.null }
    rows[schema.name, default: []].append(Row(values))
  }

  /// The rows that left a table. Some of them may be back.
  func rows(of table: Name) -> [Row] { rows[table] ?? [] }
}
