import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Finds rows that this device deleted, and that a row from the hub now refers to. The hub does not delete these
/// parents, so they come back here too.
///
/// If a row's parent was already missing before the import, nothing is done, because the app decided so.
final class RestoredParents {
  struct Parent {
    let rows: RowTable
    let key: RowKey
    let images: [PreImage]
  }

  private struct Wanted {
    let lookup: ReferenceLookup
    var values: Set<[Value]> = []
  }

  private let tables: [RowTable]
  private var wanted: [ForeignKey: Wanted] = [:]

  /// - Parameters:
  ///   - all: the dataset's tables.
  ///   - changed: the tables with pending changes. Only such tables with deleted rows can hold a deleted parent.
  init(among changed: [RowTable], of all: [RowTable], in database: borrowing Database) throws {
    let referredTo = Set(all.flatMap(\.schema.foreignKeys).map(\.parent))
    var tables: [RowTable] = []
    for rows in changed where try referredTo.contains(rows.schema.name) && Self.hasDeleted(rows, in: database) {
      tables.append(rows)
    }
    self.tables = tables
  }

  private static func hasDeleted(_ rows: RowTable, in database: borrowing Database) throws -> Bool {
    struct Found: Error {}
    do {
      // A row that this device made and deleted counts too, because the bundle may bring this row from another device.
      try PreImageStore.each(rows.table, since: .zero, in: database) { _, _, current in
        if current == nil { throw Found() }
      }
      return false
    } catch is Found { return true }
  }

  /// Records the references of a written row that its former version did not have. `former` is nil if there was no
  /// former version.
  func note(_ row: Row, over former: Row?, of schema: TableSchema) {
    for key in schema.foreignKeys where tables.contains(where: { $0.schema.name == key.parent }) {
      let values = key.columns.map { row[$0] }
      if values.contains(where: \.isNull) || key.columns.map({ former?[$0] }) == values { continue }
      wanted[key, default: Wanted(lookup: .parent(along: key, of: schema))].values.insert(values)
    }
  }

  /// Returns the deleted rows that recorded references lead to.
  func find(in database: borrowing Database) throws -> [Parent] {
    var found: [Parent] = []
    for rows in tables {
      var missing: [ForeignKey: Set<[Value]>] = [:]
      var comparisons: [ForeignKey: [Comparison]] = [:]
      for (key, wanted) in wanted where key.parent == rows.schema.name {
        let own = database.comparisons(ofParentIn: key)
        comparisons[key] = own
        for values in wanted.values where try !wanted.lookup.exists(values, in: database) {
          missing[key, default: []].insert(zip(own, values).map { $0.folded($1) })
        }
      }
      if missing.isEmpty { continue }
      try PreImageStore.each(rows.table, since: .zero, in: database) { key, images, current in
        guard current == nil, let row = images.first?.hubRow else { return }
        let isWanted = missing.contains { reference, values in
          let own = reference.parentColumns.compactMap { rows.schema.position(of: $0).map { row[$0] } }
          return values.contains(zip(comparisons[reference] ?? [], own).map { $0.folded($1) })
        }
        if isWanted { found.append(Parent(rows: rows, key: key, images: images)) }
      }
    }
    return found
  }
}
