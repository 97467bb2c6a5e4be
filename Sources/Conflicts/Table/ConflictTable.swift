import SatchelBundle
import SatchelJSON
import SatchelSQLite
import SatchelValues

/// A row of the conflict table: the record of the conflict, and what this replica knows about it.
public struct StoredConflict: Sendable {
  public let record: ConflictRecord
  /// At the hub: the bundle in which the hub found the conflict. On a device: the hub's bundle that reported the
  /// conflict. nil if no such bundle is known, as for a conflict that a device found itself.
  public let bundle: BundleID?
  /// The time at which this replica recorded the conflict, in milliseconds since 1970.
  public let noted: Int64
  public let decision: Decision?
  /// At the hub: whether the conflict is a device's report, and the hub has not found it itself.
  public var isReported = false
  /// The label of the row. nil if the table has no label, or if the label is NULL or not known.
  public var label: Value?
  /// The counters and sets whose value before the change is unknown: the row is from before its device joined.
  public internal(set) var columnsWithoutStart: [Name] = []

  /// The same conflict with another record.
  public func with(_ record: ConflictRecord) -> StoredConflict {
    StoredConflict(
      record: record, bundle: bundle, noted: noted, decision: decision, label: label,
      columnsWithoutStart: columnsWithoutStart)
  }

  public struct Decision: Hashable, Sendable {
    public let made: Resolution.Decision
    public let by: String
    public let at: Int64
  }
}

/// Which row was hidden from the device's user when the hub merged the user's change.
public enum HiddenPart: Int64, Sendable {
  case nothing = 0
  /// The changed row, or the row that has the UNIQUE value that the change needs.
  case row = 1
  /// A row to which the changed row refers.
  case parent = 2
}

