import SatchelDataset
import SatchelValues

/// Parents that a row names and that the user does not see.
extension ScopeStore {
  /// Returns the first parent of `row` that is not a parent of `hub`, that the user may not see, and for which
  /// `condition` holds.
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
