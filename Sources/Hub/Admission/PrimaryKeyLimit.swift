import SatchelBundle
import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The limit for the primary keys of new rows. SQLite counts on from the greatest key of a table. After one row with
/// the greatest possible key, all inserts would fail, at the hub and on each device with this row.
struct PrimaryKeyLimit {
  private let store: HubStore

  init(_ store: HubStore) { self.store = store }

  /// The most by which a new key may exceed all known keys.
  private static let longestJump: Int64 = 1_000_000
  /// An app may choose keys up to this number. Above it, 2^40 keys are left below 2^53. JavaScript and many JSON
  /// readers are exact only up to 2^53.
  private static let greatestOfChoice: Int64 = (1 << 53) - (1 << 40)

  /// Returns the greatest key that a device's new row may have. nil if there is no limit. Programs that write at the
  /// hub have no limit.
  func greatest(in place: Int) throws -> Int64? {
    let table = store.tables[place]
    guard table.info.rowidAlias != nil, table.info.isAutoincrement || table.givesNewKeys else { return nil }
    return limit(above: try store.greatestSureKey(in: place), of: table)
  }

  /// - Parameter sure: the greatest key that a row here has, or that the hub gave to a replica.
  func limit(above sure: Int64, of table: TrackedTable) -> Int64 {
    let jump = sure > Int64.max - Self.longestJump ? Int64.max : sure + Self.longestJump
    return table.rules.keys == .blocks ? jump : max(jump, Self.greatestOfChoice)
  }

  /// Whether this key is forbidden for a new row of a device: it is above the limit, and in no range of the device.
  /// - Parameters:
  ///   - device: nil if the device was removed.
  ///   - limit: the result of `greatest`.
  func forbids(_ key: RowKey, above limit: Int64?, in place: Int, to device: EnrolledDevice?) throws -> Bool {
    guard let limit, key.values.count == 1, case .integer(let key)? = key.values.first, key > limit else {
      return false
    }
    return try device.map { try !isGiven(key, in: place, to: $0) } ?? true
  }

  /// Whether the hub gave the device, or the device that it continues, a range that contains the key.
  private func isGiven(_ key: Int64, in place: Int, to device: EnrolledDevice) throws -> Bool {
    for id in device.histories {
      let ranges = try BlockTable.given(to: id, of: store.tables[place].name, in: store.database)
      if ranges.contains(where: { $0.holds(key) }) { return true }
    }
    return false
  }
}

extension StepMerger {
  private static let wayOut =
    "At the hub, satchel-hub conflicts resolve lets it in with --keep device, and drops it with --keep hub."
  private static let keyTooHigh = """
    Its key is far above all keys of the table, and SQLite goes on from the greatest key: so the row waits. \(wayOut)
    """
  private static let keyOutside = """
    Its key is in none of the ranges of keys that the device got from the hub: so the row waits. \(wayOut)
    """

  /// The text that explains why a new row of the device waits because of its key. nil if the key is accepted.
  /// - Parameter isFromBefore: whether the row may be older than the device's enrolment.
  func keyFault(of key: RowKey, isFromBefore: Bool, in place: Int) throws -> String? {
    if try ranges.forbids(key, in: place, .sent(isFromBefore: isFromBefore)) { return Self.keyOutside }
    return try isKeyTooHigh(key, in: place) ? Self.keyTooHigh : nil
  }

  func keyFault(of step: Step, in place: Int) throws -> String? {
    try keyFault(of: step.key, isFromBefore: step.first == nil, in: place)
  }

  /// Whether the key of a new row of the device is too high. See `PrimaryKeyLimit`.
  func isKeyTooHigh(_ key: RowKey, in place: Int) throws -> Bool {
    let limit = try keyLimits[place] ?? PrimaryKeyLimit(store).greatest(in: place)
    keyLimits[place] = limit
    return try PrimaryKeyLimit(store).forbids(key, above: limit, in: place, to: device)
  }
}