/// The table `satchel_conflicts`. It has one row for each conflict. Hub and devices have the same table.
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
      winner TEXT NOT NULL,         -- the side that wins, if the sides disagree about the whole row
      note TEXT,
      bundle TEXT,                  -- in which it was found
      noted INTEGER NOT NULL,       -- milliseconds since 1970
      since INTEGER,                -- at the hub: its cursor at the emission on which the change was made
      hidden INTEGER NOT NULL DEFAULT 0, -- at the hub, what the user could not see: 1: this row; 2: its parent
      told INTEGER,                 -- the number of the bundle that reported it to the other side; NULL: none yet
      decision TEXT,
      decided_by TEXT,
      decided_at INTEGER,           -- milliseconds since 1970 when the decision came into this table
      unit TEXT                     -- the conflict that represents the unit; NULL: the change belongs to none
    ) WITHOUT ROWID;
    CREATE INDEX satchel_conflicts_by_state ON satchel_conflicts (state, device, table_name, key);
    \(unitIndex);
    \(furtherIndexes);
    \(keptOutIndex);
    """

  private static let unitIndex = """
    CREATE INDEX satchel_conflicts_by_unit ON satchel_conflicts (unit, device) WHERE unit IS NOT NULL
    """

  /// The indexes that find the held changes of a row by its key, and the conflicts that are not reported yet.
  private static let furtherIndexes = """
    CREATE INDEX satchel_conflicts_held ON satchel_conflicts (table_name, key) WHERE state = 'held';
    CREATE INDEX satchel_conflicts_untold ON satchel_conflicts (device, told)
    """

  /// The index that finds new rows that are kept out. A device may make the same row very many times.
  private static let keptOutIndex = """
    CREATE INDEX IF NOT EXISTS satchel_conflicts_kept_out ON satchel_conflicts (device, table_name, key, generation)
    WHERE state = 'open' AND kind = 'unique' AND operation = 'insert' AND unit IS NULL
    """

  /// Adds the indexes that an earlier release did not create. The caller has begun the transaction.
  public static func addIndexes(in database: borrowing Database) throws { try database.execute(furtherIndexes) }

  /// Adds the index of new rows that are kept out. The caller has begun the transaction.
  public static func addKeptOutIndex(in database: borrowing Database) throws { try database.execute(keptOutIndex) }

  /// Adds the column `unit`, which an earlier release did not have, and its index. The caller has begun the
  /// transaction.
  public static func addUnits(in database: borrowing Database) throws {
    try database.execute("ALTER TABLE satchel_conflicts ADD COLUMN unit TEXT")
    try database.execute(unitIndex)
  }

  static let columns = """
    id, device, user, table_name, key, generation, stamp, operation, kind, state, base_values, hub_values,
    device_values, winners, winner, note, bundle,
    noted, decision, decided_by, decided_at, unit
    """

  /// Adds a conflict, unless the table already has a conflict with its id. So a resolved conflict is not opened
  /// again.
  /// - Returns: whether the conflict was added.
  @discardableResult
  public static func add(
    _ record: ConflictRecord, bundle: BundleID?, noted: Int64, since: Cursor? = nil, told: Int64? = nil,
    hidden: HiddenPart = .nothing,
    in database: borrowing Database
  ) throws -> Bool {
    try database.run(
      """
      INSERT INTO satchel_conflicts
        (id, device, user, table_name, key, generation, stamp, operation, kind, state, base_values, hub_values,
         device_values, winners, winner, note, bundle, noted, since, told, hidden, decision, decided_by, decided_at,
         unit)
      VALUES
        (:id, :device, :user, :table, :key, :generation, :stamp, :operation, :kind, :state, :base_values, :hub_values,
         :device_values, :winners, :winner, :note, :bundle, :noted, :since, :told, :hidden, :decision, :decided_by,
         :decided_at, :unit)
      ON CONFLICT (id) DO NOTHING
      """,
      [
        "id": .string(record.id.text), "device": .string(record.device.text), "user": .string(record.user),
        "table": .string(record.table.text), "key": .text(canonicalKey(record.key)),
        "generation": .integer(record.generation.rawValue), "stamp": .integer(record.stamp.rawValue),
        "operation": .string(record.operation.rawValue), "kind": .string(record.kind.rawValue),
        "state": .string(record.state.rawValue), "base_values": json(record.baseValues),
        "hub_values": json(record.hubValues),
        "device_values": json(record.deviceValues),
        "winners": winners(record), "winner": .string(record.rowWinner.rawValue),
        "note": record.note.map { .string($0) } ?? .null,
        "bundle": bundle.map { .string($0.text) } ?? .null, "noted": .integer(noted),
        "since": since.map { .integer($0.rawValue) } ?? .null,
        "told": told.map { .integer($0) } ?? .null, "hidden": .integer(hidden.rawValue),
        "decision": record.decision.map { .string($0.made.rawValue) } ?? .null,
        "decided_by": record.decision.map { .string($0.by) } ?? .null,
        "decided_at": record.decision == nil ? .null : .integer(noted),
        "unit": record.unit.map { .string($0.text) } ?? .null,
      ])
    return database.changes > 0
  }

  /// Stores the hub's record of a conflict on a device. If the hub's record is resolved, it replaces a decision made
  /// on this device. Otherwise this device's decision stays, because it is still on its way to the hub.
  public static func update(
    _ record: ConflictRecord, at time: Int64, hidden: HiddenPart = .nothing, in database: borrowing Database
  ) throws {
    try database.run(
      """
      UPDATE satchel_conflicts
      SET
        state = :state, kind = :kind, hub_values = :hub_values, winners = :winners, winner = :winner,
        note = iif(:state = 'resolved', :note, coalesce(:note, note)),
        decided_at = iif(decision = :decision AND decided_by = :decided_by, decided_at, :decided_at),
        decision = :decision, decided_by = :decided_by, hidden = :hidden,
        unit = :unit
      WHERE id = :id AND (state <> 'resolved' OR :state = 'resolved')
      """,
      [
        "id": .string(record.id.text), "state": .string(record.state.rawValue), "kind": .string(record.kind.rawValue),
        "hidden": .integer(hidden.rawValue),
        "hub_values": json(record.hubValues), "winners": winners(record), "winner": .string(record.rowWinner.rawValue),
        "note": record.note.map { .string($0) } ?? .null,
        "decision": record.decision.map { .string($0.made.rawValue) } ?? .null,
        "decided_by": record.decision.map { .string($0.by) } ?? .null,
        "decided_at": record.decision == nil ? .null : .integer(time),
        "unit": record.unit.map { .string($0.text) } ?? .null,
      ])
  }

  /// Resolves a conflict. A conflict that is already resolved stays as it is, because only the first decision counts.
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

  /// Records the new keys of a conflict's row and of the rows to which it refers. The conflict keeps its id.
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

  /// Whether an insert of this key by another device is held.
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

  /// Whether this person accepted a device's new row that had waited or had been kept out. A decision of the user who
  /// inserted the row does not count, because a device could then accept its own rows.
  public static func wasLetIn(
    _ key: RowKey, of table: Name, device: ReplicaID, by person: String, in database: borrowing Database
  ) throws -> Bool {
    try database.first(
      """
      SELECT 1 FROM satchel_conflicts
      WHERE state = 'resolved' AND decision = 'device' AND operation = 'insert' AND device = :device
        AND table_name = :table AND key = :key AND decided_by = :person AND user <> :person
      """,
      [
        "device": .string(device.text), "table": .string(table.text), "key": .text(canonicalKey(key)),
        "person": .string(person),
      ]
    ) { _ in true } ?? false
  }

  public static func setState(_ state: ConflictState, of id: ConflictID, in database: borrowing Database) throws {
    try database.run(
      "UPDATE satchel_conflicts SET state = :state, told = NULL WHERE id = :id",
      ["id": .string(id.text), "state": .string(state.rawValue)])
  }

  /// Settles the conflict of a change that waited and then entered as its device sent it.
  ///
  /// The kind changes in two cases, because a settled conflict won by the device has a meaning there. With the kind
  /// `unique` its row took the place of another row; with `revoked` its change was accepted late. Neither is true of
  /// a change that waited.
  public static func close(entered id: ConflictID, in database: borrowing Database) throws {
    try database.run(
      """
      UPDATE satchel_conflicts
      SET state = 'settled', winner = 'device', winners = '{}', told = NULL,
        kind = CASE
          WHEN kind = 'unique' THEN 'unit'
          WHEN kind IN ('revoked', 'forbidden') THEN 'foreign key'
          ELSE kind
        END
      WHERE id = :id
      """, ["id": .string(id.text)])
  }

  private static func winners(_ record: ConflictRecord) -> Value {
    .text(FieldsCoding.json(record.winners.map { Field($0.name, .string($0.winner.rawValue)) }))
  }

  private static func json(_ fields: [Field]?) -> Value { fields.map { .text(FieldsCoding.json($0)) } ?? .null }
}
