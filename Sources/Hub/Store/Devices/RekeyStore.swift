import SatchelCapture
import SatchelConflicts
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A device's row that has another key at the hub, because another row had its key, or because it was folded.
public struct RekeyedRow: Hashable, Sendable {
  public let table: Name
  /// The key that the device uses until it knows the new key.
  public let old: Value
  public let new: Value
  /// The first emission that carried the new key to the device. nil if there is none yet.
  let told: EmissionNumber?
  /// The record's number in `satchel_rekeyed`.
  let entry: Int64
}

extension HubStore {
  /// The rows that a device on this emission knows by another key than the hub, sorted by table and key.
  /// - Parameter sealed: bundles whose rows the device does not have any more.
  func rekeyed(of device: ReplicaID, at received: EmissionNumber, but sealed: Set<String> = []) throws -> [RekeyedRow] {
    try database.all(
      """
      SELECT table_name, old_key, new_key, told, entry, bundle
      FROM satchel_rekeyed
      WHERE device = :device AND (told IS NULL OR told > :received)
      ORDER BY table_name, new_key, entry
      """, ["device": .string(device.text), "received": .integer(received.rawValue)]
    ) { row -> RekeyedRow? in
      if let bundle = row.optionalText(5), sealed.contains(bundle) { return nil }
      return RekeyedRow(
        table: Name(row.text(0)), old: row.value(1), new: row.value(2),
        told: row.optionalInteger(3).map { EmissionNumber($0) },
        entry: row.integer(4))
    }.compactMap(\.self)
  }

  /// Gives a device's row a new key. No row ever had this key, and no waiting row has it.
  ///
  /// - Parameters:
  ///   - floor: the greatest key that the device is known to have given.
  ///   - isNamed: whether the device gave this key to another row.
  /// - Returns: the row with its new key. nil if no number is left.
  func giveNewKey(
    to key: Value, in place: Int, of device: ReplicaID, by bundle: BundleID?, above floor: Int64, at now: Int64,
    butFor isNamed: (Value) -> Bool = { _ in false }
  ) throws -> RekeyedRow? {
    var new = max(try greatestKey(in: place), floor)
    repeat {
      if new == Int64.max { return nil }
      new += 1
    } while try isNamed(.integer(new)) || isAwaited(RowKey([.integer(new)]), in: place, device)
    return try rename(key, to: .integer(new), in: place, of: device, by: bundle, at: now)
  }

  /// Whether a new row with this key waits. In a table with blocks, waiting rows of the device itself count too.
  private func isAwaited(_ key: RowKey, in place: Int, _ device: ReplicaID) throws -> Bool {
    let table = tables[place]
    if try ConflictTable.isAwaited(key, of: table.name, byOtherThan: device, in: database) { return true }
    return try table.rules.keys == .blocks && ConflictTable.isHeld(key, of: table, device: device, in: database)
  }

  /// Records that the device's row with the key `old` is the hub's row with the key `new`.
  ///
  /// The device will receive the true state of the rows with both keys.
  /// - Parameter bundle: the bundle with the row. nil if the hub does not know the bundle any more.
  func rename(
    _ old: Value, to new: Value, in place: Int, of device: ReplicaID, by bundle: BundleID?, at now: Int64
  ) throws -> RekeyedRow {
    let row = try insertRekeyed(old, to: new, in: place, of: device, by: bundle, at: now)
    for key in [old, new] { try owe(RowKey([key]), in: place, to: device) }
    return row
  }

  /// - Parameter told: the first emission that carried the new key to the device. nil if there is none yet.
  @discardableResult
  func insertRekeyed(
    _ old: Value, to new: Value, in place: Int, of device: ReplicaID, by bundle: BundleID? = nil,
    told: EmissionNumber? = nil, at now: Int64
  ) throws -> RekeyedRow {
    let table = tables[place].name
    try database.run(
      """
      INSERT INTO satchel_rekeyed (table_name, new_key, device, old_key, bundle, at, told)
      VALUES (:table, :new, :device, :old, :bundle, :at, :told)
      """,
      [
        "table": .string(table.text), "new": new, "device": .string(device.text), "old": old,
        "bundle": bundle.map { .string($0.text) } ?? .null, "at": .integer(now),
        "told": told.map { .integer($0.rawValue) } ?? .null,
      ])
    return RekeyedRow(table: table, old: old, new: new, told: told, entry: database.lastInsertRowID)
  }

  /// The new keys that the hub gave to rows of devices in this epoch, by their former keys.
  func keysGivenInEpoch() throws -> [KeyedRow: [Value]] {
    var given: [KeyedRow: [Value]] = [:]
    try database.each(
      """
      SELECT table_name, old_key, new_key FROM satchel_rekeyed
      WHERE bundle IS NOT NULL AND (told IS NULL OR told >= :first)
      """, ["first": .integer(identity.firstEmission.rawValue)]
    ) { entry in
      guard let place = place(of: Name(entry.text(0))) else { return }
      given[KeyedRow(place: place, key: entry.value(1)), default: []].append(entry.value(2))
    }
    return given
  }

  /// The key of the only row with the same natural key as `row`, if the user may see and change that row. nil if there
  /// is none. It may be the key of `row` itself.
  func twin(of row: Row, in place: Int, for scope: ScopeStore) throws -> Value? {
    let (table, key) = (tables[place], tables[place].schema.key(of: row))
    var found = try rows[place].rivals(of: row, in: database)
    if let same = try rows[place].row(key), table.naturalColumns.allSatisfy({ same[$0] == row[$0] }) {
      found.append(key)
    }
    guard found.count == 1, let twin = table.singleKey(found[0]), try rows[place].row(found[0]) != nil,
      try scope.maySee(found[0], in: place), try scope.mayWrite(found[0], in: place)
    else { return nil }
    return twin
  }

