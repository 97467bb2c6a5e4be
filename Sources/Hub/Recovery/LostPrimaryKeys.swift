import SatchelBundle
import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Keys that the hub gave in the time that it lost, as its own bundles of that time show.
extension HubStore {
  /// Adopts the keys that a device's rows got with one of its bundles, and the key ranges of the device. Rows that the
  /// device delivers again then get those keys, and no new ones.
  func takeOverKeys(of bundle: borrowing VerifiedBundle, _ number: EmissionNumber, at now: Int64) throws {
    guard tables.contains(where: \.renamesRows) else { return }
    let device = bundle.manifest.to.id
    // By their keys in the lost time: rows that are one with a row here by now.
    var folded: [KeyedRow: Value] = [:]
    try bundle.eachChange { line in
      guard let place = place(of: line.table), let key = tables[place].singleKey(line.key) else { return }
      switch line.content {
      case .rekey(let to, let given) where given == number:
        guard let new = tables[place].singleKey(to), try givenKey(for: key, in: place, of: device) == nil else {
          return
        }
        if try rows[place].row(RowKey([new])) == nil {
          try insertRekeyed(key, to: new, in: place, of: device, told: number, at: now)
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

  /// Whether the row with a key here has the natural key of the row with that key in the lost time.
  private func isSameThing(_ fields: [Field], _ key: Value, in place: Int) throws -> Bool {
    let schema = tables[place].schema
    guard let here = try rows[place].row(RowKey([key])) else { return false }
    return tables[place].naturalColumns.allSatisfy { column in
      fields.contains { $0.name == schema.columns[column] && $0.value == here[column] }
    }
  }

  /// The keys of rows in the lost time that differ from their keys here. That happens if a device delivered such a row
  /// before the bundle that contains this key came.
  func otherKeys(of bundle: borrowing VerifiedBundle, _ number: EmissionNumber) throws -> [PrimaryKeyMap.Entry] {
    var entries: [PrimaryKeyMap.Entry] = []
    guard tables.contains(where: \.renamesRows) else { return [] }
    let device = bundle.manifest.to.id
    try bundle.eachChange { line in
      guard case .rekey(let to, let given) = line.content, given == number, let place = place(of: line.table),
        let key = tables[place].singleKey(line.key), let lost = tables[place].singleKey(to),
        let here = try givenKey(for: key, in: place, of: device), here != lost
      else { return }
      entries.append(.init(place: place, old: lost, new: here))
    }
    return entries
  }
}
