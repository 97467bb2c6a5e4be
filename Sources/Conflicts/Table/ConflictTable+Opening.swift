import SatchelJSON
import SatchelSQLite
import SatchelValues

/// Opens held changes and resolved conflicts, so that a person must decide them.
extension ConflictTable {
  /// The conflicts that this person decided at `time` or later, in the order of the decisions.
  /// - Parameter time: in milliseconds since 1970.
  public static func decided(
    by user: String, since time: Int64, in database: borrowing Database
  ) throws -> [StoredConflict] {
    try database.all(
      """
      SELECT \(columns) FROM satchel_conflicts
      WHERE state = 'resolved' AND decided_by = :user AND decided_at >= :time ORDER BY decided_at, id
      """, ["user": .string(user), "time": .integer(time)]
    ) { try stored($0) }
  }

  /// The conflicts that this person decided exactly at `time`.
  /// - Parameter time: in milliseconds since 1970.
  public static func decided(by user: String, at time: Int64, in database: borrowing Database) throws
    -> [StoredConflict]
  {
    try database.all(
      """
      SELECT \(columns) FROM satchel_conflicts
      WHERE state = 'resolved' AND decided_by = :user AND decided_at = :time ORDER BY id
      """, ["user": .string(user), "time": .integer(time)]
    ) { try stored($0) }
  }

  /// The conflicts about a row that this person decided after `time`, the latest decision first.
  /// - Parameter time: in milliseconds since 1970.
  public static func decided(
    _ row: RowInTable, by user: String, after time: Int64, in database: borrowing Database
  ) throws -> [StoredConflict] {
    try database.all(
      """
      SELECT \(columns) FROM satchel_conflicts
      WHERE state = 'resolved' AND table_name = :table AND key = :key AND decided_by = :user AND decided_at > :time
      ORDER BY decided_at DESC, id
      """,
      [
        "table": .string(row.table.text), "key": .text(canonicalKey(row.key)), "user": .string(user),
        "time": .integer(time),
      ]
    ) { try stored($0) }
  }

  /// Opens a resolved conflict again. Its note keeps the former decision.
  public static func reopen(_ conflict: StoredConflict, in database: borrowing Database) throws {
    guard let decision = conflict.decision else { return }
    let former = "Opened again; it was decided before: \(decision.made.rawValue), by \(decision.by)."
    try database.run(
      """
      UPDATE satchel_conflicts
      SET state = 'open', decision = NULL, decided_by = NULL, decided_at = NULL, note = :note
      WHERE id = :id AND state = 'resolved'
      """,
      [
        "id": .string(conflict.record.id.text),
        "note": .string([conflict.record.note, former].compactMap(\.self).joined(separator: " ")),
      ])
  }

  /// Opens a settled conflict, so that a person must decide it. If there is no new note, the conflict's note stays.
  public static func openSettled(_ id: ConflictID, note: String?, in database: borrowing Database) throws {
    try database.run(
      """
      UPDATE satchel_conflicts SET state = 'open', told = NULL, note = coalesce(:note, note)
      WHERE id = :id AND state = 'settled'
      """, ["id": .string(id.text), "note": note.map { .string($0) } ?? .null])
  }

  /// Opens the later changes that wait behind these records: changes of the same rows by the same device. A person
  /// must then decide them.
  public static func openHeld(behind records: [ConflictRecord], in database: borrowing Database) throws {
    var isAnyOpened = false
    for record in records {
      try database.run(
        """
        UPDATE satchel_conflicts SET state = 'open', told = NULL
        WHERE state = 'held' AND kind <> 'forbidden' AND device = :device AND table_name = :table AND key = :key
          AND generation > :generation
        """,
        [
          "device": .string(record.device.text), "table": .string(record.table.text),
          "key": .text(canonicalKey(record.key)), "generation": .integer(record.generation.rawValue),
        ])
      if database.changes > 0 { isAnyOpened = true }
    }
    // One command may decide very many conflicts, and few of them belong to a unit. So units are checked only if
    // necessary.
    if isAnyOpened || records.contains(where: { $0.unit != nil }) { try openUnits(in: database) }
  }

  /// Opens these held changes, so that a person must decide them.
  public static func open(_ conflicts: [ConflictID], in database: borrowing Database) throws {
    for id in conflicts { try setState(.open, of: id, in: database) }
    if !conflicts.isEmpty { try openUnits(in: database) }
  }

  /// Opens those of these held changes that this replica found itself. The hub opens the others.
  public static func openOwn(_ conflicts: [ConflictID], in database: borrowing Database) throws {
    for id in conflicts {
      try database.run(
        """
        UPDATE satchel_conflicts SET state = 'open'
        WHERE id = :id AND state = 'held' AND bundle IS NULL
        """, ["id": .string(id.text)])
    }
  }

