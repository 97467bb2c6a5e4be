import SatchelJSON
import SatchelSQLite
import SatchelValues

/// Finds new rows that are kept out of their table, and later changes of these rows.
extension ConflictTable {
  /// The open conflict about a device's new row that is kept out because another row has its natural key; nil if
  /// there is none.
  public static func openUniqueInsert(
    _ key: RowKey, of table: Name, device: ReplicaID, in database: borrowing Database
  ) throws -> ConflictRecord? {
    try database.first(
      """
      SELECT \(columns)
      FROM satchel_conflicts
      WHERE state = 'open' AND device = :device AND table_name = :table AND key = :key AND kind = 'unique'
        AND operation = 'insert' AND unit IS NULL
      ORDER BY generation DESC
      """,
      ["device": .string(device.text), "table": .string(table.text), "key": .text(canonicalKey(key))]
    ) { try stored($0).record }
  }

  /// The held or open conflict about a device's new row whose parent is missing or hidden; nil if there is none. If
  /// the parent is hidden, the record is changed to the record for a deleted parent.
  public static func insertWithoutParent(
    _ key: RowKey, of table: Name, device: ReplicaID, in database: borrowing Database
  ) throws -> ConflictRecord? {
    try database.first(
      """
      SELECT \(columns)
      FROM satchel_conflicts
      WHERE state IN ('open', 'held') AND device = :device AND table_name = :table AND key = :key
        AND (kind = 'foreign key' OR kind IN ('revoked', 'forbidden') AND hidden = :parent)
        AND operation = 'insert' AND unit IS NULL
      ORDER BY generation DESC
      """,
      [
        "device": .string(device.text), "table": .string(table.text), "key": .text(canonicalKey(key)),
        "parent": .integer(HiddenPart.parent.rawValue),
      ]
    ) {
      var record = try stored($0).record
      record.showParentAsMissing()
      return record
    }
  }

  /// Whether a device's new row with this key is kept out: no conflict about it was decided for the device.
  public static func isKeptOut(
    _ key: RowKey, of table: Name, device: ReplicaID, in database: borrowing Database
  ) throws -> Bool {
    let won = try database.all(
      """
      SELECT state = 'resolved' AND decision <> 'hub' OR state = 'settled' AND winner = 'device'
      FROM satchel_conflicts
      WHERE state IN ('open', 'held', 'settled', 'resolved') AND device = :device AND table_name = :table
        AND key = :key AND operation = 'insert'
      """,
      ["device": .string(device.text), "table": .string(table.text), "key": .text(canonicalKey(key))]
    ) { $0.integer(0) != 0 }
    return !won.isEmpty && !won.contains(true)
  }

  /// Whether a decision of this person at this time has made the device's new row. A decision of the user who
  /// inserted the row does not count.
  public static func hasDecidedInsert(
    _ key: RowKey, of table: Name, device: ReplicaID, by person: String, at moment: Int64,
    in database: borrowing Database
  ) throws -> Bool {
    try database.first(
      """
      SELECT 1
      FROM satchel_conflicts
      WHERE state = 'resolved' AND device = :device AND table_name = :table AND key = :key
        AND operation = 'insert' AND decision <> 'hub' AND decided_at = :moment
        AND decided_by = :person AND user <> :person
      """,
      [
        "device": .string(device.text), "table": .string(table.text), "key": .text(canonicalKey(key)),
        "moment": .integer(moment), "person": .string(person),
      ]
    ) { _ in true } ?? false
  }

  /// Whether any new row of a device is kept out because another row has its natural key.
  public static func keepsInserts(of device: ReplicaID, in database: borrowing Database) throws -> Bool {
    try database.first(
      """
      SELECT 1
      FROM satchel_conflicts
      WHERE state = 'open' AND device = :device AND kind = 'unique' AND operation = 'insert' AND unit IS NULL
      """, ["device": .string(device.text)]
    ) { _ in true } ?? false
  }

  /// The held or open conflicts about later changes of a new row by its device, in order.
  public static func undecided(
    behind insert: ConflictRecord, in database: borrowing Database
  ) throws -> [ConflictRecord] {
    try database.all(
      """
      SELECT \(columns)
      FROM satchel_conflicts
      WHERE state IN ('open', 'held') AND device = :device AND table_name = :table AND key = :key AND id <> :id
        AND kind IN ('foreign key', 'update/delete') AND unit IS NULL AND generation >= :generation
      ORDER BY generation
      """,
      [
        "device": .string(insert.device.text), "table": .string(insert.table.text),
        "key": .text(canonicalKey(insert.key)), "id": .string(insert.id.text),
        "generation": .integer(insert.generation.rawValue),
      ]
    ) { try stored($0).record }
  }
}
