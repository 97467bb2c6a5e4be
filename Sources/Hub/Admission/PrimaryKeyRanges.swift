import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The primary keys that a device may give to its new rows, in tables with `"keys": "blocks"`.
///
/// A device uses keys from the ranges that the hub gave to it, or to the device of which it was a copy. Ranges that the
/// hub gave in the lost time count too. SQLite gives the next key above the greatest key of the table. So a device
/// makes keys outside its ranges in two cases. A range is used up, or the device has a row with a key above the range.
/// Both cases end when the hub's next bundle reaches the device.
final class PrimaryKeyRanges {
  /// How a new row came here.
  enum Arrival {
    /// The row is in the bundle that is merged. `isFromBefore`: it may be older than the device's enrolment.
    case sent(isFromBefore: Bool)
    /// The row waited at the hub, and a person decides now.
    case waited
  }

  private struct Ranges {
    var own: [KeyBlock]
    var lost: [KeyBlock]
    /// Whether the device had a range for all its writes, except for rows from before its enrolment.
    let isFromTheStart: Bool
    /// Whether the device has proved, in an earlier bundle, that it received a range.
    let isProved: Bool
    /// The keys in the bundle that are outside the ranges, and that SQLite gave by counting on. They are allowed. nil
    /// until computed.
    var beyond: Set<Int64>?

    /// The greatest allowed distance between two keys that SQLite gave one after the other: half a range. SQLite skips
    /// the keys of deleted rows.
    var gap: Int64 { own.last.map { ($0.last - $0.first + 1) / 2 } ?? 0 }

    func isNear(_ key: Int64, after other: Int64) -> Bool { other < key && other >= key - gap }

    /// The last range that ends below a key.
    func last(before key: Int64) -> KeyBlock? { own.filter { $0.last < key }.max { $0.last < $1.last } }

    /// Whether a row may have a key outside the ranges, because the device had no range yet when it made the row.
    func excuses(_ isFromBefore: Bool) -> Bool { !isProved && (isFromBefore || !isFromTheStart) }
  }

  private let store: HubStore
  private let device: EnrolledDevice
  private var ranges: [Int: Ranges] = [:]
  /// The keys of the new rows of a bundle, by table. The value says whether the row may be older than the device's
  /// enrolment.
  private var sent: [Int: [Int64: Bool]] = [:]
  /// For each key in a lookup, whether the device made the row with this key.
  private var made: [Int: [Int64: Bool]] = [:]

  /// The device, and the devices of which it was a copy. A copy may be a copy of another copy.
  private let histories: [ReplicaID]

  /// - Parameter device: the device's record before the bundle.
  init(_ store: HubStore, of device: EnrolledDevice) throws {
    self.store = store
    self.device = device
    var histories: [ReplicaID] = []
    var next: ReplicaID? = device.id
    while let id = next, !histories.contains(id) {
      histories.append(id)
      next = try store.device(id)?.continues
    }
    self.histories = histories
  }

  /// Records the key of a new row of the bundle. The caller must record all rows of the bundle before it judges the
  /// first one.
  func noteSent(_ key: Int64, isFromBefore: Bool, in place: Int) {
    if store.tables[place].rules.keys == .blocks { sent[place, default: [:]][key] = isFromBefore }
  }

  /// Whether a new row with this key must wait for a person, because none of the device's ranges allows the key.
  func forbids(_ key: RowKey, in place: Int, _ arrival: Arrival) throws -> Bool {
    guard store.tables[place].rules.keys == .blocks, key.values.count == 1,
      case .integer(let number)? = key.values.first
    else { return false }
    let ranges = try ranges(in: place)
    if ranges.own.isEmpty || ranges.own.contains(where: { $0.holds(number) }) { return false }
    if ranges.lost.contains(where: { $0.holds(number) }) { return false }
    if try isKnown(key, in: place) { return false }
    switch arrival {
    case .sent(let isFromBefore):
      return try !ranges.excuses(isFromBefore) && !beyond(in: place).contains(number)
    // A person may have accepted earlier waiting rows. They are in the table by now, so `follows` finds them.
    case .waited: return try !follows(number, ranges, in: place)
    }
  }

