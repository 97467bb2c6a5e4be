import SatchelDataset
import SatchelSQLite
import SatchelValues

/// The rows that decide about the rights to other rows. The rules read these rows when they decide about other rows.
struct RuleReach {
  /// For each table: the columns that a rule reads in rows other than its own row.
  let columns: [Set<Int>]
  /// The tables in which a rule reads rows other than its own row. A new or deleted row of such a table may change the
  /// rights to any row.
  let tables: Set<Int>

  init(_ store: HubStore) throws {
    var columns = store.tables.map { _ in Set<Int>() }
    var read: Set<Int> = []
    for table in store.tables {
      for rule in [table.rules.visible, table.rules.write.expression].compactMap(\.self) {
        let found = try ScopeLinks.authorizer(of: rule, in: table, store)
        for place in store.tables.indices where found.reads(store.tables[place].name) {
          columns[place].formUnion(found.dependencies(on: store.tables[place].schema))
          read.insert(place)
        }
      }
    }
    (self.columns, tables) = (columns, read)
  }
}
