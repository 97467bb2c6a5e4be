import SatchelBundle
import SatchelJSON
import SatchelSQLite
import SatchelValues

/// A conflict as it stands in the table: the record, and what became of it here.
public struct StoredConflict: Sendable {
  public let record: ConflictRecord
  /// The bundle in which it was found; nil where it was found at an import from the hub.
  public let bundle: BundleID?
  /// Milliseconds since 1970 when it came into this table.
  public let noted: Int64
  public let decision: Decision?

  public struct Decision: Hashable, Sendable {
    public let made: Resolution.Decision
    public let by: String
    public let at: Int64
  }
}

/// `satchel_conflicts`, the same at the hub and on a device: one row for each disagreement.
public enum ConflictTable {
  public static let schema = """
    CREATE TABLE satchel_conflicts (
      id TEXT PRIMARY KEY,          -- digest of whose change it is, of which row, and of what was written when
      device TEXT NOT NULL,         -- whose change it is
      user TEXT NOT NULL,
      table_name TEXT NOT NULL,
      key TEXT NOT NULL,            -- JSON array
      generation INTEGER NOT NULL,
      stamp INTEGER NOT NULL,       -- when the device made the change
      operation TEXT NOT NULL,      -- insert, update, delete
      kind TEXT NOT NULL,
      state TEXT NOT NULL,          -- open, settled, held, resolved
      base_values TEXT,                  -- JSON objects: the values from which the device started,
      hub_values TEXT,                  -- those that its change met,
      device_values TEXT,                 -- and the device's own; NULL for a row that is not there
      winners TEXT NOT NULL,        -- JSON object: whose value stands, for each column
      winner TEXT NOT NULL,         -- whose row stands, where the row as a whole disagrees
      note TEXT,
      bundle TEXT,                  -- in which it was found
      noted INTEGER NOT NULL,       -- milliseconds since 1970
      since INTEGER,                -- at the hub: its cursor at the emission on which the change was made
      hidden INTEGER NOT NULL DEFAULT 0, -- at the hub, 1: the device's user was not to see the row that the change met
      told INTEGER,                 -- the number of the bundle that told the other side; NULL: not yet
      decision TEXT,
      decided_by TEXT,
      decided_at INTEGER            -- milliseconds since 1970 when the decision came into this table
    ) WITHOUT ROWID;
    CREATE INDEX satchel_conflicts_by_state ON satchel_conflicts (state, device, table_name, key);
    """

  private static let columns = """
    id, device, user, table_name, key, generation, stamp, operation, kind, state, base_values, hub_values, device_values, winners, winner, note, bundle,
    noted, decision, decided_by, decided_at
    """

  /// Adds a conflict. One that is known already stays as it is: what was decided once is not asked again.
  /// - Returns: whether it is new.
  @discardableResult
  public static func add(
    _ record: ConflictRecord, bundle: BundleID?, noted: Int64, since: Cursor? = nil, told: Int64? = nil, isHidden: Bool = false,
    in database: borrowing Database
  ) throws -> Bool {
    try database.run(
      """
      INSERT INTO satchel_conflicts
        (id, device, user, table_name, key, generation, stamp, operation, kind, state, base_values, hub_values, device_values, winners, winner, note, bundle,
         noted, since, told, hidden, decision, decided_by, decided_at)
      VALUES
        (:id, :device, :user, :table, :key, :generation, :stamp, :operation, :kind, :state, :base_values, :hub_values, :device_values, :winners, :winner,
         :note, :bundle, :noted, :since, :told, :hidden, :decision, :decided_by, :decided_at)
      ON CONFLICT (id) DO NOTHING
      """,
      [
        "id": .string(record.id.text), "device": .string(record.device.text), "user": .string(record.user),
        "table": .string(record.table.text), "key": .text(canonicalKey(record.key)),
        "generation": .integer(record.generation.rawValue), "stamp": .integer(record.stamp.rawValue),
        "operation": .string(record.operation.rawValue), "kind": .string(record.kind.rawValue),
        "state": .string(record.state.rawValue), "base_values": json(record.baseValues), "hub_values": json(record.hubValues),
        "device_values": json(record.deviceValues),
        "winners": winners(record), "winner": .string(record.rowWinner.rawValue),
        "note": record.note.map { .string($0) } ?? .null,
        "bundle": bundle.map { .string($0.text) } ?? .null, "noted": .integer(noted),
        "since": since.map { .integer($0.rawValue) } ?? .null,
        "told": told.map { .integer($0) } ?? .null, "hidden": .integer(isHidden ? 1 : 0),
        "decision": record.decision.map { .string($0.made.rawValue) } ?? .null,
        "decided_by": record.decision.map { .string($0.by) } ?? .null,
        "decided_at": record.decision == nil ? .null : .integer(noted),
      ])
    return database.changes > 0
  }

