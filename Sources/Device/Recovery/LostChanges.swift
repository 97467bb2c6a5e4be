import SatchelCapture
import SatchelMerge
import SatchelValues
import SatchelWorkspace

/// Changes that are lost while a database is created from bundles. The whole unit of each change is lost.
final class LostChanges {
  struct Lost {
    let table: Name
    let key: RowKey
    let image: PreImage
    let change: Change
    let disagreement: Disagreement
    let met: Row?

    init(_ table: Name, _ key: RowKey, image: PreImage, change: Change, disagreement: Disagreement, met: Row?) {
      (self.table, self.key, self.image) = (table, key, image)
      (self.change, self.disagreement, self.met) = (change, disagreement, met)
    }
  }

  private var all: [Lost] = []
  /// Replayed deletes of rows that another writer had marked as deleted.
  private var repeatedDeletes: [(row: RowInTable, lost: Rebased.Lost)] = []
  /// Rows with a replayed delete that met no row.
  private var gone: [RowInTable] = []
  /// Rows that the repair deleted. Rows with pending changes may refer to them.
  private var deleted: [(row: Row, schema: TableSchema)] = []

  func add(_ lost: Lost) { all.append(lost) }

  func note(deleted row: Row, of schema: TableSchema) { deleted.append((row, schema)) }

  /// Records a replayed delete of a row that another writer had marked as deleted. The unit of the delete may be lost.
  func note(repeatedDelete lost: Rebased.Lost, of key: RowKey, in table: Name) {
    repeatedDeletes.append((RowInTable(table: table, key: key), lost))
  }

  /// Records a row if a replayed delete of this row met no row. The unit of the delete may be lost.
  func note(_ images: [PreImage], of key: RowKey, in table: Name) {
    if images.contains(where: \.isGone) { gone.append(RowInTable(table: table, key: key)) }
  }

  /// Records all lost changes as conflicts, and undoes the changes of their units. Also undoes changes of rows whose
  /// parent is gone. The rows and their pre-images must exist already.
  func keep(_ session: DeviceSession) throws {
    if all.isEmpty, gone.isEmpty, repeatedDeletes.isEmpty, deleted.isEmpty { return }
    let applier = try ScopeApplier(session)
    for lost in all {
      guard let rows = applier.rows(of: lost.table) else { continue }
      try applier.note(lost.disagreement, of: lost.change, image: lost.image, key: lost.key, met: lost.met, in: rows)
    }
    for row in gone { applier.units?.noteGone(row.key, in: row.table) }
    for delete in repeatedDeletes { applier.units?.note([delete.lost], of: delete.row) }
    for (row, schema) in deleted { applier.orphans.note(row, of: schema) }
    try applier.finish()
    (all, gone, repeatedDeletes, deleted) = ([], [], [], [])
  }
}
