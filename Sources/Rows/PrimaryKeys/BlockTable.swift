import SatchelCapture
import SatchelSQLite
import SatchelValues

/// A range of keys that only one replica may use for new rows.
public struct KeyBlock: Hashable, Sendable {
  public let table: Name
  public let first: Int64
  public let last: Int64
  /// The emission with which the hub gave this range to a device; zero for a range of the hub.
  public let number: EmissionNumber

  public init(table: Name, first: Int64, last: Int64, number: EmissionNumber) {
    self.table = table
    self.first = first
    self.last = last
    self.number = number
  }

  public func holds(_ key: Int64) -> Bool { first <= key && key <= last }

  /// The number of unused keys, if SQLite's next key is `next`.
  public func left(from next: Int64) -> Int64 { next < first ? last - first + 1 : max(0, last - next + 1) }

  /// Whether less than a tenth of the keys is unused.
  public func isShort(from next: Int64) -> Bool { left(from: next) < (last - first + 1) / 10 }
}

/// The table `satchel_blocks`, which is the same at the hub and on a device. It has the key ranges that replicas got.
///
/// A replica stays in its range because SQLite counts the keys of an AUTOINCREMENT table. The count goes on from the
/// value to which it is set, and never falls. A new range lies above all keys that the replica knows. If rows with
/// greater keys come to a device, a new range comes with them.
public enum BlockTable {
  public static let schema = """
    CREATE TABLE satchel_blocks (
      table_name TEXT NOT NULL,
      first_key INTEGER NOT NULL,
      last_key INTEGER NOT NULL,
      device TEXT NOT NULL,     -- which replica hands these keys out
      number INTEGER NOT NULL,  -- the emission with which it was given; 0: the hub's own
      PRIMARY KEY (table_name, first_key)
    ) WITHOUT ROWID
    """

  public static func add(_ block: KeyBlock, of replica: ReplicaID, in database: borrowing Database) throws {
    try database.run(
      """
      INSERT INTO satchel_blocks (table_name, first_key, last_key, device, number)
      VALUES (:table, :first, :last, :device, :number)
      """,
      [
        "table": .string(block.table.text), "first": .integer(block.first), "last": .integer(block.last),
        "device": .string(replica.text), "number": .integer(block.number.rawValue),
      ])
  }

  /// Adds a range, unless the table already has a range with the same first key.
  public static func takeOver(_ block: KeyBlock, of replica: ReplicaID, in database: borrowing Database) throws {
    let isKnown = try database.first(
      "SELECT 1 FROM satchel_blocks WHERE table_name = :table AND first_key = :first",
      ["table": .string(block.table.text), "first": .integer(block.first)]
    ) { _ in true }
    if isKnown != true { try add(block, of: replica, in: database) }
  }

  /// The newest range of a replica in a table; nil if it has none.
  public static func newest(of table: Name, for replica: ReplicaID, in database: borrowing Database) throws -> KeyBlock?
  {
    try database.first(
      """
      SELECT table_name, first_key, last_key, number
      FROM satchel_blocks WHERE table_name = :table AND device = :device ORDER BY first_key DESC LIMIT 1
      """, ["table": .string(table.text), "device": .string(replica.text)]
    ) { block($0) }
  }

  /// The ranges that a replica got after emission `number`, sorted by table and first key.
  public static func given(
    to replica: ReplicaID, after number: EmissionNumber, in database: borrowing Database
  ) throws -> [KeyBlock] {
    try database.all(
      """
      SELECT table_name, first_key, last_key, number
      FROM satchel_blocks WHERE device = :device AND number > :number ORDER BY table_name, first_key
      """, ["device": .string(replica.text), "number": .integer(number.rawValue)]
    ) { block($0) }
  }

  /// All ranges of a table that a replica ever got, in the order of their keys.
  public static func given(to replica: ReplicaID, of table: Name, in database: borrowing Database) throws -> [KeyBlock]
  {
    try database.all(
      """
      SELECT table_name, first_key, last_key, number
      FROM satchel_blocks
      WHERE table_name = :table AND device = :device
      ORDER BY first_key
      """, ["table": .string(table.text), "device": .string(replica.text)]
    ) { block($0) }
  }

  /// The greatest key in any range of any replica, or 0.
  public static func greatest(of table: Name, in database: borrowing Database) throws -> Int64 {
    try database.first(
      "SELECT max(last_key) FROM satchel_blocks WHERE table_name = :table", ["table": .string(table.text)]
    ) {
      $0.integer(0)
    } ?? 0
  }

  private static func block(_ row: borrowing Statement) -> KeyBlock {
    KeyBlock(
      table: Name(row.text(0)), first: row.integer(1), last: row.integer(2), number: EmissionNumber(row.integer(3)))
  }
}

extension TrackedTable {
  /// The key that SQLite will give to the next row of an AUTOINCREMENT table.
  public func nextKey(in database: borrowing Database) throws -> Int64 {
    let counted = try database.first(
      "SELECT seq FROM sqlite_sequence WHERE name = :name", ["name": .string(name.text)]
    ) { $0.integer(0) }
    let last = max(counted ?? 0, try greatestRow(in: database))
    return last == Int64.max ? last : last + 1
  }

  /// A message if SQLite would take keys below this replica's range; nil otherwise. SQLite loses its count if an app
  /// drops the table.
  public func lostCount(for replica: ReplicaID, in database: borrowing Database) throws -> String? {
    guard rules.keys == .blocks, let block = try BlockTable.newest(of: name, for: replica, in: database) else {
      return nil
    }
    let next = try nextKey(in: database)
    if next >= block.first { return nil }
    return
      "new rows of \(name) get keys from \(next) on, and the keys for this database are \(block.first) to \(block.last)"
  }

  /// If SQLite has lost its count, sets the count behind the last used key of this replica's range.
  public func resumeCount(for replica: ReplicaID, in database: borrowing Database) throws {
    guard try lostCount(for: replica, in: database) != nil, let alias = info.rowidAlias,
      let block = try BlockTable.newest(of: name, for: replica, in: database)
    else { return }
    let key = quoted(schema.columns[alias])
    let used = try database.first(
      "SELECT max(\(key)) FROM \(quoted(savedName)) WHERE \(key) BETWEEN :first AND :last",
      ["first": .integer(block.first), "last": .integer(block.last)]
    ) { $0.optionalInteger(0) }
    let next = (used ?? nil).map { min($0, block.last) + 1 } ?? block.first
    try count(from: KeyBlock(table: name, first: next, last: block.last, number: block.number), in: database)
  }

  /// Sets SQLite's count to the beginning of a range. If rows with greater keys exist, SQLite goes on after these
  /// rows.
  public func count(from block: KeyBlock, in database: borrowing Database) throws {
    let parameters: KeyValuePairs<String, Value> = ["name": .string(name.text), "last": .integer(block.first - 1)]
    try database.run("UPDATE sqlite_sequence SET seq = :last WHERE name = :name", parameters)
    if database.changes == 0 {
      try database.run("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)", parameters)
    }
  }
}