  /// Takes over what the hub made of a conflict. Where it says who decided, that overrules what was decided here; where it does not,
  /// what was decided here is still on its way there, and stands.
  public static func update(
    _ record: ConflictRecord, at time: Int64, isHidden: Bool = false, in database: borrowing Database
  ) throws {
    try database.run(
      """
      UPDATE satchel_conflicts
      SET
        state = :state, kind = :kind, hub_values = :hub_values, winners = :winners, winner = :winner, note = iif(:state = 'resolved', :note, coalesce(:note, note)),
        decided_at = iif(decision = :decision AND decided_by = :decided_by, decided_at, :decided_at),
        decision = :decision, decided_by = :decided_by, hidden = :hidden
      WHERE id = :id AND (state <> 'resolved' OR :state = 'resolved')
      """,
      [
        "id": .string(record.id.text), "state": .string(record.state.rawValue), "kind": .string(record.kind.rawValue),
        "hidden": .integer(isHidden ? 1 : 0),
        "hub_values": json(record.hubValues), "winners": winners(record), "winner": .string(record.rowWinner.rawValue),
        "note": record.note.map { .string($0) } ?? .null,
        "decision": record.decision.map { .string($0.made.rawValue) } ?? .null,
        "decided_by": record.decision.map { .string($0.by) } ?? .null,
        "decided_at": record.decision == nil ? .null : .integer(time),
      ])
  }

  /// Closes a conflict. One that is decided already stays as it is: the first decision stands.
  /// - Returns: whether this decision is the first.
  public static func resolve(
    _ id: ConflictID, _ decision: Resolution.Decision, by user: String, at time: Int64, note: String?,
    in database: borrowing Database
  ) throws -> Bool {
    try database.run(
      """
      UPDATE satchel_conflicts
      SET state = 'resolved', decision = :decision, decided_by = :user, decided_at = :time, note = coalesce(:note, note)
      WHERE id = :id AND state <> 'resolved'
      """,
      [
        "id": .string(id.text), "decision": .string(decision.rawValue), "user": .string(user), "time": .integer(time),
        "note": note.map { .string($0) } ?? .null,
      ])
    return database.changes > 0
  }

  /// Writes down that a change and what it names have other keys. Its id stays: it is the same disagreement.
  public static func rename(_ record: ConflictRecord, in database: borrowing Database) throws {
    try database.run(
      """
      UPDATE satchel_conflicts SET key = :key, base_values = :base_values, device_values = :device_values WHERE id = :id
      """,
      [
        "id": .string(record.id.text), "key": .text(canonicalKey(record.key)), "base_values": json(record.baseValues),
        "device_values": json(record.deviceValues),
      ])
  }

  /// Whether a row of this key waits to be made by somebody else's device.
  public static func isAwaited(
    _ key: RowKey, of table: Name, byOtherThan device: ReplicaID, in database: borrowing Database
  ) throws -> Bool {
    try database.first(
      """
      SELECT 1 FROM satchel_conflicts
      WHERE state = 'held' AND operation = 'insert' AND device <> :device AND table_name = :table AND key = :key
      """, ["device": .string(device.text), "table": .string(table.text), "key": .text(canonicalKey(key))]
    ) { _ in true } ?? false
  }

