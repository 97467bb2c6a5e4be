import SatchelCapture
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Finds the rows that this device has deleted and to which a row of the hub's refers that has just come: the hub lets
/// no such row go, so it comes back here too.
///
/// A row that was here and hung on nothing is the app's affair, and is left as it is.
final class DeletedParents {
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
  ///   - changed: those with pending changes. Only where something was deleted to which others could refer is anything
  ///     noted.
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
      try PreImageStore.each(rows.table, since: .zero, in: database) { _, images, current in
        if current == nil, images.first?.hubRow != nil { throw Found() }
      }
      return false
    } catch is Found { return true }
  }

  /// Notes what a row refers to that is written over a former one; nil: over none.
  func note(_ row: Row, over former: Row?, of schema: TableSchema) {
    for key in schema.foreignKeys where tables.contains(where: { $0.schema.name == key.parent }) {
      let values = key.columns.map { row[$0] }
      if values.contains(where: \.isNull) || key.columns.map({ former?[$0] }) == values { continue }
      wanted[key, default: Wanted(lookup: .parent(along: key, of: schema))].values.insert(values)
    }
  }

  /// The rows that are referred to and were deleted.
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
