import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Which keys a device may give to its new rows, in tables with `"keys": "blocks"`.
///
/// A device hands out keys of the ranges that the hub gave it, or gave to the device of which it was a copy. Keys that
/// a hub gave in a time that was lost count too. SQLite goes on from the greatest key: behind a range that is used up,
/// and behind a row of the device's own that lies above its range, until the hub's next bundle comes there.
final class PrimaryKeyRanges {
  /// How a new row came here.
  enum Arrival {
    /// In the bundle that is merged. The row may have been on the device before it joined.
    case sent(isFromBefore: Bool)
    /// It waited.
    case waited
  }

  private struct Ranges {
    var own: [KeyBlock]
    var lost: [KeyBlock]
    /// Whether the device had a range whenever it wrote, but for rows from before it joined.
    let isFromTheStart: Bool
    /// Whether an earlier bundle has shown that the device has a range.
    let isProved: Bool
    /// Keys of the bundle's rows to which SQLite went on; nil: they were not looked up yet.
    var beyond: Set<Int64>?

    /// SQLite leaves out the keys of rows that were deleted: no more than half a range of them.
    var gap: Int64 { own.last.map { ($0.last - $0.first + 1) / 2 } ?? 0 }

    func isNear(_ key: Int64, after other: Int64) -> Bool { other < key && other >= key - gap }

    /// The range that ends last below a key.
    func last(before key: Int64) -> KeyBlock? { own.filter { $0.last < key }.max { $0.last < $1.last } }

    /// Whether a device could not keep to a range when it made a row: it had none.
    func excuses(_ isFromBefore: Bool) -> Bool { !isProved && (isFromBefore || !isFromTheStart) }
  }

  private let store: HubStore
  private let device: EnrolledDevice
  private var ranges: [Int: Ranges] = [:]
  /// The keys of the new rows of a bundle, by table, and whether the row may be from before the device joined.
  private var sent: [Int: [Int64: Bool]] = [:]
  /// Whether the device made the row with a key, as far as that was looked up.
  private var made: [Int: [Int64: Bool]] = [:]

  /// The device, and the devices of which it was a copy: a copy may be a copy of a copy.
  private let histories: [ReplicaID]

  /// - Parameter device: as it was before the bundle.
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

  /// Notes the key of a new row, before any row of the bundle is judged.
  func noteSent(_ key: Int64, isFromBefore: Bool, in place: Int) {
    if store.tables[place].rules.keys == .blocks { sent[place, default: [:]][key] = isFromBefore }
  }

  /// Whether a new row with this key waits for a person, because the key is in none of the device's ranges.
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
    // Waiting rows before it that were let in are in by now.
    case .waited: return try !follows(number, ranges, in: place)
    }
  }

  /// Whether a row had the key before, or got it from the hub.
  private func isKnown(_ key: RowKey, in place: Int) throws -> Bool {
    if try store.isGiven(key.values[0], in: place) { return true }
    // A number without a stamp is of a key that a line only named.
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

  /// Whether the device had no bundle from the hub before this emission.
  private func isFirst(_ number: EmissionNumber) throws -> Bool {
    if device.proved != .zero { return false }
    return try store.emissions(of: device.id).first.map { number <= $0.number } ?? false
  }

  // MARK: keys to which SQLite went on

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

  /// Whether a key comes behind a row that the hub has, and that the device made or has in a range of its own.
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

  /// Whether the second half of a range was used: a row has, or had, a key there. The range is the last one below
  /// `key`.
  private func isUsedUp(before key: Int64, _ ranges: Ranges, in place: Int) throws -> Bool {
    guard let range = ranges.last(before: key) else { return false }
    return try store.wasRow(between: range.last - ranges.gap, and: range.last, in: place)
  }

  /// Whether the device made a row that is here, or a person let its row in.
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