  public static func setState(_ state: ConflictState, of id: ConflictID, in database: borrowing Database) throws {
    try database.run(
      "UPDATE satchel_conflicts SET state = :state, told = NULL WHERE id = :id",
      ["id": .string(id.text), "state": .string(state.rawValue)])
  }

  /// What waited for something in this table waits no more: somebody has to see to it.
  public static func openHeld(of table: Name, in database: borrowing Database) throws {
    try database.run(
      "UPDATE satchel_conflicts SET state = 'open', told = NULL WHERE state = 'held' AND table_name = :table",
      ["table": .string(table.text)])
  }

  // MARK: reading

  /// The conflicts in these states, oldest first.
  public static func list(_ states: [ConflictState], in database: borrowing Database) throws -> [StoredConflict] {
    try ConflictState.allCases.filter { states.contains($0) }.flatMap { state in
      try database.all(
        "SELECT \(columns) FROM satchel_conflicts WHERE state = :state ORDER BY noted, id", ["state": .string(state.rawValue)]
      ) { try stored($0) }
    }
  }

  /// The conflicts of one device that the other side does not surely know: not told yet, or told by a bundle after `number`,
  /// which may have been lost. Of a row that the device's user was not to see when its change met it, they tell nothing: what is there by now
  /// may be for the user to see, what was there then is not.
  /// - Parameter user: whose changes; nil: those of all who ever worked with the device.
  public static func untold(
    of device: ReplicaID, by user: String? = nil, after number: Int64, in database: borrowing Database
  ) throws -> [ConflictRecord] {
    try database.all(
      """
      SELECT \(columns), hidden
      FROM satchel_conflicts
      WHERE device = :device AND user = coalesce(:user, user) AND (told IS NULL OR told > :number)
      ORDER BY id
      """,
      ["device": .string(device.text), "user": user.map { .string($0) } ?? .null, "number": .integer(number)]
    ) {
      var record = try stored($0).record
      if $0.integer(21) != 0 { (record.hubValues, record.winners) = (nil, []) }
      return record
    }
  }

  /// How many conflicts of one device no bundle has told yet.
  public static func countUntold(
    of device: ReplicaID, by user: String? = nil, in database: borrowing Database
  ) throws -> Int64 {
    try database.first(
      "SELECT count(*) FROM satchel_conflicts WHERE device = :device AND user = coalesce(:user, user) AND told IS NULL",
      ["device": .string(device.text), "user": user.map { .string($0) } ?? .null]
    ) { $0.integer(0) } ?? 0
  }

  /// Forgets what others than `user` have left on a device, as far as the hub is known to have it.
  /// - Parameter number: the last export that the hub has acknowledged.
  public static func forget(ofOthersThan user: String, toldUpTo number: Int64, in database: borrowing Database) throws {
    try database.run(
      "DELETE FROM satchel_conflicts WHERE user <> :user AND told <= :number",
      ["user": .string(user), "number": .integer(number)])
  }

  public static func markTold(_ ids: [ConflictID], by number: Int64, in database: borrowing Database) throws {
    for id in ids {
      try database.run(
        "UPDATE satchel_conflicts SET told = :number WHERE id = :id", ["number": .integer(number), "id": .string(id.text)])
    }
  }

  /// Makes the other side be told of this conflict's new state.
  public static func retell(_ id: ConflictID, in database: borrowing Database) throws {
    try database.run("UPDATE satchel_conflicts SET told = NULL WHERE id = :id", ["id": .string(id.text)])
  }

