import SatchelCapture
import SatchelDataset
import SatchelValues

/// Decides which new rows stay behind first, if a bundle must be small.
struct RowPriorities {
  /// The indexes of the tables whose new rows may stay behind. Tables of one priority are in one set. The least urgent
  /// tables come first.
  let levels: [Set<Int>]

  /// Makes each parent at least as urgent as its most urgent child. Otherwise a row would come without its parent.
  init(_ tables: [TrackedTable]) {
    var priorities = tables.map(\.rules.priority)
    let places = Dictionary(uniqueKeysWithValues: tables.enumerated().map { ($1.name, $0) })
    var isChanged = true
    while isChanged {
      isChanged = false
      for (place, table) in tables.enumerated() {
        for parent in table.schema.foreignKeys.compactMap({ places[$0.parent] })
        where priorities[parent] > priorities[place] {
          priorities[parent] = priorities[place]
          isChanged = true
        }
      }
    }
    let known = priorities
    let waiting = Set(known.filter { $0 > TableRules.firstPriority })
    levels = waiting.sorted(by: >).map { level in Set(tables.indices.filter { known[$0] == level }) }
  }
}

extension EmissionPlan {
  /// Returns the plan without the new rows of these tables. The next emission with room sends them.
  ///
  /// A new row is a row that no emission since the proved one has shown. Everything else is sent: changes and deletions
  /// of rows that the device may have, and rows that must be sent. If one of `tables` has such other rows, these may
  /// refer to new rows of its parent tables. So the new rows of the parent tables are sent too.
  func leaving(_ tables: Set<Int>, _ store: HubStore) throws -> EmissionPlan {
    guard !tables.isEmpty, grants.contains(where: { !$0.isEmpty }) else { return self }
    let parents = store.tables.map { table in table.schema.foreignKeys.compactMap { store.place(of: $0.parent) } }
    // Some tables have rows that the device knows by another key. Such a row may have been folded into a row that the
    // device lacks. So the new rows of these tables are sent.
    let renamed = try Set(store.rekeyed(of: device.id, at: device.proved).compactMap { store.place(of: $0.table) })
    let written = tables.filter { renamed.contains($0) || !rows[$0].subtracting(grants[$0]).isEmpty }
    var next = written.flatMap { parents[$0] }
    var kept = renamed
    while let place = next.popLast() {
      if kept.insert(place).inserted { next += parents[place] }
    }
    var plan = self
    for place in tables.subtracting(kept) where !grants[place].isEmpty {
      plan.rows[place] = rows[place].subtracting(grants[place])
      plan.visible[place] = visible[place].subtracting(grants[place])
      plan.rowsLeft += grants[place].count
    }
    // Without a basis, the next emission evaluates all rows, and so it finds the rows that stay behind.
    if plan.rowsLeft > 0 { plan.basis = nil }
    return plan
  }
}