  /// Whether a row had this key before, or the hub gave this key to a row.
  private func isKnown(_ key: RowKey, in place: Int) throws -> Bool {
    if try store.isGiven(key.values[0], in: place) { return true }
    // A row number without a stamp does not count: only a line in a bundle named its key.
    return try store.past(of: key, in: place).map { $0.stamp != .zero } ?? false
  }

  private func ranges(in place: Int) throws -> Ranges {
    if let known = ranges[place] { return known }
    let own = try histories.reversed().flatMap { try given(to: $0, in: place) }
    let first = try given(to: device.id, in: place).map(\.number).min()
    let found = Ranges(
      own: own, lost: try store.formerEpochs().flatMap { try given(to: ReplicaID(unchecked: $0.text), in: place) },
      isFromTheStart: try first.map { try isFirst($0) } ?? false,
      isProved: first.map { device.proved >= $0 } ?? false)
    ranges[place] = found
    return found
  }

  private func given(to replica: ReplicaID, in place: Int) throws -> [KeyBlock] {
    try BlockTable.given(to: replica, of: store.tables[place].name, in: store.database)
  }

  /// Whether this emission was the first one for the device.
  private func isFirst(_ number: EmissionNumber) throws -> Bool {
    if device.proved != .zero { return false }
    return try store.emissions(of: device.id).first.map { number <= $0.number } ?? false
  }

  // MARK: keys by which SQLite counted on

  private func beyond(in place: Int) throws -> Set<Int64> {
    let ranges = try ranges(in: place)
    if let known = ranges.beyond { return known }
    var (found, last): (Set<Int64>, Int64?) = ([], nil)
    for (key, isFromBefore) in (sent[place] ?? [:]).sorted(by: { $0.key < $1.key }) {
      let isOwn = ranges.own.contains { $0.holds(key) } || ranges.excuses(isFromBefore)
      let isBehind = try isOwn || last.map { ranges.isNear(key, after: $0) } == true || follows(key, ranges, in: place)
      if !isBehind { continue }
      last = key
      if !isOwn { found.insert(key) }
    }
    self.ranges[place]?.beyond = found
    return found
  }

  /// Whether SQLite counted on to this key. SQLite counts on from a used range, or from a row. The row is the device's
  /// own, or its key is in the device's ranges.
  private func follows(_ key: Int64, _ ranges: Ranges, in place: Int) throws -> Bool {
    if try isUsedUp(before: key, ranges, in: place), let last = ranges.last(before: key)?.last,
      ranges.isNear(key, after: last)
    {
      return true
    }
    guard let row = try store.tables[place].greatestRow(below: key, in: store.database), ranges.isNear(key, after: row)
    else { return false }
    return try ranges.own.contains { $0.holds(row) } || isMade(row, in: place)
  }

  /// Whether the last range below `key` is used up: a row has or had a key in its second half.
  private func isUsedUp(before key: Int64, _ ranges: Ranges, in place: Int) throws -> Bool {
    guard let range = ranges.last(before: key) else { return false }
    return try store.wasRow(between: range.last - ranges.gap, and: range.last, in: place)
  }

  /// Whether the device made the row that has this key here. A row that a person accepted from the device counts too.
  private func isMade(_ key: Int64, in place: Int) throws -> Bool {
    if let known = made[place]?[key] { return known }
    let row = RowKey([.integer(key)])
    var isMade = try store.wasDecided(row, in: place, ofAny: histories)
    try store.eachChange(of: store.past(of: row, in: place)) { entry in
      guard entry.operation == .insert else { return .more }
      if let device = entry.device { isMade = isMade || histories.contains { $0.text == device } }
      return .enough
    }
    made[place, default: [:]][key] = isMade
    return isMade
  }
}