  /// The conflict whose id begins with `prefix`. Throws a `WorkspaceError` where there is none, or more than one.
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
        "no-conflict", "There is no conflict \"\(prefix)\".", hint: "`conflicts list` shows them, with their ids.")
    }
    guard found.count == 1 else {
      throw WorkspaceError("ambiguous", "More than one conflict's id begins with \"\(prefix)\".", hint: "Write more of the id.")
    }
    return first
  }

  /// Whether a change of this row by this device waits.
  public static func isHeld(_ key: RowKey, of table: Name, device: ReplicaID, in database: borrowing Database) throws -> Bool {
    try countHeld(key, of: table, device: device, in: database) > 0
  }

  /// How many changes of this row by this device wait.
  public static func countHeld(
    _ key: RowKey, of table: Name, device: ReplicaID, in database: borrowing Database
  ) throws -> Int64 {
    try database.first(
      "SELECT count(*) FROM satchel_conflicts WHERE state = 'held' AND device = :device AND table_name = :table AND key = :key",
      ["device": .string(device.text), "table": .string(table.text), "key": .text(canonicalKey(key))]
    ) { $0.integer(0) } ?? 0
  }

  /// Whether any change of this device waits.
  public static func holdsAny(of device: ReplicaID, in database: borrowing Database) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_conflicts WHERE state = 'held' AND device = :device", ["device": .string(device.text)]
    ) { _ in true } ?? false
  }

  /// The hub's cursor at the emission on which a conflict's change was made.
  public static func since(_ id: ConflictID, in database: borrowing Database) throws -> Cursor {
    Cursor(
      try database.first("SELECT since FROM satchel_conflicts WHERE id = :id", ["id": .string(id.text)]) { $0.integer(0) } ?? 0)
  }

  public static func count(_ state: ConflictState, in database: borrowing Database) throws -> Int64 {
    try database.first("SELECT count(*) FROM satchel_conflicts WHERE state = :state", ["state": .string(state.rawValue)]) {
      $0.integer(0)
    } ?? 0
  }

  private static func winners(_ record: ConflictRecord) -> Value {
    .text(FieldsCoding.json(record.winners.map { Field($0.name, .string($0.winner.rawValue)) }))
  }

  private static func json(_ fields: [Field]?) -> Value { fields.map { .text(FieldsCoding.json($0)) } ?? .null }

  private static func stored(_ row: borrowing Statement) throws -> StoredConflict {
    func fields(_ column: Int) throws -> [Field]? {
      guard case .text(let bytes) = row.value(column) else { return nil }
      return try FieldsCoding.parse(bytes)
    }
    func word<T>(_ column: Int, _ make: (String) -> T?) throws -> T {
      guard let value = make(row.text(column)) else {
        throw WorkspaceError("bad-conflict", "The row \(row.text(0)) of satchel_conflicts holds an unknown word.")
      }
      return value
    }
    let winners = try (fields(13) ?? []).compactMap { field -> ColumnWinner? in
      guard case .text(let word) = field.value, let winner = Winner(rawValue: String(decoding: word, as: UTF8.self)) else {
        return nil
      }
      return ColumnWinner(field.name, winner)
    }
    let decision = row.optionalText(18).flatMap { Resolution.Decision(rawValue: $0) }.map {
      StoredConflict.Decision(made: $0, by: row.text(19), at: row.integer(20))
    }
    let record = ConflictRecord(
      id: try word(0) { ConflictID($0) }, device: try word(1) { ReplicaID($0) }, user: row.text(2), table: Name(row.text(3)),
      key: try RowKey(canonical: Array(row.text(4).utf8)), generation: Generation(row.integer(5)), stamp: Stamp(row.integer(6)),
      operation: try word(7) { Operation(rawValue: $0) }, kind: try word(8) { ConflictKind(rawValue: $0) },
      state: try word(9) { ConflictState(rawValue: $0) }, baseValues: try fields(10), hubValues: try fields(11),
      deviceValues: try fields(12),
      winners: winners, rowWinner: try word(14) { Winner(rawValue: $0) }, note: row.optionalText(15),
      decision: decision.map { .init(made: $0.made, by: $0.by) })
    return StoredConflict(
      record: record, bundle: row.optionalText(16).flatMap { BundleID($0) }, noted: row.integer(17), decision: decision)
  }
}
