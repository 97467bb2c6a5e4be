import SatchelBundle
import SatchelCapture
import SatchelJSON
import SatchelSQLite
import SatchelValues

extension ConflictTable {
  /// The conflicts in these states, oldest first.
  public static func list(_ states: [ConflictState], in database: borrowing Database) throws -> [StoredConflict] {
    try ConflictState.allCases.filter { states.contains($0) }.flatMap { state in
      try database.all(
        "SELECT \(columns) FROM satchel_conflicts WHERE state = :state ORDER BY noted, id",
        ["state": .string(state.rawValue)]
      ) { try stored($0) }
    }
  }

  /// Whether any conflict has this state.
  public static func isAny(_ state: ConflictState, in database: borrowing Database) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_conflicts WHERE state = :state LIMIT 1", ["state": .string(state.rawValue)]
    ) { _ in true } ?? false
  }

  /// Whether a conflict about a row, in any state, has this field among the device's values.
  public static func holds(_ field: Field, of row: RowInTable, in database: borrowing Database) throws -> Bool {
    try ConflictState.allCases.contains { state in
      try database.all(
        """
        SELECT \(columns) FROM satchel_conflicts
        WHERE state = :state AND table_name = :table AND key = :key
        """,
        [
          "state": .string(state.rawValue), "table": .string(row.table.text), "key": .text(canonicalKey(row.key)),
        ]
      ) { try stored($0).record }.contains { ($0.deviceValues ?? []).contains(field) }
    }
  }

  /// The undecided `foreign key` conflicts of a device.
  static func undecidedReferences(of device: ReplicaID, in database: borrowing Database) throws -> [ConflictRecord] {
    try [ConflictState.open, .held].flatMap { state in
      try database.all(
        """
        SELECT \(columns) FROM satchel_conflicts
        WHERE state = :state AND device = :device AND kind = 'foreign key'
        ORDER BY noted, id
        """, ["state": .string(state.rawValue), "device": .string(device.text)]
      ) { try stored($0).record }
    }
  }

  /// The ids of the conflicts of a device that the other replica is not known to have. They are in no bundle yet, or
  /// only in a bundle with a number above `number`, which may be lost. Only ids are returned, because a device may have
  /// very many conflicts with large values.
  /// - Parameter user: selects only changes of this user; nil selects the changes of all users.
  public static func untold(
    of device: ReplicaID, by user: String? = nil, after number: Int64, in database: borrowing Database
  ) throws -> [ConflictID] {
    try database.all(
      """
      SELECT id
      FROM satchel_conflicts
      WHERE device = :device AND user = coalesce(:user, user) AND (told IS NULL OR told > :number)
      ORDER BY id
      """,
      ["device": .string(device.text), "user": user.map { .string($0) } ?? .null, "number": .integer(number)]
    ) { ConflictID($0.text(0)) }.compactMap(\.self)
  }

  /// The record of a conflict as the other replica may see it; nil if there is no such conflict. If the row was
  /// hidden from the device's user when the change was merged, the hub's values are left out. This holds even if the
  /// user may see the present row.
  public static func recordForOtherSide(_ id: ConflictID, in database: borrowing Database) throws -> ConflictRecord? {
    try database.first(
      "SELECT \(columns), hidden FROM satchel_conflicts WHERE id = :id", ["id": .string(id.text)]
    ) {
      var record = try stored($0).record
      switch HiddenPart(rawValue: $0.integer(22)) {
      case .row: (record.hubValues, record.winners) = (nil, [])
      case .parent: if !record.isTakenLate { record.showParentAsMissing() }
      case .nothing, nil: break
      }
      return record
    }
  }

  /// Calls `body` for each text that is a value in any conflict.
  public static func eachText(in database: borrowing Database, _ body: (Value) throws -> Void) throws {
    for column in ["base_values", "hub_values", "device_values"] {
      try database.each(
        """
        SELECT DISTINCT field.value
        FROM satchel_conflicts, json_each(satchel_conflicts.\(quoted(column))) AS field
        WHERE field.type = 'text'
        """
      ) { try body($0.value(0)) }
    }
  }

  /// The number of conflicts of a device that no bundle has reported yet.
  /// - Parameter number: also counts conflicts that only a bundle with a higher number has reported; nil does not
  ///   count them.
  public static func countUntold(
    of device: ReplicaID, by user: String? = nil, after number: Int64? = nil, in database: borrowing Database
  ) throws -> Int64 {
    try database.first(
      """
      SELECT count(*)
      FROM satchel_conflicts
      WHERE device = :device AND user = coalesce(:user, user) AND (told IS NULL OR told > :number)
      """,
      [
        "device": .string(device.text), "user": user.map { .string($0) } ?? .null,
        "number": number.map { .integer($0) } ?? .null,
      ]
    ) { $0.integer(0) } ?? 0
  }

  /// Deletes the conflicts of all other users than `user` at a device, if the hub is known to have them.
  /// - Parameter number: the last export that the hub acknowledged.
  public static func forget(ofOthersThan user: String, toldUpTo number: Int64, in database: borrowing Database) throws {
    try database.run(
      "DELETE FROM satchel_conflicts WHERE user <> :user AND told <= :number",
      ["user": .string(user), "number": .integer(number)])
  }

  /// Gives a device's conflicts the device's new id, if the hub is not known to have them.
  /// - Parameter number: the last export that the hub acknowledged.
  public static func moveUnsent(
    from former: ReplicaID, to device: ReplicaID, sentUpTo number: Int64, in database: borrowing Database
  ) throws {
    try database.run(
      """
      UPDATE satchel_conflicts SET device = :new, told = NULL
      WHERE device = :former AND (told IS NULL OR told > :number)
      """, ["new": .string(device.text), "former": .string(former.text), "number": .integer(number)])
  }

  public static func markTold(_ ids: [ConflictID], by number: Int64, in database: borrowing Database) throws {
    for id in ids {
      try database.run(
        "UPDATE satchel_conflicts SET told = :number WHERE id = :id",
        ["number": .integer(number), "id": .string(id.text)])
    }
  }

  /// The value of the column `told` for a conflict that is never reported to the other replica.
  public static let neverTold: Int64 = -1

  /// Marks the new state of a conflict as not yet reported to the other replica. Does nothing for a single delete of
  /// a row outside the user's scope. If the hub had deleted such a row, there would be no conflict and no report. So
  /// a report would reveal that the hub still has the row. In a unit with other changes, both deletes are conflicts,
  /// so the delete is reported.
  public static func retell(_ id: ConflictID, in database: borrowing Database) throws {
    try database.run(
      """
      UPDATE satchel_conflicts
      SET told = NULL
      WHERE id = :id AND NOT (kind = 'revoked' AND operation = 'delete' AND (unit IS NULL OR told = :never))
      """, ["id": .string(id.text), "never": .integer(neverTold)])
  }

  /// Marks the device's open `update/update` conflicts that the hub had reported as not yet reported to the hub. The
  /// hub may have lost its records of them. If the hub still has a conflict, it leaves the conflict unchanged.
  public static func reportOpenAgain(of device: ReplicaID, in database: borrowing Database) throws {
    try database.run(
      """
      UPDATE satchel_conflicts
      SET told = NULL
      WHERE state = 'open' AND device = :device AND kind = 'update/update' AND unit IS NULL AND told = 0
      """, ["device": .string(device.text)])
  }

  /// Whether a device still has to report this open conflict back to the hub, which had once reported it. False if the
  /// hub is known to have the device's report.
  /// - Parameters:
  ///   - number: the last export that the hub acknowledged.
  ///   - isLost: whether the hub has lost its own report, so that `reportOpenAgain` follows.
  public static func isReportedAgain(
    _ id: ConflictID, after number: Int64, isLost: Bool, in database: borrowing Database
  ) throws -> Bool {
    try database.first(
      """
      SELECT 1 FROM satchel_conflicts
      WHERE id = :id AND state = 'open' AND kind = 'update/update' AND unit IS NULL AND bundle IS NOT NULL
        AND (told IS NULL OR told > :number OR told = 0 AND :lost)
      """, ["id": .string(id.text), "number": .integer(number), "lost": .integer(isLost ? 1 : 0)]
    ) { _ in true } ?? false
  }

  /// Stores the hub's present record of a conflict, and marks it as not yet reported to the other replica.
  public static func correct(
    _ record: ConflictRecord, at time: Int64, hidden: HiddenPart, in database: borrowing Database
  ) throws {
    try update(record, at: time, hidden: hidden, in: database)
    try retell(record.id, in: database)
  }

  /// The only conflict whose id begins with `prefix`. Throws a `WorkspaceError` if there is none or more than one.
  public static func find(_ prefix: String, in database: borrowing Database) throws -> StoredConflict {
    let isHexadecimal = !prefix.isEmpty && prefix.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    let found =
      !isHexadecimal
      ? []
      : try database.all(
        "SELECT \(columns) FROM satchel_conflicts WHERE id >= :prefix AND id < :prefix || 'g' ORDER BY id LIMIT 2",
        ["prefix": .string(prefix)]
      ) { try stored($0) }
    guard let first = found.first else {
      throw WorkspaceError(
        .noConflict, "There is no conflict \"\(prefix)\".", hint: "`conflicts list` shows them, with their ids.")
    }
    guard found.count == 1 else {
      throw WorkspaceError(
        .ambiguous, "More than one conflict's id begins with \"\(prefix)\".", hint: "Write more of the id.")
    }
    return first
  }

  /// The conflict with this id; nil if there is none.
  public static func conflict(_ id: ConflictID, in database: borrowing Database) throws -> StoredConflict? {
    try database.first(
      "SELECT \(columns) FROM satchel_conflicts WHERE id = :id", ["id": .string(id.text)]
    ) { try stored($0) }
  }

  /// The given texts that are values in held or open changes of a device. Reads these changes once.
  public static func mentioned(
    among texts: Set<String>, device: ReplicaID, in database: borrowing Database
  ) throws -> Set<String> {
    var found: Set<String> = []
    try database.each(
      """
      SELECT field.value
      FROM satchel_conflicts, json_each(device_values) AS field
      WHERE device = :device AND state IN ('open', 'held') AND field.type = 'text'
      """, ["device": .string(device.text)]
    ) {
      let text = $0.text(0)
      if texts.contains(text) { found.insert(text) }
    }
    return found
  }

  /// Whether a change of this row by this device is held.
  public static func isHeld(_ key: RowKey, of table: TrackedTable, device: ReplicaID, in database: borrowing Database)
    throws
    -> Bool
  {
    try countHeld(key, of: table, device: device, in: database) > 0
  }

  /// All spellings of a row's key; nil if there are too many to look up each one.
  private static func spellings(of key: RowKey, in table: TrackedTable) -> [RowKey]? {
    table.keepsSpellings ? key.spellings : [key]
  }

  /// The number of held changes of this row by this device.
  public static func countHeld(
    _ key: RowKey, of table: TrackedTable, device: ReplicaID, in database: borrowing Database
  ) throws -> Int64 {
    guard let spellings = spellings(of: key, in: table) else {
      return try countHeld(spelled: key, of: table.name, device: device, in: database)
    }
    return try spellings.reduce(0) { count, key in
      try count
        + (database.first(
          """
          SELECT count(*) FROM satchel_conflicts WHERE state = 'held' AND device = :device AND table_name = :table AND \
          key = :key
          """,
          ["device": .string(device.text), "table": .string(table.name.text), "key": .text(canonicalKey(key))]
        ) { $0.integer(0) } ?? 0)
    }
  }

  /// The number of held changes of a row by this device, for a key with very many spellings.
  private static func countHeld(
    spelled key: RowKey, of table: Name, device: ReplicaID, in database: borrowing Database
  ) throws -> Int64 {
    let held = try database.all(
      "SELECT key FROM satchel_conflicts WHERE state = 'held' AND device = :device AND table_name = :table",
      ["device": .string(device.text), "table": .string(table.text)]
    ) { try RowKey(canonical: Array($0.text(0).utf8)) }
    return Int64(held.filter { $0 == key }.count)
  }

  /// Whether any change of this device is held.
  public static func holdsAny(of device: ReplicaID, in database: borrowing Database) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_conflicts WHERE state = 'held' AND device = :device", ["device": .string(device.text)]
    ) { _ in true } ?? false
  }

  /// The hub's cursor at the emission on which the conflict's change was made; nil if the change is of an earlier
  /// epoch.
  public static func since(_ id: ConflictID, in database: borrowing Database) throws -> Cursor? {
    try database.first("SELECT since FROM satchel_conflicts WHERE id = :id", ["id": .string(id.text)]) {
      $0.optionalInteger(0).map { Cursor($0) }
    } ?? nil
  }

  /// The time at which a conflict was recorded, in milliseconds since 1970; nil if there is no such conflict.
  public static func noted(_ id: ConflictID, in database: borrowing Database) throws -> Int64? {
    try database.first("SELECT noted FROM satchel_conflicts WHERE id = :id", ["id": .string(id.text)]) {
      $0.integer(0)
    }
  }

  /// The held changes of a row by a device, in the order of their generations.
  public static func held(
    _ key: RowKey, of table: Name, device: ReplicaID, in database: borrowing Database
  ) throws -> [ConflictRecord] {
    try database.all(
      """
      SELECT \(columns)
      FROM satchel_conflicts
      WHERE state = 'held' AND device = :device AND table_name = :table AND key = :key
      ORDER BY generation
      """,
      ["device": .string(device.text), "table": .string(table.text), "key": .text(canonicalKey(key))]
    ) { try stored($0).record }
  }

  /// The oldest update of a row by a device that was not taken and that a person may still decide; nil if there is
  /// none. A settled conflict counts only if it is about a UNIQUE value.
  static func undecidedUpdate(
    _ row: RowInTable, by device: ReplicaID, in database: borrowing Database
  ) throws -> ConflictRecord? {
    try database.first(
      """
      SELECT \(columns)
      FROM satchel_conflicts
      WHERE device = :device AND table_name = :table AND key = :key AND operation = 'update'
        AND (state IN ('open', 'held') OR state = 'settled' AND kind = 'unique' AND winner IS NOT 'device')
      ORDER BY generation
      """,
      ["device": .string(device.text), "table": .string(row.table.text), "key": .text(canonicalKey(row.key))]
    ) { try stored($0).record }
  }

  public static func setSince(_ cursor: Cursor?, of id: ConflictID, in database: borrowing Database) throws {
    try database.run(
      "UPDATE satchel_conflicts SET since = :since WHERE id = :id",
      ["since": cursor.map { .integer($0.rawValue) } ?? .null, "id": .string(id.text)])
  }

  /// The number of conflicts in a state. A unit counts once.
  public static func count(_ state: ConflictState, in database: borrowing Database) throws -> Int64 {
    // Two indexes answer this: one counts all conflicts of the state, the other the conflicts beyond the first of
    // each unit.
    try database.first(
      """
      SELECT count(*) - (
        SELECT count(*) - count(DISTINCT unit || device)
        FROM satchel_conflicts
        WHERE unit IS NOT NULL AND state = :state)
      FROM satchel_conflicts
      WHERE state = :state
      """, ["state": .string(state.rawValue)]
    ) { $0.integer(0) } ?? 0
  }

  /// All conflicts of the unit to which a conflict belongs, in any state, in the order of their generations. A
  /// conflict without a unit is alone.
  public static func unit(of conflict: StoredConflict, in database: borrowing Database) throws -> [StoredConflict] {
    guard let unit = conflict.record.unit else { return [conflict] }
    return try database.all(
      "SELECT \(columns) FROM satchel_conflicts WHERE unit = :unit AND device = :device ORDER BY generation, id",
      ["unit": .string(unit.text), "device": .string(conflict.record.device.text)]
    ) { try stored($0) }
  }

  /// Whether this device changed the row in a unit that is held.
  public static func isInHeldUnit(
    _ key: RowKey, of table: TrackedTable, device: ReplicaID, in database: borrowing Database
  ) throws -> Bool {
    let isWaiting = "state = 'held' AND device = :device AND table_name = :table AND unit IS NOT NULL"
    let (device, name) = (Value.string(device.text), Value.string(table.name.text))
    if let spellings = spellings(of: key, in: table) {
      return try spellings.contains { key in
        try database.first(
          "SELECT 1 FROM satchel_conflicts WHERE \(isWaiting) AND key = :key",
          ["device": device, "table": name, "key": .text(canonicalKey(key))]
        ) { _ in true } ?? false
      }
    }
    let keys = try database.all(
      "SELECT key FROM satchel_conflicts WHERE \(isWaiting)", ["device": device, "table": name]
    ) { try RowKey(canonical: Array($0.text(0).utf8)) }
    return keys.contains(key)
  }

  static func stored(_ row: borrowing Statement) throws -> StoredConflict {
    func fields(_ column: Int) throws -> [Field]? {
      guard case .text(let bytes) = row.value(column) else { return nil }
      return try FieldsCoding.parse(bytes)
    }
    func word<T>(_ column: Int, _ make: (String) -> T?) throws -> T {
      guard let value = make(row.text(column)) else {
        throw WorkspaceError(.badConflict, "The row \(row.text(0)) of satchel_conflicts holds an unknown word.")
      }
      return value
    }
    let winners = try (fields(13) ?? []).compactMap { field -> ColumnWinner? in
      guard case .text(let word) = field.value, let winner = Winner(rawValue: String(decoding: word, as: UTF8.self))
      else {
        return nil
      }
      return ColumnWinner(field.name, winner)
    }
    let decision = row.optionalText(18).flatMap { Resolution.Decision(rawValue: $0) }.map {
      StoredConflict.Decision(made: $0, by: row.text(19), at: row.integer(20))
    }
    let record = ConflictRecord(
      id: try word(0) { ConflictID($0) }, device: try word(1) { ReplicaID($0) }, user: row.text(2),
      table: Name(row.text(3)),
      key: try RowKey(canonical: Array(row.text(4).utf8)), generation: Generation(row.integer(5)),
      stamp: Stamp(row.integer(6)),
      operation: try word(7) { Operation(rawValue: $0) }, kind: try word(8) { ConflictKind(rawValue: $0) },
      state: try word(9) { ConflictState(rawValue: $0) }, baseValues: try fields(10), hubValues: try fields(11),
      deviceValues: try fields(12),
      winners: winners, rowWinner: try word(14) { Winner(rawValue: $0) }, note: row.optionalText(15),
      decision: decision.map { .init(made: $0.made, by: $0.by) },
      unit: row.optionalText(21).flatMap { ConflictID($0) })
    return StoredConflict(
      record: record, bundle: row.optionalText(16).flatMap { BundleID($0) }, noted: row.integer(17), decision: decision)
  }
}
