import SatchelCapture
import SatchelSQLite
import SatchelValues

/// Rows that no user sees, because neither the row nor a row above it in its tree names a parent in another table.
extension ScopeStore {
  /// The greatest number of rows above a row that are read. No app's tree is this deep. The limit bounds the cost of a
  /// tree that an attacker made.
  private static let mostRowsAbove = 1_000

  /// Whether the rules hide a row from every user, because it has no parent in another table. The row need not be in
  /// the database. The rows above it in its own table are read from the database. If one of them is missing, the result
  /// is false, because the missing parent decides then. If there are too many, the result is true.
  func hidesOrphan(_ row: Row, in place: Int) throws -> Bool {
    let table = store.tables[place]
    guard rules.hidesOrphans(table) else { return false }
    var known: Set<RowKey> = [table.schema.key(of: row)]
    var next = [row]
    while let row = next.popLast(), known.count <= Self.mostRowsAbove {
      if rules.namesParent(row, of: table) { return false }
      for key in table.treeKeys where key.columns.allSatisfy({ !row[$0].isNull }) {
        // A new row that refers to itself is not in the database yet.
        if names(row, itself: key, of: table) { continue }
        guard let above = try store.parent(of: row, along: key)?.key else { return false }
        if known.insert(above).inserted, let row = try store.rows[place].row(above) { next.append(row) }
      }
    }
    return true
  }

  private func names(_ row: Row, itself key: ForeignKey, of table: TrackedTable) -> Bool {
    zip(key.columns, key.parentColumns).allSatisfy { own, parent in
      table.schema.position(of: parent).map { row[own] == row[$0] } ?? false
    }
  }
}
