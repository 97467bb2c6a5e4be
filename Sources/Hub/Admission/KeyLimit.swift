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
  /// Keys of an app's own choice up to here leave enough room.
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

  /// Whether a device may not make a row with this key, because the key would bring the table near the end of its
  /// numbers.
  /// - Parameters:
  ///   - device: nil: a device that is no more.
  ///   - limit: the result of `greatest`.
  func forbids(_ key: RowKey, above limit: Int64?, in place: Int, to device: EnrolledDevice?) throws -> Bool {
    guard let limit, key.values.count == 1, case .integer(let key)? = key.values.first, key > limit else {
      return false
    }
    return try device.map { try !isGiven(key, in: place, to: $0) } ?? true
  }

  /// Whether a device was given a range that holds the key.
  private func isGiven(_ key: Int64, in place: Int, to device: EnrolledDevice) throws -> Bool {
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

  /// Whether the key of a row that the device makes is too high. See `KeyLimit`.
  func isKeyTooHigh(_ key: RowKey, in place: Int) throws -> Bool {
    let limit = try keyLimits[place] ?? KeyLimit(store).greatest(in: place)
    keyLimits[place] = limit
    return try KeyLimit(store).forbids(key, above: limit, in: place, to: device)
  }
}
