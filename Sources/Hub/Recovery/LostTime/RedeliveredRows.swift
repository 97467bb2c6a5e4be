import SatchelCapture
import SatchelRows
import SatchelValues

/// Rows that got another key when a device delivered them again in this epoch. Their first key was free in the lost
/// time, but another row has it now.
///
/// An emission of the lost time shows such a row under its first key. Without this list, the hub would insert the row a
/// second time.
struct RedeliveredRows {
  /// The present keys of the rows, by their first keys.
  private let present: [KeyedRow: [Value]]

  init(_ store: HubStore) throws {
    present = try store.keysGivenInEpoch()
  }

  /// Whether the hub has this row of the lost time under another key, with the same values in all other columns.
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
