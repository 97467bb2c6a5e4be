import SatchelCapture
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

extension DeviceWorkspace {
  /// The conflicts about this device's changes that are in one of these states, oldest first.
  public func conflicts(_ states: [ConflictState]) throws -> [StoredConflict] {
    try ConflictTable.list(states, in: session().database)
  }

  /// The conflict whose id begins with `prefix`, with the row as it is here now.
  public func conflict(_ prefix: String) throws -> (conflict: StoredConflict, row: [Field]?) {
    let session = try session()
    let found = try ConflictTable.find(prefix, in: session.database)
    return (found, try session.fields(of: found.record))
  }

  /// Decides a conflict on this device: an ordinary change of the row, which travels with the next export. If somebody at the hub
  /// decided first, that stands.
  public func resolve(_ prefix: String, _ decision: ConflictDecision, note: String?) throws -> StoredConflict {
    try locked {
      let session = try session()
      return try session.database.writeTransaction(ending) {
        let found = try ConflictTable.find(prefix, in: session.database)
        try session.resolve(found, decision, note: note)
        return try ConflictTable.find(found.record.id.text, in: session.database)
      }
    }
  }
}

extension DeviceSession {
  /// The row that a conflict is about, as it is here now; nil where it is not here.
  fileprivate func fields(of record: ConflictRecord) throws -> [Field]? {
    guard let table = table(record.table) else { return nil }
    return try RowTable(table, in: database).row(record.key).map { table.schema.fields($0) }
  }

  fileprivate func resolve(_ conflict: StoredConflict, _ decision: ConflictDecision, note: String?) throws {
    let record = conflict.record
    guard record.state != .resolved else { throw ConflictDecision.decidedAlready(conflict) }
    guard let table = table(record.table) else {
      throw WorkspaceError("no-table", "The dataset has no table \(record.table) any more.")
    }
    let rows = try RowTable(table, in: database)
    let current = try rows.row(record.key)
    let target = try decision.row(for: record, current: current, whole: nil, schema: table.schema)
    // An ordinary write: the triggers see it, and it travels as any other.
    try rows.write(target, over: current, key: record.key)
    try Capture.settle(tables, in: database)
    let now = platform.clock.milliseconds()
    let stamp = try Capture.tick(now: now, in: database)
    let word = decision.word
    try database.run(
      """
      INSERT OR REPLACE INTO satchel_resolutions (conflict, decision, user, stamp, generation, note)
      VALUES (:conflict, :decision, :user, :stamp, :generation, :note)
      """,
      [
        "conflict": .string(record.id.text), "decision": .string(word.rawValue), "user": .string(state.user),
        "stamp": .integer(stamp.rawValue), "generation": .integer(try Capture.generation(in: database).rawValue),
        "note": note.map { .string($0) } ?? .null,
      ])
    _ = try ConflictTable.resolve(record.id, word, by: state.user, at: now, note: note, in: database)
  }
}
