import SatchelBundle
import SatchelCapture
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// How high the key of a new row may be. SQLite goes on from the greatest key of a table: one row at the end of all
/// numbers would end all inserts, here and on every device that gets the row.
struct KeyLimit {
  private let store: HubStore

  init(_ store: HubStore) { self.store = store }

  /// A key may be above all that are known by so much.
  private static let longestJump: Int64 = 1_000_000
  /// Up to here keys of an app's own choice are nobody's trouble.
  private static let greatestOfChoice: Int64 = (1 << 53) - 1

  /// The greatest key that a new row of a device may have; nil: any. The hub's own writers are not asked.
  func greatest(in place: Int) throws -> Int64? {
    let table = store.tables[place]
    guard table.info.rowidAlias != nil, table.info.isAutoincrement || table.givesNewKeys else { return nil }
    return limit(above: try store.greatestSureKey(in: place), of: table)
  }

  /// - Parameter sure: the greatest key that is a row's, or was given to anybody.
  func limit(above sure: Int64, of table: TrackedTable) -> Int64 {
    let jump = sure > Int64.max - Self.longestJump ? Int64.max : sure + Self.longestJump
    return table.rules.keys == .blocks ? jump : max(jump, Self.greatestOfChoice)
  }

  /// Whether a device was given a range that holds the key.
  func isGiven(_ key: Int64, in place: Int, to device: EnrolledDevice) throws -> Bool {
    for id in [device.id, device.continues].compactMap(\.self) {
      let ranges = try BlockTable.given(to: id, after: EmissionNumber(-1), in: store.database)
      if ranges.contains(where: { $0.table == store.tables[place].name && $0.first <= key && key <= $0.last }) {
        return true
      }
    }
    return false
  }
}

extension StepMerger {
  static let keyTooHigh =
    "Its key is far above all keys of the table. SQLite goes on from the greatest key, so the row is not taken."

  /// Whether a row that the device made has a key that would bring the table to the end of its numbers.
  func isKeyTooHigh(_ step: Step, in place: Int) throws -> Bool {
    if case .insert = step.change { try isKeyTooHigh(step.key, in: place) } else { false }
  }

  /// The same for the key of a new row.
  func isKeyTooHigh(_ key: RowKey, in place: Int) throws -> Bool {
    guard key.values.count == 1, case .integer(let key)? = key.values.first,
      let limit = try keyLimits[place] ?? KeyLimit(store).greatest(in: place)
    else { return false }
    keyLimits[place] = limit
    return try key > limit && !KeyLimit(store).isGiven(key, in: place, to: device)
  }
}