  /// The inserts of a device that lost by a policy or by a person's decision. A row is left out while another
  /// conflict about its insert is held or open.
  public static func lostInserts(of device: ReplicaID, in database: borrowing Database) throws -> [ConflictRecord] {
    try database.all(
      """
      SELECT \(columns) FROM satchel_conflicts AS lost
      WHERE state IN ('settled', 'resolved') AND device = :device AND operation = 'insert'
        AND (state = 'settled' AND kind IN ('unique', 'unit') AND winner = 'hub'
          OR state = 'resolved' AND decision = 'hub')
        AND NOT EXISTS (
          SELECT 1 FROM satchel_conflicts AS other
          WHERE other.state IN ('open', 'held') AND other.device = lost.device
            AND other.table_name = lost.table_name AND other.key = lost.key AND other.operation = 'insert')
      ORDER BY noted DESC, id
      """, ["device": .string(device.text)]
    ) { try stored($0).record }
  }

  private static let hasLost = """
    operation = 'insert'
      AND (state = 'settled' AND kind IN ('unique', 'unit') AND winner = 'hub'
        OR state = 'resolved' AND decision = 'hub')
    """

  /// The rows of `lostInserts`, each once, in any order. A device may have very many conflicts about one row.
  static func lostRows(of device: ReplicaID, in database: borrowing Database) throws -> [RowInTable] {
    let rows = try database.all(
      """
      SELECT DISTINCT table_name, key FROM satchel_conflicts
      WHERE state IN ('settled', 'resolved') AND device = :device AND \(hasLost)
      """, ["device": .string(device.text)]
    ) { RowInTable(table: Name($0.text(0)), key: try RowKey(canonical: Array($0.text(1).utf8))) }
    return try rows.filter { row in
      try database.first(
        """
        SELECT 1 FROM satchel_conflicts
        WHERE state IN ('open', 'held') AND device = :device AND table_name = :table AND key = :key
          AND operation = 'insert'
        LIMIT 1
        """,
        ["device": .string(device.text), "table": .string(row.table.text), "key": .text(canonicalKey(row.key))]
      ) { _ in true } == nil
    }
  }

  /// Calls `body` with each lost insert of a row, even if another conflict about the row's insert is held or open.
  static func eachLostInsert(
    of row: RowInTable, device: ReplicaID, in database: borrowing Database, _ body: (ConflictRecord) throws -> Void
  ) throws {
    try database.each(
      """
      SELECT \(columns) FROM satchel_conflicts
      WHERE state IN ('settled', 'resolved') AND device = :device AND table_name = :table AND key = :key
        AND \(hasLost)
      """,
      ["device": .string(device.text), "table": .string(row.table.text), "key": .text(canonicalKey(row.key))]
    ) { try body(stored($0).record) }
  }

  /// Opens the held changes of a device's exports with sequence `number` or higher. A person must then decide them.
  public static func openHeld(
    of device: ReplicaID, from number: SequenceNumber, in database: borrowing Database
  ) throws {
    try database.run(
      """
      UPDATE satchel_conflicts SET state = 'open', told = NULL
      WHERE state = 'held' AND kind <> 'forbidden' AND device = :device
        AND bundle IN (SELECT bundle FROM satchel_ledger WHERE direction = 'in' AND number >= :number)
      """, ["device": .string(device.text), "number": .integer(number.rawValue)])
    try openUnits(in: database)
  }

  /// Opens the held changes of this table. A person must then decide them.
  public static func openHeld(of table: Name, in database: borrowing Database) throws {
    try database.run(
      "UPDATE satchel_conflicts SET state = 'open', told = NULL WHERE state = 'held' AND table_name = :table",
      ["table": .string(table.text)])
    try openUnits(in: database)
  }

  /// Opens updates that waited for another device to deliver their row again. A person must then decide them. Returns
  /// the number of these updates.
  public static func openAwaiting(in database: borrowing Database) throws -> Int {
    try database.run(
      """
      UPDATE satchel_conflicts SET state = 'open', kind = 'update/delete', told = NULL
      WHERE state = 'held' AND operation = 'update' AND kind NOT IN ('forbidden', 'revoked')
        AND since IS NULL
      """)
    let count = Int(database.changes)
    try openUnits(in: database)
    return count
  }

  /// Opens the held changes of each unit that has an open change, because a person decides a unit as a whole.
  private static func openUnits(in database: borrowing Database) throws {
    try database.run(
      """
      UPDATE satchel_conflicts INDEXED BY satchel_conflicts_by_unit SET state = 'open', told = NULL
      WHERE state = 'held' AND unit IS NOT NULL
        AND (unit, device) IN (
          SELECT unit, device FROM satchel_conflicts INDEXED BY satchel_conflicts_by_unit
          WHERE state = 'open' AND unit IS NOT NULL)
      """)
  }
}
