import SatchelDataset
import SatchelSQLite
import SatchelValues

/// The rows that decide about the rights to other rows, because rules read them.
struct RuleReach {
  /// For each table, the columns that a rule reads in another row than its own.
  let columns: [Set<Int>]
  /// The tables of which a rule reads another row than its own. A new row of such a table, or a missing one, may change
  /// the rights to any row.
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
