import SatchelBundle
import SatchelRows
import SatchelSQLite
import SatchelValues

/// The rows of one table that a device should have, as they were at its emission.
struct ExpectedRows {
  let store: HubStore
  let place: Int
  /// The rows that the device held.
  let held: RowSet
  /// The rows that were changed since.
  let changed: RowSet
  /// The cursor of the emission.
  let cursor: Cursor

  /// Returns the tally of these rows.
  ///
  /// If the device has nearly all rows, all rows of the table are counted in one pass, and the others are taken out
  /// again. Such a pass also counts rows that capture has missed, so equal sums alone are believed.
  /// - Parameters:
  ///   - theirs: the tally of the device.
  ///   - asked: the sums whose rows are requested one by one.
  func tally(beside theirs: StateEntry.Table, asked: [Int]) throws -> StateTally {
    let columns = Set(theirs.columns)
    if asked.isEmpty, try areNearlyAll() {
      let all = try tallyOfAll(columns)
      if all.table == theirs { return all }
    }
    var tally = StateTallyMaker(schema, columns: columns, asked: asked)
    try store.numbers[place].each(of: held, in: store.database) { member in
      if changed.contains(member.number) { return }
      try store.rows[place].read(member.key) { tally.add(rowOf: $0) }
    }
    try addChanged(to: &tally)
    return tally.finish()
  }

  private var schema: TableSchema { store.tables[place].schema }

  /// Whether few rows of the table are not held as they are now.
  private func areNearlyAll() throws -> Bool {
    let others = try store.numbers[place].count(in: store.database) - held.count
    return others + changed.count < held.count / Self.nearly
  }

  /// A row is found by its key in the time in which a pass reads about so many rows.
  private static let nearly = 8

  private func tallyOfAll(_ columns: Set<Name>) throws -> StateTally {
    var tally = StateTallyMaker(schema, columns: columns)
    try store.database.each(store.tables[place].namedRowsSQL) { tally.add(rowOf: $0) }
    let count = try store.numbers[place].count(in: store.database)
    for number in 1...Int64(count) where !held.contains(number) || changed.contains(number) {
      guard let key = try store.numbers[place].key(of: number) else { continue }
      if let row = try store.rows[place].row(key) { tally.remove(row) }
    }
    try addChanged(to: &tally)
    return tally.finish()
  }

  /// Adds the rows that were changed since the emission, as they were then.
  private func addChanged(to tally: inout StateTallyMaker) throws {
    for number in changed where held.contains(number) {
      guard let key = try store.numbers[place].key(of: number) else { continue }
      if let row = try store.row(key, in: place, at: cursor) { tally.add(row) }
    }
  }
}