  /// The greatest key that the hub knows of a row or gave. A key that only a bundle named has no row. If such a key is
  /// far above all others, it does not count.
  func greatestKey(in place: Int) throws -> Int64 {
    let names = RowNumbers.names(tables[place])
    let sure = try greatestSureKey(in: place)
    // In a table with blocks, a row that waits because of its key does not count.
    if tables[place].rules.keys == .blocks { return sure }
    let numbered = try database.first(
      "SELECT max(\(names.key[0])) FROM \(names.table) WHERE \(names.key[0]) <= :limit",
      ["limit": .integer(PrimaryKeyLimit(self).limit(above: sure, of: tables[place]))]
    ) { $0.integer(0) }
    return max(sure, numbered ?? 0)
  }

  /// Whether a row with a key in this range was ever changed here. If a row number has no stamp, only a line in a
  /// bundle named the key, so it does not count.
  func wasRow(between first: Int64, and last: Int64, in place: Int) throws -> Bool {
    let names = RowNumbers.names(tables[place])
    return try database.first(
      "SELECT 1 FROM \(names.table) WHERE \(names.key[0]) BETWEEN :first AND :last AND \(names.stamp) <> 0 LIMIT 1",
      ["first": .integer(first), "last": .integer(last)]
    ) { _ in true } ?? false
  }

  /// Whether a person at the hub accepted a new row with this key from one of these devices.
  func wasDecided(_ key: RowKey, in place: Int, ofAny devices: [ReplicaID]) throws -> Bool {
    try devices.contains {
      try ConflictTable.wasLetIn(
        key, of: tables[place].name, device: $0, by: HubWorkspace.hubUser, in: database)
    }
  }

  /// The greatest key that a row has or had, or that the hub gave.
  func greatestSureKey(in place: Int) throws -> Int64 {
    let table = tables[place]
    let given = try database.first(
      "SELECT max(new_key) FROM satchel_rekeyed WHERE table_name = :table", ["table": .string(table.name.text)]
    ) { $0.integer(0) }
    let blocks = try BlockTable.greatest(of: table.name, in: database)
    return max(try table.greatestKey(in: database), given ?? 0, blocks)
  }

  /// Whether the hub gave this key to a row of any device, even if the row is gone.
  func isGiven(_ key: Value, in place: Int) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_rekeyed WHERE table_name = :table AND new_key = :key",
      ["table": .string(tables[place].name.text), "key": key]
    ) { _ in true } ?? false
  }

  /// Records that a device itself gave other keys to its rows. The keys that the hub gave to these rows stay.
  ///
  /// The device may have changed a row's key several times. Each record is still changed only once.
  /// - Parameter renamed: the rows and their new keys, in the order in which the device gave the keys.
  func takeOver(
    _ renamed: [(row: KeyedRow, new: Value)], of device: ReplicaID, at received: EmissionNumber
  ) throws {
    func row(_ place: Int, _ key: Value) -> RowInTable { RowInTable(table: tables[place].name, key: RowKey([key])) }
    // The loop goes from the last change of a key back to the first. So each former key is mapped to the row's final
    // key.
    var last: [RowInTable: Value] = [:]
    for (former, new) in renamed.reversed() {
      last[row(former.place, former.key)] = last[row(former.place, new)] ?? new
    }
    var moved: [(entry: Int64, new: Value)] = []
    for (former, _) in renamed {
      guard let new = last.removeValue(forKey: row(former.place, former.key)) else { continue }
      moved += try database.all(
        """
        SELECT entry FROM satchel_rekeyed
        WHERE device = :device AND table_name = :table AND old_key = :old AND (told IS NULL OR told > :received)
        """,
        [
          "device": .string(device.text), "table": .string(tables[former.place].name.text), "old": former.key,
          "received": .integer(received.rawValue),
        ]
      ) { (entry: $0.integer(0), new: new) }
    }
    for (entry, new) in moved {
      try database.run(
        "UPDATE satchel_rekeyed SET old_key = :new WHERE entry = :entry", ["new": new, "entry": .integer(entry)])
    }
  }

  /// The rows that got `key` on a device, and have another key at the hub. Each row comes with the id of its device.
  func renamed(_ key: RowKey, in place: Int) throws -> [(device: String, key: RowKey)] {
    guard let old = tables[place].singleKey(key) else { return [] }
    return try database.all(
      """
      SELECT device, new_key FROM satchel_rekeyed WHERE table_name = :table AND old_key = :old AND new_key IS NOT \
      :old ORDER BY entry
      """,
      ["table": .string(tables[place].name.text), "old": old]
    ) { ($0.text(0), RowKey([$0.value(1)])) }
  }

  func markTold(_ rows: [RekeyedRow], by number: EmissionNumber) throws {
    for row in rows where row.told == nil {
      try database.run(
        "UPDATE satchel_rekeyed SET told = :number WHERE entry = :entry",
        ["number": .integer(number.rawValue), "entry": .integer(row.entry)])
    }
  }
}

extension HubStore {
  /// The key that the hub gave to a device's row. nil if the hub gave the row no other key.
  func givenKey(for key: Value, in place: Int, of device: ReplicaID) throws -> Value? {
    try database.first(
      """
      SELECT new_key
      FROM satchel_rekeyed
      WHERE table_name = :table AND device = :device AND old_key = :old
      ORDER BY entry DESC
      """,
      ["table": .string(tables[place].name.text), "device": .string(device.text), "old": key]
    ) { $0.value(0) }
  }
}
