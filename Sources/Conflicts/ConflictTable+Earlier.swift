import SatchelCapture
import SatchelJSON
import SatchelSQLite
import SatchelValues

/// Earlier changes of a row by the device that changed the row again.
extension ConflictTable {
  /// Whether the device has a conflict about a change of this generation or a later one.
  public static func hasAny(
    of device: ReplicaID, since first: Generation, in database: borrowing Database
  ) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_conflicts WHERE device = :device AND generation >= :first LIMIT 1",
      ["device": .string(device.text), "first": .integer(first.rawValue)]
    ) { _ in true } ?? false
  }

  /// The conflicts in any state about a device's changes of a row, in these generations, oldest first.
  public static func earlier(
    _ key: RowKey, of table: TrackedTable, device: ReplicaID, in generations: Range<Int64>,
    _ database: borrowing Database
  ) throws -> [ConflictRecord] {
    // The index finds one key. If a key has several spellings, all changes of the table are looked at.
    let isKey = table.keepsSpellings ? "(:key IS NOT NULL)" : "key = :key"
    return try database.all(
      """
      SELECT \(columns)
      FROM satchel_conflicts
      WHERE state IN ('open', 'held', 'settled', 'resolved') AND device = :device AND table_name = :table
        AND \(isKey) AND generation >= :first AND generation < :end
      ORDER BY generation, id
      """,
      [
        "device": .string(device.text), "table": .string(table.name.text), "key": .text(canonicalKey(key)),
        "first": .integer(generations.lowerBound), "end": .integer(generations.upperBound),
      ]
    ) { try stored($0).record }.filter { $0.key == key }
  }
}

extension ConflictRecord {
  /// Whether the change waits, or neither a policy nor a person took it.
  public var isNotTaken: Bool {
    switch state {
    case .open, .held: true
    case .settled: winners.isEmpty ? rowWinner == .hub : winners.contains { $0.winner == .hub }
    case .resolved: decision?.made == .hub
    }
  }
}
