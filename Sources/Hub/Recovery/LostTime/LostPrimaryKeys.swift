import SatchelBundle
import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Primary keys that the hub gave in the lost time. The hub learns these keys from its own emissions of that time.
extension HubStore {
  /// Adopts the keys that an emission gave to rows of its device, and the device's blocks. If the device delivers these
  /// rows again, the hub gives them the same keys.
  func takeOverKeys(of bundle: borrowing VerifiedBundle, _ number: EmissionNumber, at now: Int64) throws {
    guard tables.contains(where: \.renamesRows) else { return }
    let device = bundle.manifest.to.id
    // Rows that have become one with a row at this hub. The index is the row's key in the lost time.
    var folded: [KeyedRow: Value] = [:]
    try bundle.eachChange { line in
      guard let place = place(of: line.table), let key = tables[place].singleKey(line.key) else { return }
      switch line.content {
      // A device may have missed the emission that gave the key. So later emissions repeat the key.
      case .rekey(let to, let given) where given <= number:
        guard let new = tables[place].singleKey(to), try givenKey(for: key, in: place, of: device) == nil else {
          return
        }
        if try rows[place].row(RowKey([new])) == nil {
          try insertRekeyed(key, to: new, in: place, of: device, told: given, at: now)
        } else if tables[place].folds {
          folded[KeyedRow(place: place, key: new)] = key
        }
      case .row(let fields):
        guard let old = folded[KeyedRow(place: place, key: key)], try isSameThing(fields, key, in: place) else {
          return
        }
        try insertRekeyed(old, to: key, in: place, of: device, told: number, at: now)
      case .block(let last, let given):
        guard case .integer(let first) = key, case .integer(let last)? = last.values.first else { return }
        try BlockTable.takeOver(
          KeyBlock(table: line.table, first: first, last: last, number: given), of: device, in: database)
      default: break
      }
    }
  }

  /// Whether the hub's row with this key has the same natural key as the row in the lost time.
  private func isSameThing(_ fields: [Field], _ key: Value, in place: Int) throws -> Bool {
    let schema = tables[place].schema
    guard let here = try rows[place].row(RowKey([key])) else { return false }
    return tables[place].naturalColumns.allSatisfy { column in
      fields.contains { $0.name == schema.columns[column] && $0.value == here[column] }
    }
  }

  /// Returns the keys of rows in the lost time that differ from their keys now. They differ if a device delivered a row
  /// again before the emission with the lost key came.
  func otherKeys(of bundle: borrowing VerifiedBundle, _ number: EmissionNumber) throws -> [PrimaryKeyMap.Entry] {
    var entries: [PrimaryKeyMap.Entry] = []
    guard tables.contains(where: \.renamesRows) else { return [] }
    let device = bundle.manifest.to.id
    try bundle.eachChange { line in
      guard case .rekey(let to, let given) = line.content, given <= number, let place = place(of: line.table),
        let key = tables[place].singleKey(line.key), let lost = tables[place].singleKey(to),
        let here = try givenKey(for: key, in: place, of: device), here != lost
      else { return }
      entries.append(.init(place: place, old: lost, new: here))
    }
    return entries
  }
}
