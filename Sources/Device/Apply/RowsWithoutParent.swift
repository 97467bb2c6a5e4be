import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Finds the rows with pending changes that refer to a row which this import removed. The hub does not know of these
/// references, so its bundle does not delete the rows with their parent.
///
/// If a row's parent was already missing before the import, the row stays as it is, because the app decided so.
final class RowsWithoutParent {
  struct RowWithoutParent {
    let rows: RowTable
    let key: RowKey
    let row: Row
    /// Whether each missing parent is a row of this device that another row keeps out until a person decides.
    let isBelowKeptRow: Bool
  }

  /// Why a row left its table. `kept`: until a person decides, another row keeps out this row, or a row to which this
  /// row refers. `gone`: any other reason.
  enum Departure { case gone, kept }

  private let tables: [RowTable]
  /// How SQLite compares a reference with its parent, by foreign key.
  private let comparisons: [ForeignKey: [Comparison]]
  /// The values of parent rows that left, by foreign key. The values are folded, because a reference may spell them
  /// differently.
  private var gone: [ForeignKey: [[Value]: Departure]] = [:]

  /// - Parameter tables: the tables with pending changes.
  init(of tables: [RowTable], in database: borrowing Database) {
    self.tables = tables
    var comparisons: [ForeignKey: [Comparison]] = [:]
    for key in tables.flatMap(\.schema.foreignKeys) { comparisons[key] = database.comparisons(ofParentIn: key) }
    self.comparisons = comparisons
  }

  private func folded(_ values: [Value], along key: ForeignKey) -> [Value] {
    zip(comparisons[key] ?? [], values).map { $0.folded($1) }
  }

  /// Records a row that left its table.
  func note(_ row: Row, of schema: TableSchema, _ departure: Departure = .gone) {
    for child in tables {
      for key in child.schema.foreignKeys where key.parent == schema.name {
        let values = key.parentColumns.compactMap { schema.position(of: $0).map { row[$0] } }
        if values.count == key.parentColumns.count, !values.contains(where: \.isNull) {
          gone[key, default: [:]][folded(values, along: key)] = departure
        }
      }
    }
  }

  /// The rows with pending changes whose parent left and has not come back.
  func find(in database: borrowing Database) throws -> [RowWithoutParent] {
    if gone.isEmpty { return [] }
    var found: [RowWithoutParent] = []
    for rows in tables {
      let parents = rows.schema.foreignKeys.filter { gone[$0] != nil }.map {
        ReferenceLookup.parent(along: $0, of: rows.schema)
      }
      if parents.isEmpty { continue }
      try PreImageStore.each(rows.table, since: .zero, in: database) { key, images, current in
        guard let current, images.first?.row != current else { return }
        let departures = try parents.compactMap { parent -> Departure? in
          let values = parent.key.columns.map { current[$0] }
          guard let departure = gone[parent.key]?[folded(values, along: parent.key)],
            try !parent.exists(values, in: database)
          else { return nil }
          return departure
        }
        if departures.isEmpty { return }
        let isBelowKeptRow = departures.allSatisfy { $0 == .kept }
        found.append(RowWithoutParent(rows: rows, key: key, row: current, isBelowKeptRow: isBelowKeptRow))
      }
    }
    return found
  }
}
