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

  /// Whether a conflict has this state.
  public static func isAny(_ state: ConflictState, in database: borrowing Database) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_conflicts WHERE state = :state LIMIT 1", ["state": .string(state.rawValue)]
    ) { _ in true } ?? false
  }

  /// Whether a conflict about a row, in any state, keeps a value as the device's value.
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

  /// The undecided conflicts of one device about references to rows that are not there.
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

  /// The conflicts of one device that the other side is not known to have. No bundle has reported them, or only a
  /// bundle after `number`, which may have been lost. A device may have very many conflicts with large values, so these
  /// are only their ids, in order.
  /// - Parameter user: only this user's changes; nil: the changes of all users of the device.
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

  /// The record of a conflict as the other side may see it. nil: there is no such conflict. The row's values are left
  /// out if the row was hidden from the device's user when the change met it. The user may see the present row, but not
  /// the former row.
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

  /// Calls `body` for each text that a conflict in any state holds as a value.
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

  /// The number of conflicts of one device that no bundle has reported yet.
  /// - Parameter number: conflicts that a bundle with a higher number has reported count too. nil: they do not.
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

  /// Forgets the conflicts of users other than `user` on a device, if the hub is known to have them.
  /// - Parameter number: the last export that the hub has acknowledged.
  public static func forget(ofOthersThan user: String, toldUpTo number: Int64, in database: borrowing Database) throws {
    try database.run(
      "DELETE FROM satchel_conflicts WHERE user <> :user AND told <= :number",
      ["user": .string(user), "number": .integer(number)])
  }

  /// Moves a device's conflicts to the device's new identity, if the hub is not known to have them.
  /// - Parameter number: the last export that the hub has acknowledged.
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

  /// The value of `told` for a conflict that the other side never learns of.
  public static let neverTold: Int64 = -1

  /// Marks this conflict's new state as not yet reported to the other side. Does nothing for the delete of a row that
  /// left its user's scope. If the hub had deleted the row, the delete would be no conflict and would have no report.
  /// So a report would show the user that the hub still has the row. A delete in a unit with other changes is a
  /// conflict in both cases, and is reported.
  public static func retell(_ id: ConflictID, in database: borrowing Database) throws {
    try database.run(
      """
      UPDATE satchel_conflicts
      SET told = NULL
      WHERE id = :id AND NOT (kind = 'revoked' AND operation = 'delete' AND (unit IS NULL OR told = :never))
      """, ["id": .string(id.text), "never": .integer(neverTold)])
  }

  /// Marks the open `update/update` conflicts that the hub reported to a device as not yet reported to the hub. The hub
  /// may have lost its own records of them. A conflict that the hub still knows stays there as it is.
  public static func reportOpenAgain(of device: ReplicaID, in database: borrowing Database) throws {
    try database.run(
      """
      UPDATE satchel_conflicts
      SET told = NULL
      WHERE state = 'open' AND device = :device AND kind = 'update/update' AND unit IS NULL AND told = 0
      """, ["device": .string(device.text)])
  }

  /// Takes over the hub's present record of a conflict, and marks it as not yet reported to the other side.
  public static func correct(
    _ record: ConflictRecord, at time: Int64, hidden: HiddenPart, in database: borrowing Database
  ) throws {
    try update(record, at: time, hidden: hidden, in: database)
    try retell(record.id, in: database)
  }

  /// The conflict whose id begins with `prefix`. Throws a `WorkspaceError` if there is none, or more than one.
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

  /// The conflict with this id; nil: there is none.
  public static func conflict(_ id: ConflictID, in database: borrowing Database) throws -> StoredConflict? {
    try database.first(
      "SELECT \(columns) FROM satchel_conflicts WHERE id = :id", ["id": .string(id.text)]
    ) { try stored($0) }
  }

  /// Which of these texts are among the values of a device's changes that wait or are open. Reads these changes once.
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

  /// Whether a change of this row by this device waits.
  public static func isHeld(_ key: RowKey, of table: TrackedTable, device: ReplicaID, in database: borrowing Database)
    throws
    -> Bool
  {
    try countHeld(key, of: table, device: device, in: database) > 0
  }

  /// The keys that name the same row of a table. nil: there are too many to look for each of them.
  private static func spellings(of key: RowKey, in table: TrackedTable) -> [RowKey]? {
    table.keepsSpellings ? key.spellings : [key]
  }

  /// The number of changes of this row by this device that wait.
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

  /// The number of this device's changes of a row that wait. The row's key has very many spellings.
  private static func countHeld(
    spelled key: RowKey, of table: Name, device: ReplicaID, in database: borrowing Database
  ) throws -> Int64 {
    let held = try database.all(
      "SELECT key FROM satchel_conflicts WHERE state = 'held' AND device = :device AND table_name = :table",
      ["device": .string(device.text), "table": .string(table.text)]
    ) { try RowKey(canonical: Array($0.text(0).utf8)) }
    return Int64(held.filter { $0 == key }.count)
  }

  /// Whether any change of this device waits.
  public static func holdsAny(of device: ReplicaID, in database: borrowing Database) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_conflicts WHERE state = 'held' AND device = :device", ["device": .string(device.text)]
    ) { _ in true } ?? false
  }

  /// The hub's cursor at the emission on which a conflict's change was made; nil: the change is of an earlier epoch.
  public static func since(_ id: ConflictID, in database: borrowing Database) throws -> Cursor? {
    try database.first("SELECT since FROM satchel_conflicts WHERE id = :id", ["id": .string(id.text)]) {
      $0.optionalInteger(0).map { Cursor($0) }
    } ?? nil
  }

  /// The time when a conflict was found, in milliseconds since 1970; nil: there is no such conflict.
  public static func noted(_ id: ConflictID, in database: borrowing Database) throws -> Int64? {
    try database.first("SELECT noted FROM satchel_conflicts WHERE id = :id", ["id": .string(id.text)]) {
      $0.integer(0)
    }
  }

  /// The waiting changes of a row by a device, in order.
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

  /// The oldest update of a row by a device that was not taken, and that a person may still decide; nil: there is none.
  /// If a policy settled the conflict, only one about a UNIQUE value counts.
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
    // Two indexes answer it: the conflicts of the state, less those that are not the first of their unit.
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

  /// The conflicts of a conflict's unit in any state, in the order in which the unit's changes are applied. A conflict
  /// without a unit is returned alone.
  public static func unit(of conflict: StoredConflict, in database: borrowing Database) throws -> [StoredConflict] {
    guard let unit = conflict.record.unit else { return [conflict] }
    return try database.all(
      "SELECT \(columns) FROM satchel_conflicts WHERE unit = :unit AND device = :device ORDER BY generation, id",
      ["unit": .string(unit.text), "device": .string(conflict.record.device.text)]
    ) { try stored($0) }
  }

  /// Whether this device changed the row in a unit that waits.
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
