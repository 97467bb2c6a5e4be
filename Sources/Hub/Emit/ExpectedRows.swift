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
  /// The rows that were changed since the emission.
  let changed: RowSet
  /// The cursor of the emission.
  let cursor: Cursor

  /// Returns the tally of the expected rows.
  ///
  /// If the device has nearly all rows of the table, this reads the whole table, and subtracts the other rows. Such a
  /// pass also counts writes that capture has missed. So its tally is used only if it is equal to the device's tally.
  /// - Parameters:
  ///   - theirs: the table's tally on the device.
  ///   - asked: the sums whose rows are needed one by one.
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

  /// Whether few rows of the table were changed since the emission or are not expected on the device.
  private func areNearlyAll() throws -> Bool {
    let others = try store.numbers[place].count(in: store.database) - held.count
    return others + changed.count < held.count / Self.nearly
  }

  /// To find one row by its key takes about as long as to read this many rows in a pass.
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

  /// Adds the rows that were changed since the emission, with their values at the emission.
  private func addChanged(to tally: inout StateTallyMaker) throws {
    for number in changed where held.contains(number) {
      guard let key = try store.numbers[place].key(of: number) else { continue }
      if let row = try store.row(key, in: place, at: cursor) { tally.add(row) }
    }
  }
}
