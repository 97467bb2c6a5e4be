import SatchelCapture
import SatchelJSON
import SatchelSQLite
import SatchelValues

/// Finds conflicts about earlier changes of a row, after the same device has changed the row again.
extension ConflictTable {
  /// The id and the row of a conflict.
  public struct Found: Sendable {
    public let id: ConflictID
    public let row: RowInTable

    public init(id: ConflictID, row: RowInTable) { (self.id, self.row) = (id, row) }
  }

  /// The conflicts about a device's changes in generation `first` and later generations, in any state, oldest first.
  public static func found(
    of device: ReplicaID, since first: Generation, in database: borrowing Database
  ) throws -> [Found] {
    try database.all(
      """
      SELECT id, table_name, key
      FROM satchel_conflicts
      WHERE state IN ('open', 'held', 'settled', 'resolved') AND device = :device AND generation >= :first
      ORDER BY generation, id
      """,
      ["device": .string(device.text), "first": .integer(first.rawValue)]
    ) { row -> Found? in
      guard let id = ConflictID(row.text(0)) else { return nil }
      let key = try RowKey(canonical: Array(row.text(2).utf8))
      return Found(id: id, row: RowInTable(table: Name(row.text(1)), key: key))
    }.compactMap(\.self)
  }

  /// Whether the table has a conflict about any unit of the device.
  public static func hasUnits(of device: ReplicaID, in database: borrowing Database) throws -> Bool {
    try database.first(
      """
      SELECT 1
      FROM satchel_conflicts INDEXED BY satchel_conflicts_by_unit
      WHERE unit IS NOT NULL AND device = :device
      LIMIT 1
      """,
      ["device": .string(device.text)]
    ) { _ in true } ?? false
  }

  /// The conflicts that `earlier` returns.
  public enum Wanted: Sendable {
    case inAnyState
    /// Only conflicts about units, except conflicts that a person decided for the device.
    case unitsNotDecidedForDevice
  }

  /// The conflicts about a device's changes of a row in these generations, oldest first.
  public static func earlier(
    _ key: RowKey, of table: TrackedTable, device: ReplicaID, in generations: Range<Int64>,
    wanted: Wanted = .inAnyState, _ database: borrowing Database
  ) throws -> [ConflictRecord] {
    // The index finds only one spelling of a key. If keys have several spellings, the conflicts of the whole table
    // are read.
    let isKey = table.keepsSpellings ? "(:key IS NOT NULL)" : "key = :key"
    let isWanted =
      switch wanted {
      case .inAnyState: "1"
      case .unitsNotDecidedForDevice: "unit IS NOT NULL AND (state <> 'resolved' OR decision = 'hub')"
      }
    return try database.all(
      """
      SELECT \(columns)
      FROM satchel_conflicts
      WHERE state IN ('open', 'held', 'settled', 'resolved') AND device = :device AND table_name = :table
        AND \(isKey) AND \(isWanted) AND generation >= :first AND generation < :end
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
  /// Whether the change is not taken: it waits or is open, or a policy or a person has decided for the hub.
  public var isNotTaken: Bool {
    switch state {
    case .open, .held: true
    case .settled: winners.isEmpty ? rowWinner == .hub : winners.contains { $0.winner == .hub }
    case .resolved: decision?.made == .hub
    }
  }
}
