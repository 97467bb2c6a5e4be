import SatchelCapture
import SatchelRows
import SatchelValues

/// Rows that devices delivered again in this epoch under keys that were free in the lost time, and that are not free at
/// this hub. Such a row got another key here.
///
/// A bundle of the lost time shows such a row under its former key. Without this list the row would come back a second
/// time.
struct RedeliveredRows {
  /// The keys that the rows have here, by the keys that they had.
  private let present: [KeyedRow: [Value]]

  init(_ store: HubStore) throws {
    present = try store.keysGivenInEpoch()
  }

  /// Whether a row of the lost time is here under another key, with the same values in all other columns.
  func contains(_ row: Row, in place: Int, of store: HubStore) throws -> Bool {
    let schema = store.rows[place].schema
    guard schema.key.count == 1, let column = schema.key.first,
      let keys = present[KeyedRow(place: place, key: row[column])]
    else { return false }
    return try keys.contains { key in
      guard let here = try store.rows[place].row(RowKey([key])) else { return false }
      return row.values.indices.allSatisfy { $0 == column || here[$0] == row[$0] }
    }
  }
}
