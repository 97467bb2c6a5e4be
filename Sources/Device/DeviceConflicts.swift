import SatchelCapture
import SatchelDataset
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

extension DeviceWorkspace {
  /// The conflicts about this device's changes that are in one of these states, oldest first.
  public func conflicts(_ states: [ConflictState]) throws -> [StoredConflict] {
    try ConflictTable.list(states, in: session().database)
  }

  /// The layers of the database, if it is a GeoPackage.
  public func layers() throws -> [Layer] { try session().database.layers() }

  /// Writes the geometries of all conflicts into a GeoPackage at `path`, where there must be no file yet.
  public func exportConflicts(to path: String) throws -> ConflictPackageReport {
    try locked {
      let session = try session()
      let conflicts = try ConflictTable.list(ConflictState.allCases, in: session.database)
      let names = [session.state.id: configuration.name]
      return try ConflictPackage(conflicts, layers: session.database.layers(), devices: names).write(
        to: path, systemsOf: session.database, aside: folder.inbox, platform: platform)
    }
  }

  /// The conflict whose id begins with `prefix`, with the row as it is here now.
  public func conflict(_ prefix: String) throws -> (conflict: StoredConflict, row: [Field]?, below: [ConflictRecord]) {
    let session = try session()
    let found = try ConflictTable.find(prefix, in: session.database)
    let below = try found.record.waitingBelow(session.tables, in: session.database)
    return (found, try session.fields(of: found.record), below)
  }

  /// Decides a conflict on this device: an ordinary change of the row, which travels with the next export. If somebody
  /// at the hub decided first, that stands.
  /// - Parameter seen: what is known of the row; where it was changed since, nothing is decided.
  public func resolve(
    _ prefix: String, _ decision: ConflictDecision, note: String?, seen: RowSeen = .anyway
  ) throws -> StoredConflict {
    try locked {
      let session = try session()
      return try session.deciding {
        let found = try ConflictTable.find(prefix, in: session.database)
        try session.resolve(found, decision, note: note, seen: seen)
        return try ConflictTable.find(found.record.id.text, in: session.database)
      }
    }
  }
}

extension DeviceWorkspace {
  /// Decides all open conflicts, or those of one table, for one side. A row that was changed since, or that the
  /// decision does not fit, is left.
  public func resolveAll(_ policy: Policy, table: Name?, note: String?) throws -> ResolvedAll {
    guard policy == .hub || policy == .device else {
      throw WorkspaceError(
        "policy",
        "On a device all conflicts are decided for the hub or for the device: what was written at the hub when, it does not know."
      )
    }
    return try locked {
      let session = try session()
      return try session.deciding {
        var result = ResolvedAll()
        for conflict in try ConflictTable.list([.open], in: session.database)
        where table == nil || conflict.record.table == table {
          do {
            try session.database.savepoint {
              try session.resolve(conflict, policy == .hub ? .hub : .device, note: note, seen: .asFound)
            }
            result.resolved.append(conflict.record)
          } catch let error as WorkspaceError { result.left.append((conflict.record, error)) }
        }
        return result
      }
    }
  }
}

extension DeviceSession {
  /// Runs `body` in a transaction in which the bounds of layers follow the rows.
  fileprivate func deciding<T>(_ body: () throws -> T) throws -> T {
    try database.widening(tables.map(\.name)) { try database.writeTransaction(workspace.ending, body) }
  }

  /// The row that a conflict is about, as it is here now; nil where it is not here.
  fileprivate func fields(of record: ConflictRecord) throws -> [Field]? {
    guard let table = table(record.table) else { return nil }
    return try RowTable(table, in: database).row(record.foundKey(in: table.schema)).map { table.schema.fields($0) }
  }

  fileprivate func resolve(
    _ conflict: StoredConflict, _ decision: ConflictDecision, note: String?, seen: RowSeen
  ) throws {
    guard conflict.record.state != .resolved else { throw ConflictDecision.decidedAlready(conflict) }
    if try isWaiting(conflict.record) {
      throw WorkspaceError(
        "row-waits", "The row is in its table here, and waits for the hub's operator.",
        hint: "You can change it or delete it in the app: the next export tells the hub.")
    }
    if let table = table(conflict.record.table) {
      let record = try conflict.record.present(in: table.schema, database)
      let rows = try RowTable(table, in: database)
      try record.check(seen, current: try rows.row(record.foundKey(in: table.schema)).map { table.schema.fields($0) })
      let values = try EnteredValueReader(table.name, in: database, files: platform.files)
      let decided = try decision.rows(
        for: record, in: table.schema, by: rows.rules, whole: nil, values: values, row: rows.row)
      // Ordinary writes: the triggers see them, and they travel as any other.
      try rows.write(decided, References(of: table, among: tables), in: database)
    } else {
      try decision.check(forDeparted: conflict.record)
    }
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
        "conflict": .string(conflict.record.id.text), "decision": .string(word.rawValue), "user": .string(state.user),
        "stamp": .integer(stamp.rawValue), "generation": .integer(try Capture.generation(in: database).rawValue),
        "note": note.map { .string($0) } ?? .null,
      ])
    _ = try ConflictTable.resolve(conflict.record.id, word, by: state.user, at: now, note: note, in: database)
  }
}
