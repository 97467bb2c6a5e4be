import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Finds the rows that ON DELETE CASCADE deleted together with a parent row. If the delete of the parent is undone,
/// these rows come back too.
final class DeletedChildren {
  struct Child {
    let rows: RowTable
    let key: RowKey
    /// The row as it was before its delete.
    let row: Row
    let images: [PreImage]
  }

  /// The delete of a parent: the values by which its children referred to it, and the generation of the delete.
  private struct Delete: Hashable {
    let values: [Value]
    let generation: Generation
  }

  private let tables: [RowTable]
  private var deletes: [ForeignKey: [Delete]] = [:]

  /// - Parameter changed: the tables with pending changes.
  init(among changed: [RowTable]) {
    tables = changed.filter { $0.schema.foreignKeys.contains(where: \.deletesChildren) }
  }

  /// Records a row whose delete is undone.
  /// - Parameter images: the row's pre-images, oldest first. The last pre-image belongs to the delete.
  func note(_ images: [PreImage], of schema: TableSchema) {
    guard let last = images.last, let row = last.row else { return }
    for key in tables.flatMap(\.schema.foreignKeys) where key.deletesChildren && key.parent == schema.name {
      let values = key.parentColumns.compactMap { schema.position(of: $0).map { row[$0] } }
      if values.count != key.parentColumns.count { continue }
      deletes[key, default: []].append(Delete(values: values, generation: last.generation))
    }
  }

  /// Returns the rows that were deleted together with the rows that `note` recorded since the last call of `find`.
  func find(in database: borrowing Database) throws -> [Child] {
    if deletes.isEmpty { return [] }
    defer { deletes = [:] }
    var found: [Child] = []
    for rows in tables {
      let keys = rows.schema.foreignKeys.filter { deletes[$0] != nil }
      if keys.isEmpty { continue }
      // The values are folded as SQLite compares them, because a reference may spell its parent's key differently.
      let wanted = keys.map { key in
        let comparisons = database.comparisons(ofParentIn: key)
        func folded(_ values: [Value]) -> [Value] { zip(comparisons, values).map { $0.folded($1) } }
        return (
          comparisons: comparisons,
          deletes: Set((deletes[key] ?? []).map { Delete(values: folded($0.values), generation: $0.generation) })
        )
      }
      try PreImageStore.each(rows.table, since: .zero, in: database) { key, images, current in
        guard current == nil, images.first?.hubRow != nil, let last = images.last, let row = last.row else { return }
        let wentAlong = zip(keys, wanted).contains { key, wanted in
          let values = zip(wanted.comparisons, key.columns).map { $0.folded(row[$1]) }
          return wanted.deletes.contains(Delete(values: values, generation: last.generation))
        }
        if wentAlong { found.append(Child(rows: rows, key: key, row: row, images: images)) }
      }
    }
    return found
  }
}
