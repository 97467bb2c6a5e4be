import SatchelDataset
import SatchelValues

/// Parents that a row refers to and that the user may not see.
extension ScopeStore {
  /// Returns the first parent of `row` that the user may not see, and for which `condition` holds. Skips references
  /// that `hub` has too.
  func hiddenParent(
    of row: Row, from hub: Row?, in place: Int,
    where condition: ((place: Int, key: RowKey)) throws -> Bool = { _ in true }
  ) throws -> (place: Int, key: RowKey)? {
    for key in store.tables[place].schema.foreignKeys {
      if let hub, key.columns.allSatisfy({ hub[$0] == row[$0] }) { continue }
      guard let parent = try store.parent(of: row, along: key), try !maySee(parent.key, in: parent.place),
        try condition(parent)
      else { continue }
      return parent
    }
    return nil
  }
}
